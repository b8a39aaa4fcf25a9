import type { ConnectionConfig } from '../../config/config.ts';
import { isUuid } from '../../core/lead/uuid.ts';
import { serviceScope } from '../../store/throttles.ts';

/** What an id means the same lead in: a UUID is the same lead for every key of a service, any other id may be of two accounts. */
export function whoseLead({ baseUrl, apiKey }: ConnectionConfig['leads'], leadId: string): string {
  return isUuid(leadId) ? baseUrl : serviceScope(baseUrl, apiKey.reveal());
}

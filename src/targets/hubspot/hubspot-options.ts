import type { Secret } from '../../config/secret.ts';
import type { OnReply } from '../../http/exchange.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ColumnMapping } from '../shared/columns.ts';

export const hubSpotUrl = 'https://api.hubapi.com';

/** A mapping's `column` is a property's internal name. */
export interface HubSpotOptions extends ColumnMapping {
  /** `hubSpotUrl`, or a stand-in's address. */
  readonly apiUrl: string;
  /** Of a service key or a private app. */
  readonly accessToken: Secret;
  /** IANA zone of `date` properties. */
  readonly timeZone: string;
  readonly clock: Clock;
  /** Also shows companies without a request, for matching. */
  readonly showsOthers?: boolean;
  /** Called for each request. */
  readonly onReply?: OnReply;
}

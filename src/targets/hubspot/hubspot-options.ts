import type { Secret } from '../../config/secret.ts';
import type { OnReply } from '../../http/exchange.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ColumnMapping } from '../shared/columns.ts';

/** A `column` of the mapping is a property's internal name. */
export interface HubSpotOptions extends ColumnMapping {
  /** `https://api.hubapi.com`, or a stand-in's address. */
  readonly apiUrl: string;
  /** Of a service key or a private app. */
  readonly accessToken: Secret;
  /** IANA name of the zone in which `date` properties are meant. */
  readonly timeZone: string;
  readonly clock: Clock;
  /** Companies that nobody asked a lead for are shown as well, to be matched. */
  readonly showsOthers?: boolean;
  /** Told of each request. */
  readonly onReply?: OnReply;
}

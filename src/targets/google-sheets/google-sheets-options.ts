import type { OnReply } from '../../http/exchange.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ColumnMapping } from '../shared/columns.ts';
import type { GoogleAccount } from './google-account.ts';
import type { WriteJournal } from './write-journal.ts';

/** One tab of one Google spreadsheet as a target. */
export interface GoogleSheetsOptions extends ColumnMapping {
  readonly spreadsheetId: string;
  /** Title of the tab. */
  readonly tab: string;
  /** Moments as day numbers in the spreadsheet's time zone, or as ISO texts. */
  readonly dates: 'native' | 'iso';
  /** Maximum requests per 60 seconds of this process for one account. */
  readonly readsPerMinute: number;
  readonly writesPerMinute: number;
  /** `https://sheets.googleapis.com/`, or a stand-in's address. */
  readonly apiUrl: string;
  readonly account: GoogleAccount;
  readonly clock: Clock;
  /** Journal of the connection's unverified writes. */
  readonly journal: WriteJournal;
  /** Called for each request except token requests. */
  readonly onReply?: OnReply;
  /** The connection's name, kept in the tab's record. */
  readonly connection: string;
}

import type { OnReply } from '../../http/exchange.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ColumnMapping } from '../shared/columns.ts';
import type { GoogleAccount } from './google-account.ts';
import type { WriteJournal } from './write-journal.ts';

export interface GoogleSheetsOptions extends ColumnMapping {
  readonly spreadsheetId: string;
  readonly tab: string;
  /** Moments as day numbers in the spreadsheet's time zone, or as ISO texts. */
  readonly dates: 'native' | 'iso';
  /** Maximum requests per 60 seconds of this process for one account. */
  readonly readsPerMinute: number;
  readonly writesPerMinute: number;
  readonly apiUrl: string;
  readonly account: GoogleAccount;
  readonly clock: Clock;
  readonly journal: WriteJournal;
  readonly onReply?: OnReply;
  /** The connection's name, kept in the tab's record. */
  readonly connection: string;
}

import type { ColumnMapping } from '../shared/columns.ts';
import type { SheetsApiOptions } from './sheets-api.ts';
import type { WriteJournal } from './write-journal.ts';

export const sheetsUrl = 'https://sheets.googleapis.com';

export interface GoogleSheetsOptions extends ColumnMapping, SheetsApiOptions {
  readonly tab: string;
  /** Moments as day numbers in the spreadsheet's time zone, or as ISO texts. */
  readonly dates: 'native' | 'iso';
  readonly journal: WriteJournal;
  /** The connection's name, kept in the tab's record. */
  readonly connection: string;
}

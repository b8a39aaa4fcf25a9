import { systemClock } from '../../ports/clock.ts';
import { headingRows } from '../shared/columns.ts';
import { quotedTab } from './grid.ts';
import { openGoogleAccount } from './google-account.ts';
import { SheetsApi, type SheetsApiOptions } from './sheets-api.ts';

/** The tabs of a spreadsheet, and the texts of the first rows of one of them; without that tab none. */
export async function readTabFirstRows(
  where: Pick<SheetsApiOptions, 'spreadsheetId' | 'apiUrl'>,
  credentials: string | undefined,
  tab: string,
  signal: AbortSignal,
): Promise<{ readonly tabs: readonly string[]; readonly rows: readonly (readonly string[])[] }> {
  const api = new SheetsApi({ ...where, account: openGoogleAccount(credentials), clock: systemClock });
  const { sheets = [] } = await api.describe([], 'sheets(properties(title))', signal);
  const tabs = sheets.flatMap(({ properties }) => properties?.title ?? []);
  if (!tabs.some((title) => title.toLowerCase() === tab.toLowerCase())) return { tabs, rows: [] };
  const [rows = []] = await api.read([`${quotedTab(tab)}!1:${headingRows + 1}`], 'UNFORMATTED_VALUE', signal);
  return { tabs, rows: rows.map((row) => row.map((cell) => String(cell ?? ''))) };
}

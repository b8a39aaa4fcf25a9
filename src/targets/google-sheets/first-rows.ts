import { systemClock } from '../../ports/clock.ts';
import { headingRows } from '../shared/columns.ts';
import { quotedTab } from './grid.ts';
import { openGoogleAccount } from './google-account.ts';
import { SheetsApi } from './sheets-api.ts';

/**
 * The tabs of a spreadsheet, and the texts of the first rows of one of them; without that tab none.
 * @param where `credentials`: path of the key file of an account; `apiUrl`: with a slash at the end
 * @throws LeadsyncError the faults of SheetsApi
 */
export async function readTabFirstRows(
  where: {
    readonly credentials: string | undefined;
    readonly spreadsheetId: string;
    readonly apiUrl: string;
  },
  tab: string,
  signal: AbortSignal,
): Promise<{ readonly tabs: readonly string[]; readonly rows: readonly (readonly string[])[] }> {
  const account = openGoogleAccount(where.credentials);
  const api = new SheetsApi({ ...where, account, clock: systemClock });
  const { sheets = [] } = await api.describe([], 'sheets(properties(title))', signal);
  const tabs = sheets.flatMap(({ properties }) => properties?.title ?? []);
  if (!tabs.some((title) => title.toLowerCase() === tab.toLowerCase())) return { tabs, rows: [] };
  const [rows = []] = await api.read([`${quotedTab(tab)}!1:${headingRows + 1}`], 'UNFORMATTED_VALUE', signal);
  return { tabs, rows: rows.map((row) => row.map((cell) => String(cell ?? ''))) };
}

import type { Secret } from '../config/secret.ts';
import { systemClock } from '../ports/clock.ts';
import type { FoundTable } from './found-table.ts';
import { noTable, tableOf } from './found-table.ts';

/** Each function sends real requests and writes nothing; faults are those of the target: see `Target`. */

/** A Google spreadsheet as its account sees it. */
export interface FoundSpreadsheet {
  readonly tabs: readonly string[];
  lookAt(tab: string, signal: AbortSignal): Promise<FoundTable>;
}

/** The address of the account in a key file, with which the spreadsheet has to be shared; null: it has none. */
export async function googleAddress(credentials: string): Promise<string | null> {
  const { openGoogleAccount } = await import('../targets/google-sheets/google-account.ts');
  return openGoogleAccount(credentials).address();
}

/**
 * @param credentials path of the key file of an account
 * @param apiUrl without a slash at the end
 */
export async function lookAtSpreadsheet(
  { credentials, spreadsheet, apiUrl }: { credentials: string; spreadsheet: string; apiUrl: string },
  signal: AbortSignal,
): Promise<FoundSpreadsheet> {
  const { openGoogleAccount } = await import('../targets/google-sheets/google-account.ts');
  const { SheetsApi } = await import('../targets/google-sheets/sheets-api.ts');
  const { quotedTab } = await import('../targets/google-sheets/a1.ts');
  const { sheetsFields } = await import('../targets/google-sheets/tab-description.ts');
  const api = new SheetsApi({
    spreadsheetId: spreadsheet,
    apiUrl: `${apiUrl}/`,
    account: openGoogleAccount(credentials),
    clock: systemClock,
    readsPerMinute: 60,
    writesPerMinute: 60,
  });
  const { sheets = [] } = await api.describe([], sheetsFields, signal);
  return {
    tabs: sheets.flatMap(({ properties }) => properties?.title ?? []),
    async lookAt(tab, signal) {
      const [rows = []] = await api.read([`${quotedTab(tab)}!1:2`], 'UNFORMATTED_VALUE', signal);
      const [first = [], second = []] = rows.map((row) => row.map((cell) => String(cell ?? '')));
      return { ...tableOf([first]), hasRows: tableOf([second]).headings !== null };
    },
  };
}

/** Internal names of the properties of companies. */
export async function companyProperties(
  token: Secret,
  apiUrl: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { HubSpotApi } = await import('../targets/hubspot/hubspot-api.ts');
  const options = {
    apiUrl,
    accessToken: token,
    clock: systemClock,
    timeZone: 'UTC',
    idColumn: '',
    fields: [],
  };
  await using api = new HubSpotApi(options);
  return (await api.properties(signal)).map(({ name }) => name);
}

/** The tables of a database that its user may read. */
export interface FoundDatabase {
  readonly tables: readonly string[];
  lookAt(table: string): Promise<FoundTable>;
}

export async function lookAtDatabase(url: Secret): Promise<FoundDatabase> {
  const { hasTableRows, listTables } = await import('../targets/postgres/list-tables.ts');
  const found = await listTables(url);
  return {
    tables: found.map(({ name }) => name),
    async lookAt(table) {
      const columns = found.find(({ name }) => name === table.replace(/^public\./, ''))?.columns;
      return columns === undefined ? noTable : { headings: columns, hasRows: await hasTableRows(url, table) };
    },
  };
}

import type { Place } from '../../ports/target.ts';
import type { GoogleSheetsOptions } from './google-sheets-options.ts';
import type { SheetsTab } from './sheets-api.ts';
import { isTab, readTabRecords, sheetsFields, tabsFields } from './tab-description.ts';
import { renamedFault } from './tab-faults.ts';

/** The tab's place; a missing tab has no number. Throws as `Target.open` does. */
export async function tabPlace(
  { api, tab, name }: SheetsTab,
  spreadsheetId: string,
  signal: AbortSignal,
): Promise<Place> {
  const { sheets = [] } = await api.describe([], sheetsFields, signal);
  const sheetId = sheets.find((sheet) => isTab(sheet, tab))?.properties?.sheetId ?? null;
  const start = `google-sheets:${spreadsheetId}/`;
  const idWhileMissing = `${start}tab ${tab}`;
  const isThere = sheetId !== null;
  return { id: isThere ? `${start}${sheetId}` : idWhileMissing, idWhileMissing, address: name, isThere };
}

/** Whether a tab is gone. In a spreadsheet that this account cannot see it counts as there. */
export async function isTabLeft(
  { api }: SheetsTab,
  spreadsheetId: string,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  const start = `google-sheets:${spreadsheetId}/`;
  if (!id.startsWith(start)) return false;
  const { sheets = [] } = await api.describe([], sheetsFields, signal);
  return !sheets.some(({ properties }) => id === `${start}${properties?.sheetId}`);
}

/** Throws `target.tab-renamed` when our tab has another title now. */
export async function assertNotRenamed(
  { api, tab, name }: SheetsTab,
  { spreadsheetId, connection }: Pick<GoogleSheetsOptions, 'spreadsheetId' | 'connection'>,
  signal: AbortSignal,
): Promise<void> {
  const { sheets = [] } = await api.describe([], tabsFields, signal);
  const renamed = sheets.filter((sheet) =>
    readTabRecords(sheet).some(
      (record) => record.spreadsheetId === spreadsheetId && record.connection === connection,
    ),
  );
  const [title = null] = renamed.map(({ properties }) => properties?.title ?? null);
  if (title !== null) throw renamedFault(name, tab, title);
}

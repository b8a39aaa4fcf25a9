import type { sheets_v4 } from '@googleapis/sheets';
import { type SheetsSandbox, startSheetsSandbox } from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import { sheetsClient } from './sheets-sandbox-client.ts';

/** A stand-in with one tab, `Leads`, and how to ask it. */
export interface Scene extends AsyncDisposable {
  readonly sandbox: SheetsSandbox;
  update(...requests: sheets_v4.Schema$Request[]): Promise<sheets_v4.Schema$Response[]>;
  get(fields?: string, ranges?: string[]): Promise<sheets_v4.Schema$Spreadsheet>;
  grid(): string[][] | null;
}

/** `grid`: what is in the tab, as texts. */
export async function begin(grid: readonly (readonly string[])[] = []): Promise<Scene> {
  const sandbox = await startSheetsSandbox({ tabs: ['Leads'], quotas: null });
  sandbox.person.put('Leads', grid);
  const { spreadsheets: api } = sheetsClient(sandbox);
  const { spreadsheetId } = sandbox;
  return {
    sandbox,
    update: async (...requests) =>
      (await api.batchUpdate({ spreadsheetId, requestBody: { requests } })).data.replies ?? [],
    get: async (fields, ranges) =>
      (await api.get({ spreadsheetId, ...(fields && { fields }), ...(ranges && { ranges }) })).data,
    grid: () => sandbox.person.grid('Leads'),
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

export function text(stringValue: string): sheets_v4.Schema$CellData {
  return { userEnteredValue: { stringValue } };
}

export function rows(startIndex: number, endIndex: number): sheets_v4.Schema$DimensionRange {
  return { sheetId: 0, dimension: 'ROWS', startIndex, endIndex };
}

export function columns(startIndex: number, endIndex: number): sheets_v4.Schema$DimensionRange {
  return { sheetId: 0, dimension: 'COLUMNS', startIndex, endIndex };
}

export function columnRecord(column: number, metadataKey: string): sheets_v4.Schema$Request {
  const location = { dimensionRange: columns(column, column + 1) };
  const developerMetadata = { metadataKey, metadataValue: 'v', visibility: 'DOCUMENT', location };
  return { createDeveloperMetadata: { developerMetadata } };
}

import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { headingKey } from '../../core/lead/mapping.ts';
import type { sheets_v4 } from '@googleapis/sheets';
import { type Columns, headingsOf, lastHeading } from '../shared/columns.ts';
import type { GoogleSheetsOptions } from './sheets-api.ts';
import {
  columnKey,
  columnRecordValue,
  type ManagedColumn,
  managedColumns,
  placesOf,
  type TabDescription,
  tabKey,
  type TabRecord,
  tabRecordValue,
} from './tab-description.ts';

type Request = sheets_v4.Schema$Request;
type Settings = Pick<
  GoogleSheetsOptions,
  'spreadsheetId' | 'tab' | 'fields' | 'idColumn' | 'statusColumn' | 'pauseColumn' | 'connection'
>;

/** Google's default for a new tab. */
const newRows = 1_000;
const newWidth = 26;

const dateTimeFormat = { type: 'DATE_TIME', pattern: 'yyyy-mm-dd hh:mm' };

export function newTabSize(settings: Settings): { readonly rowCount: number; readonly columnCount: number } {
  return { rowCount: newRows, columnCount: Math.max(newWidth, headingsOf(settings).length) };
}

/** One atomic request for a new tab. `sheetId`: any unused one. */
export function newTab(settings: Settings, sheetId: number): Request[] {
  const gridProperties = { ...newTabSize(settings), frozenRowCount: 1 };
  return [
    { addSheet: { properties: { sheetId, title: settings.tab, gridProperties } } },
    ...furniture(settings, sheetId, newRows),
  ];
}

/** Headings go into an inserted row: what somebody types meanwhile moves down instead of being overwritten. */
export function newHeadings(
  settings: Settings,
  { sheetId, rowCount, columnCount }: TabDescription,
): Request[] {
  const lacking = headingsOf(settings).length - columnCount;
  const grown = { appendDimension: { sheetId, dimension: 'COLUMNS', length: lacking } };
  const range = { sheetId, dimension: 'ROWS', startIndex: 0, endIndex: 1 };
  const properties = { sheetId, gridProperties: { frozenRowCount: 1 } };
  return [
    ...(lacking > 0 ? [grown] : []),
    { insertDimension: { range, inheritFromBefore: false } },
    { updateSheetProperties: { properties, fields: 'gridProperties.frozenRowCount' } },
    ...furniture(settings, sheetId, rowCount + 1),
  ];
}

function furniture(settings: Settings, sheetId: number, rowCount: number): Request[] {
  const columns = columnFurniture(settings, managedColumns(settings), { sheetId, rowCount }, 0);
  return [...columns, tabRecord(settings, sheetId)];
}

function columnFurniture(
  settings: Settings,
  managed: readonly ManagedColumn[],
  tab: Pick<TabDescription, 'sheetId' | 'rowCount'>,
  start: number,
): Request[] {
  const { sheetId } = tab;
  const values = managed.map(({ heading }) => ({
    userEnteredValue: { stringValue: heading },
    userEnteredFormat: { textFormat: { bold: true } },
  }));
  const place = { sheetId, rowIndex: 0, columnIndex: start };
  const fields = 'userEnteredValue,userEnteredFormat.textFormat.bold';
  return [
    { updateCells: { start: place, rows: [{ values }], fields } },
    ...managed.flatMap((each, at) => [
      ...columnRules(settings, each, tab, start + at),
      columnRecord(each, sheetId, start + at),
    ]),
  ];
}

/** Inserted after the last heading: content beside the table moves right instead of being overwritten. */
export function newColumns(settings: Settings, tab: TabDescription, fields: readonly string[]): Request[] {
  const { sheetId, headings, columnCount } = tab;
  const shown = new Set(headings.map(headingKey));
  const managed = managedColumns(settings).filter(
    ({ field, heading }) => fields.includes(field) && !shown.has(headingKey(heading)),
  );
  if (managed.length === 0) return [];
  const at = lastHeading(headings) + 1;
  const range = { sheetId, dimension: 'COLUMNS', startIndex: at, endIndex: at + managed.length };
  // After the grid's last column, an inserted one would inherit its lists and formats.
  const spare = { appendDimension: { sheetId, dimension: 'COLUMNS', length: 1 } };
  return [
    ...(at === columnCount ? [spare] : []),
    { insertDimension: { range, inheritFromBefore: false } },
    ...columnFurniture(settings, managed, tab, at),
  ];
}

/** Adds missing records and removes wrong ones; keeps people's formats. */
export function missingRecords(settings: Settings, tab: TabDescription, columns: Columns): Request[] {
  const { sheetId, columnRecords } = tab;
  const requests: Request[] = ownRecord(settings, tab) !== null ? [] : [tabRecord(settings, sheetId)];
  for (const { column, managed } of placesOf(columns, settings)) {
    const own = columnRecords.filter(
      (each) => each.field === managed.field && each.heading === managed.heading,
    );
    const wrong = own.filter((each) => each.column !== column);
    requests.push(...wrong.map(({ metadataId }) => withoutRecord(metadataId)));
    if (wrong.length === own.length) requests.push(columnRecord(managed, sheetId, column));
  }
  return requests;
}

/** New records whose column has another heading: somebody moved columns while the records were created. */
export function misplacedRecords(before: TabDescription, now: TabDescription): Request[] {
  const known = new Set(before.columnRecords.map(({ metadataId }) => metadataId));
  return now.columnRecords.flatMap(({ metadataId, column, heading }) =>
    known.has(metadataId) || headingKey(now.headings[column] ?? '') === headingKey(heading)
      ? []
      : [withoutRecord(metadataId)],
  );
}

export function adoptedTab(settings: Settings, { sheetId, tabRecords }: TabDescription): Request[] {
  return [...tabRecords.map(({ metadataId }) => withoutRecord(metadataId)), tabRecord(settings, sheetId)];
}

export function markedTab(settings: Settings, tab: TabDescription, mark: string): Request | null {
  const own = ownRecord(settings, tab);
  if (own === null) return null;
  const { spreadsheetId, connection } = settings;
  const metadataValue = tabRecordValue(spreadsheetId, connection, mark);
  return {
    updateDeveloperMetadata: {
      dataFilters: [{ developerMetadataLookup: { metadataId: own.metadataId } }],
      developerMetadata: { metadataValue },
      fields: 'metadataValue',
    },
  };
}

/** This spreadsheet's record on a tab; the connection's, when there are several. */
export function ownRecord(
  { spreadsheetId, connection }: Pick<Settings, 'spreadsheetId' | 'connection'>,
  { tabRecords }: TabDescription,
): TabRecord | null {
  const own = tabRecords.filter((record) => record.spreadsheetId === spreadsheetId);
  return own.find((record) => record.connection === connection) ?? own[0] ?? null;
}

function tabRecord({ spreadsheetId, connection }: Settings, sheetId: number): Request {
  return record(tabKey, tabRecordValue(spreadsheetId, connection), { sheetId });
}

function columnRecord(managed: ManagedColumn, sheetId: number, column: number): Request {
  const dimensionRange = { sheetId, dimension: 'COLUMNS', startIndex: column, endIndex: column + 1 };
  return record(columnKey, columnRecordValue(managed), { dimensionRange });
}

function record(
  metadataKey: string,
  metadataValue: string,
  location: sheets_v4.Schema$DeveloperMetadataLocation,
): Request {
  return {
    createDeveloperMetadata: {
      developerMetadata: { metadataKey, metadataValue, location, visibility: 'DOCUMENT' },
    },
  };
}

function withoutRecord(metadataId: number): Request {
  return { deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup: { metadataId } } } };
}

function columnRules(
  { fields }: Settings,
  managed: ManagedColumn,
  { sheetId, rowCount }: Pick<TabDescription, 'sheetId' | 'rowCount'>,
  column: number,
): Request[] {
  const { type = 'text', values = [] } = fields.find(({ field }) => field === managed.field) ?? {};
  const range = { sheetId, startRowIndex: 1, startColumnIndex: column, endColumnIndex: column + 1 };
  const cell = { userEnteredFormat: { numberFormat: dateTimeFormat } };
  const format = { repeatCell: { range, cell, fields: 'userEnteredFormat.numberFormat' } };
  const condition = {
    type: 'ONE_OF_LIST',
    values: values.map((userEnteredValue) => ({ userEnteredValue })),
  };
  const choices = { setDataValidation: { range, rule: { condition, showCustomUi: true, strict: false } } };
  return [
    ...(fieldKinds[type].isMoment && rowCount > 1 ? [format] : []),
    ...(values.length > 0 ? [choices] : []),
  ];
}

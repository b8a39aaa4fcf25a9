import { headingKey } from '../../core/lead/mapping.ts';
import type { sheets_v4 } from '@googleapis/sheets';
import { z } from 'zod';
import { parseJson } from '../../lib/foreign-text.ts';
import { type ColumnMapping, type Columns, locateColumns, missingHeader } from '../shared/columns.ts';
import { type GoogleSheetsOptions, senseless, type SheetCell, type SheetsTab } from './sheets-api.ts';
import type { Place } from '../../ports/target.ts';
import type { CellRange, FormattedTable } from '../shared/table-range.ts';
import { type CellArea, isWithin } from './grid.ts';
import type { SpreadsheetTerms } from './cell-values.ts';
import { renamedFault } from './tab-faults.ts';

export const columnKey = 'leadsync.column';

/** A column's record: its field and configured heading. Moves with the column. */
export interface ColumnRecord {
  readonly metadataId: number;
  readonly column: number;
  readonly field: string;
  readonly heading: string;
}

/** A configured column; id, status and pause have names that no lead field has. */
export interface ManagedColumn {
  readonly field: string;
  readonly heading: string;
}

const idField = '@id';
const statusField = '@status';
const pauseField = '@pause';

const recordValue = z
  .object({ field: z.string(), column: z.string() })
  .transform(({ field, column }) => ({ field, heading: column }));

export function managedColumns({
  idColumn,
  fields,
  statusColumn,
  pauseColumn,
}: ColumnMapping): ManagedColumn[] {
  return [
    { field: idField, heading: idColumn },
    ...fields.map(({ field, column }) => ({ field, heading: column })),
    ...(statusColumn === undefined ? [] : [{ field: statusField, heading: statusColumn }]),
    ...(pauseColumn === undefined ? [] : [{ field: pauseField, heading: pauseColumn }]),
  ];
}

export function columnRecordValue({ field, heading }: ManagedColumn): string {
  return JSON.stringify({ field, column: heading });
}

function readColumnRecords(
  metadata: readonly sheets_v4.Schema$DeveloperMetadata[] | undefined,
  column: number,
): ColumnRecord[] {
  return readRecords(metadata, columnKey, recordValue).map((record) => ({ ...record, column }));
}

function readRecords<T extends object>(
  metadata: readonly sheets_v4.Schema$DeveloperMetadata[] | undefined,
  key: string,
  value: z.ZodType<T>,
): (T & { metadataId: number })[] {
  return (metadata ?? []).flatMap(({ metadataId, metadataKey, metadataValue }) => {
    if (metadataKey !== key || typeof metadataId !== 'number') return [];
    const { success, data } = value.safeParse(parseJson(metadataValue ?? ''));
    return success ? [{ ...data, metadataId }] : [];
  });
}

/**
 * Finds the managed columns: by a record that only one column has and that names the same field and configured heading, so
 * that renamed headings are found; else by heading. A record is ignored where its column has no heading, or another mapped
 * heading: somebody cut and pasted cells, and records stay behind. All are ignored when no heading reads as configured: the
 * header row was deleted or sorted away. Throws as locateColumns does.
 */
export function locateManagedColumns(
  headings: readonly string[],
  records: readonly ColumnRecord[],
  mapping: ColumnMapping,
  name: string,
  free?: string | null,
): Columns {
  const managed = managedColumns(mapping);
  const texts = new Set(headings.map(headingKey));
  if (!managed.some(({ heading }) => texts.has(headingKey(heading))))
    return locateColumns(headings, mapping, name, free);
  const recorded = new Map<number, string>();
  for (const { field, heading } of managed) {
    const [record, second] = records.filter((each) => each.field === field && each.heading === heading);
    if (record === undefined || second !== undefined) continue;
    const shown = headingKey(headings[record.column] ?? '');
    const isOther = managed.some((each) => each.heading !== heading && headingKey(each.heading) === shown);
    if (shown !== '' && !isOther && !recorded.has(record.column)) recorded.set(record.column, heading);
  }
  const decided = new Set([...recorded.values()].map(headingKey));
  const width = Math.max(headings.length, ...[...recorded.keys()].map((column) => column + 1));
  const substituted = Array.from({ length: width }, (_, column) => {
    const shown = headings[column] ?? '';
    return recorded.get(column) ?? (decided.has(headingKey(shown)) ? '' : shown);
  });
  return locateColumns(substituted, mapping, name, free);
}

export function placesOf(
  columns: Columns,
  mapping: ColumnMapping,
): { column: number; managed: ManagedColumn }[] {
  return managedColumns(mapping).flatMap((managed) => {
    const { id, status, pause, fields } = columns;
    const own = new Map([
      [idField, id],
      [statusField, status],
      [pauseField, pause],
    ]).get(managed.field);
    const column = own === undefined ? (fields.get(managed.field)?.index ?? null) : own;
    return column === null ? [] : [{ column, managed }];
  });
}

/** Rows searched for displaced headings. */
const lastHeadingRow = 50;

/** A first row whose id cell is no mapped heading, with the id heading further down: a sort included it. Throws `target.header-missing`. */
export function assertHeadingsFirst(
  headings: readonly string[],
  cells: readonly (readonly SheetCell[])[],
  idColumn: number,
  mapping: ColumnMapping,
  name: string,
): void {
  const first = headingKey(headings[idColumn] ?? '');
  if (managedColumns(mapping).some(({ heading }) => headingKey(heading) === first)) return;
  const ids = cells.slice(0, lastHeadingRow).map((row) => headingKey(String(row[idColumn] ?? '')));
  const row = ids.indexOf(headingKey(mapping.idColumn));
  if (row > 0)
    throw missingHeader(`The headings of ${name} are in row ${row + 1}, not in the first.`, mapping);
}

export const tabKey = 'leadsync.tab';

/** The spreadsheet, connection and rows' mark of a tab; null: none. A copied file carries its original's. */
const tabValue = z.object({
  version: z.literal(1),
  spreadsheetId: z.string(),
  connection: z.string().nullable().default(null),
  mark: z.string().nullable().default(null),
});

export type TabRecord = z.infer<typeof tabValue> & { readonly metadataId: number };

interface Protection extends CellArea {
  /** Parts that we may write. */
  readonly except: readonly CellArea[];
}

/** What a spreadsheet says of a tab besides the rows below the second. */
export interface TabDescription extends SpreadsheetTerms {
  readonly sheetId: number;
  readonly rowCount: number;
  readonly columnCount: number;
  /** The first row as entered, for comparison with later reads, and as displayed. */
  readonly entered: readonly SheetCell[];
  readonly headings: readonly string[];
  /** Columns whose second row shows a date. */
  readonly dateColumns: ReadonlySet<number>;
  readonly tabRecords: readonly TabRecord[];
  readonly columnRecords: readonly ColumnRecord[];
  /** Areas that this account may not write; empty until requested, as are the next three. */
  readonly protections: readonly Protection[];
  readonly merged: readonly CellArea[];
  readonly tables: readonly TabTable[];
  /** The basic filter, unless a table has it; null: none. */
  readonly filter: TabFilter | null;
}

interface TabTable extends FormattedTable {
  readonly tableId: string;
}

interface TabFilter {
  readonly range: CellRange;
  readonly filterSpecs: sheets_v4.Schema$FilterSpec[];
}

type TabAreas = Pick<TabDescription, 'protections' | 'merged' | 'tables' | 'filter'>;

const areas =
  'merges,protectedRanges(range,unprotectedRanges,requestingUserCanEdit,warningOnly),' +
  'basicFilter(range,tableId,filterSpecs),tables(tableId,range,rowsProperties(footerColorStyle))';
const records = 'developerMetadata(metadataId,metadataKey,metadataValue)';

/** For a request with the range of the tab's first two rows. */
export const tabFields = [
  'properties(timeZone,locale)',
  `sheets(properties(sheetId,title,gridProperties),${records},` +
    'data(startRow,startColumn,rowData(values(formattedValue,userEnteredValue,effectiveFormat(numberFormat(type)))),' +
    `columnMetadata(${records})))`,
].join(',');

const sheetsFields = 'sheets(properties(sheetId,title))';

/** For a request without a range, when the tab was not found. */
export const tabsFields = `sheets(properties(sheetId,title,gridProperties),${records})`;

/** For a request without a range: with one, Google returns only the merged cells that touch it. */
export const areasFields = `sheets(properties(sheetId,gridProperties),${areas})`;

/** Whether a sheet is the tab: Google ignores case in titles. */
export function isTab({ properties }: sheets_v4.Schema$Sheet, tab: string): boolean {
  return properties?.title?.toLowerCase() === tab.toLowerCase();
}

/** Null: no such tab. Throws `target.unavailable` (now) without a time zone. */
export function readTab(spreadsheet: sheets_v4.Schema$Spreadsheet, title: string): TabDescription | null {
  const sheet = spreadsheet.sheets?.find((each) => isTab(each, title));
  const timeZone = spreadsheet.properties?.timeZone ?? '';
  // Without a zone, dates would mean other moments.
  if (timeZone === '') throw senseless();
  if (sheet === undefined) return null;
  const data = sheet.data?.[0] ?? {};
  const [first, second] = rowsOf(data);
  return {
    timeZone,
    locale: spreadsheet.properties?.locale ?? '',
    sheetId: idOf(sheet),
    rowCount: sheet.properties?.gridProperties?.rowCount ?? 0,
    columnCount: sheet.properties?.gridProperties?.columnCount ?? 0,
    entered: first.map(({ userEnteredValue }) => enteredValue(userEnteredValue)),
    headings: first.map(({ formattedValue }) => formattedValue ?? ''),
    dateColumns: new Set(second.flatMap((cell, column) => (isDate(cell) ? [column] : []))),
    tabRecords: readTabRecords(sheet),
    columnRecords: (data.columnMetadata ?? []).flatMap(({ developerMetadata }, column) =>
      readColumnRecords(developerMetadata, column),
    ),
    protections: [],
    merged: [],
    tables: [],
    filter: null,
  };
}

/** Google omits zeros from some replies: the first tab's id. */
export function idOf({ properties }: sheets_v4.Schema$Sheet): number {
  return properties?.sheetId ?? 0;
}

export function readTabAreas(spreadsheet: sheets_v4.Schema$Spreadsheet, sheetId: number): TabAreas | null {
  const sheet = spreadsheet.sheets?.find((each) => idOf(each) === sheetId);
  if (sheet === undefined) return null;
  const { protectedRanges = [], merges = [], tables = [], basicFilter } = sheet;
  return {
    protections: protectedRanges.flatMap(protection),
    merged: merges.map(areaOf),
    tables: tables.map(({ tableId, range, rowsProperties }) => ({
      tableId: tableId ?? '',
      range: rangeOf(range, sheet),
      // The colour of a footer: without one there is no footer.
      hasTotals: (rowsProperties?.footerColorStyle ?? null) !== null,
    })),
    filter:
      basicFilter === undefined || (basicFilter.tableId ?? '') !== ''
        ? null
        : { range: rangeOf(basicFilter.range, sheet), filterSpecs: basicFilter.filterSpecs ?? [] },
  };
}

function rangeOf(range: sheets_v4.Schema$GridRange = {}, { properties }: sheets_v4.Schema$Sheet): CellRange {
  const { rowCount, columnCount } = properties?.gridProperties ?? {};
  const { startRow, endRow, startColumn, endColumn } = areaOf(range);
  return {
    left: startColumn,
    top: startRow + 1,
    right: (endColumn ?? columnCount ?? 0) - 1,
    bottom: endRow ?? rowCount ?? 0,
  };
}

function readTabRecords({ developerMetadata }: sheets_v4.Schema$Sheet): TabRecord[] {
  return readRecords(developerMetadata, tabKey, tabValue);
}

export function tabRecordValue(spreadsheetId: string, connection: string, mark?: string): string {
  return JSON.stringify({ version: 1, spreadsheetId, connection, mark });
}

function rowsOf({ rowData, startRow }: sheets_v4.Schema$GridData) {
  const rows = (rowData ?? []).map(({ values }) => values ?? []);
  const at = (row: number): sheets_v4.Schema$CellData[] => rows[row - (startRow ?? 0)] ?? [];
  return [at(0), at(1)] as const;
}

function enteredValue(value: sheets_v4.Schema$ExtendedValue | undefined): SheetCell {
  return value?.formulaValue ?? value?.stringValue ?? value?.numberValue ?? value?.boolValue ?? null;
}

function isDate({ effectiveFormat }: sheets_v4.Schema$CellData): boolean {
  const type = effectiveFormat?.numberFormat?.type ?? '';
  return type === 'DATE' || type === 'DATE_TIME';
}

function protection(range: sheets_v4.Schema$ProtectedRange): Protection[] {
  // Google omits false.
  if (range.requestingUserCanEdit === true || range.warningOnly === true) return [];
  return [{ ...areaOf(range.range ?? {}), except: (range.unprotectedRanges ?? []).map(areaOf) }];
}

function areaOf(range: sheets_v4.Schema$GridRange): CellArea {
  const { startRowIndex, endRowIndex, startColumnIndex, endColumnIndex } = range;
  return {
    startRow: startRowIndex ?? 0,
    startColumn: startColumnIndex ?? 0,
    ...(typeof endRowIndex === 'number' ? { endRow: endRowIndex } : {}),
    ...(typeof endColumnIndex === 'number' ? { endColumn: endColumnIndex } : {}),
  };
}

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

type Protected = Pick<TabDescription, 'protections'>;

export function isProtected({ protections }: Protected, row: number, column: number): boolean {
  return protections.some(
    (area) => isWithin(area, row, column) && !area.except.some((open) => isWithin(open, row, column)),
  );
}

/** Whether a new row would be in a protected range, such as a whole column: Google refuses to insert it. */
export function isClosedAt({ protections }: Protected, at: number): boolean {
  return protections.some(
    ({ startRow, endRow }) => startRow < at && (endRow ?? Number.POSITIVE_INFINITY) > at,
  );
}

/** Columns with a cell below the headings that we may not write. */
export function protectedColumns(
  tab: Protected & Pick<TabDescription, 'rowCount'>,
  columns: Iterable<number>,
): number[] {
  // The first such cell is where an area begins, or just below an open part of it.
  const rows = tab.protections.flatMap(({ startRow, except }) => [
    Math.max(startRow, 1),
    ...except.flatMap(({ endRow }) => endRow ?? []),
  ]);
  return [...columns]
    .filter((column) => rows.some((row) => row < tab.rowCount && isProtected(tab, row, column)))
    .toSorted((one, other) => one - other);
}

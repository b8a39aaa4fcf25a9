import type { FieldType } from '../../core/lead/value.ts';
import { type Columns, ownedColumns } from '../shared/columns.ts';
import { columnRange, quotedTab } from './a1.ts';
import type { OwnColumns } from './alignment.ts';
import { askErrors, type CellErrors } from './cell-errors.ts';
import { CellValues } from './cell-values.ts';
import { alignColumns, headingRow } from './column-alignment.ts';
import type { GoogleSheetsOptions } from './google-sheets-options.ts';
import { cellAt, type Grid, type GridCell, gridCell, sameGridCell } from './grid.ts';
import { assertHeadingsFirst, locateManagedColumns } from './managed-columns.ts';
import type { SheetCell, SheetsApi } from './sheets-api.ts';
import {
  closedFields,
  isTab,
  readClosedAreas,
  readTab,
  type TabDescription,
  tabFields,
} from './tab-description.ts';
import { changed, isRefused } from './tab-faults.ts';

/** A tab with headings, at one moment. */
export interface TabSnapshot {
  readonly tab: TabDescription;
  readonly columns: Columns;
  readonly grid: Grid;
  readonly values: CellValues;
  /** Displayed texts of columns that the grid leaves ambiguous. */
  readonly shown: Shown;
  readonly errors: CellErrors;
  /** Date columns in which an empty cell is assumed to show numbers as dates, as other cells do. */
  readonly dateColumns: ReadonlySet<number>;
}

/** By column and row: displayed texts; dates in the spreadsheet's format. */
type Shown = ReadonlyMap<number, readonly SheetCell[]>;

/** A tab with headings, an empty one, or none of that title. */
export type Found =
  | ({ readonly kind: 'table' } & TabSnapshot)
  | { readonly kind: 'empty'; readonly tab: TabDescription }
  | { readonly kind: 'missing' };

type Place = Pick<GoogleSheetsOptions, 'tab' | 'fields' | 'idColumn' | 'statusColumn' | 'dates'>;

/**
 * Reads the tab in three requests; a fourth when a cell of ours begins with `=`, or a text column has a number; one more
 * when a text looks like an error. Merged cells come last: of those merged meanwhile, the content was read before. @throws
 * LeadsyncError `target.changed` when rows or columns moved in between, as locateColumns does, and the faults of SheetsApi.
 */
export async function takeTabSnapshot(
  api: SheetsApi,
  place: Place,
  name: string,
  signal: AbortSignal,
): Promise<Found> {
  const tab = await describe(api, place.tab, signal);
  if (tab === null) return { kind: 'missing' };
  const cells = await readCells(api, place.tab, name, signal);
  if (cells.every((row) => row.every(isBlank))) return { kind: 'empty', tab };
  const columns = locateManagedColumns(tab.headings, tab.columnRecords, place, name);
  const own = { id: columns.id, owned: ownedColumns(columns) };
  assertSameHeadings(tab, cells[0] ?? [], own.owned, name);
  assertHeadingsFirst(tab.headings, cells, own.id, place, name);
  const shown = await askShown(api, place.tab, cells, own, textColumns(columns), name, signal);
  const grid = withFormulas(cells, shown);
  const values = new CellValues(tab, place.dates);
  const dateColumns = dateColumnsOf(tab, columns, grid, values);
  const errors = await askErrors(api, place.tab, grid, own, name, signal);
  const areas = readClosedAreas(await api.describe([], closedFields, signal), tab.sheetId);
  if (areas === null) throw changed(name);
  return { kind: 'table', tab: { ...tab, ...areas }, columns, grid, shown, errors, values, dateColumns };
}

function dateColumnsOf(
  tab: TabDescription,
  { fields }: Columns,
  grid: Grid,
  values: CellValues,
): ReadonlySet<number> {
  const moments = [...fields.values()].flatMap(({ index, type }) => (type === 'instant' ? [index] : []));
  const rows = grid.slice(1);
  return new Set(
    moments.filter(
      (column) => tab.dateColumns.has(column) || rows.some((row) => isDayNumber(row[column], values)),
    ),
  );
}

function isDayNumber(cell: GridCell | undefined, values: CellValues): boolean {
  return typeof cell === 'number' && typeof values.read(cell, 'instant') === 'string';
}

/** Whether a cell of a mapped column would show a number as the meant value; row null: a new one. */
export function showsNumbers(
  snapshot: Pick<TabSnapshot, 'grid' | 'shown' | 'values' | 'dateColumns'>,
  row: number | null,
  { index, type }: { readonly index: number; readonly type: FieldType },
): boolean {
  const old = row === null ? null : cellAt(snapshot.grid, row, index);
  // Text columns show dates as text. Numbers stay numbers, so that formulas keep working.
  if (type === 'text') return row !== null && typeof snapshot.shown.get(index)?.[row] === 'number';
  return old === null ? snapshot.dateColumns.has(index) : isDayNumber(old, snapshot.values);
}

/** Reads the cells again, in one request (two when a cell of our columns, wherever they are now, begins with `=`). */
export async function readAgain(
  api: SheetsApi,
  tab: string,
  before: Grid,
  { id, owned }: OwnColumns,
  name: string,
  signal: AbortSignal,
): Promise<Grid> {
  const cells = await readCells(api, tab, name, signal);
  const places = alignColumns(before, cells, headingRow(before, cells));
  const now = new Set([...owned].flatMap((column) => places[column] ?? []));
  const own = { id: places[id] ?? 0, owned: now };
  return withFormulas(cells, await askShown(api, tab, cells, own, new Set(), name, signal));
}

/** Null: no tab of this title, for which Google refuses the range. */
async function describe(api: SheetsApi, tab: string, signal: AbortSignal): Promise<TabDescription | null> {
  try {
    return readTab(await api.describe([`${quotedTab(tab)}!1:2`], tabFields, signal), tab);
  } catch (error) {
    if (!isRefused(error)) throw error;
    const titles = await api.describe([], 'sheets(properties(title))', signal);
    if (titles.sheets?.some((sheet) => isTab(sheet, tab)) === true) throw error;
    return null;
  }
}

async function readCells(
  api: SheetsApi,
  tab: string,
  name: string,
  signal: AbortSignal,
): Promise<readonly (readonly SheetCell[])[]> {
  try {
    const [cells = []] = await api.read([quotedTab(tab)], 'FORMULA', signal);
    return cells;
  } catch (error) {
    // The tab was renamed or removed since the last request.
    throw isRefused(error) ? changed(name, error) : error;
  }
}

/**
 * Requests displayed text where the first request is ambiguous: a text that begins with `=` is no formula, and a date typed
 * into a text column is a number. Only for columns with such a cell.
 */
async function askShown(
  api: SheetsApi,
  tab: string,
  cells: readonly (readonly SheetCell[])[],
  { id, owned }: OwnColumns,
  texts: ReadonlySet<number>,
  name: string,
  signal: AbortSignal,
): Promise<Shown> {
  const rows = cells.slice(1);
  const isOpen = (cell: SheetCell | undefined, column: number): boolean =>
    isMarked(cell) || (typeof cell === 'number' && texts.has(column));
  const inQuestion = [...owned].filter((column) => rows.some((row) => isOpen(row[column], column)));
  const shown = new Map<number, readonly SheetCell[]>();
  if (inQuestion.length === 0) return shown;
  const asked = [id, ...inQuestion.filter((column) => column !== id)];
  const ranges = asked.map((column) => columnRange(tab, column));
  const read = await api.read(ranges, 'UNFORMATTED_VALUE', signal);
  for (const [at, column] of asked.entries())
    shown.set(
      column,
      (read[at] ?? []).map(([cell]) => cell ?? null),
    );
  assertSameIds(cells, shown.get(id) ?? [], id, name);
  return shown;
}

function withFormulas(cells: readonly (readonly SheetCell[])[], shown: Shown): Grid {
  return cells.map((row, at) =>
    row.some(isMarked) ? row.map((cell, column) => gridCell(cell, unformatted(shown.get(column), at))) : row,
  );
}

function textColumns({ fields }: Columns): ReadonlySet<number> {
  return new Set([...fields.values()].flatMap(({ index, type }) => (type === 'text' ? [index] : [])));
}

/** Undefined: not requested; a formula may show nothing. */
function unformatted(shown: readonly SheetCell[] | undefined, row: number): SheetCell | undefined {
  return shown === undefined ? undefined : (shown[row] ?? null);
}

function isMarked(cell: SheetCell | undefined): boolean {
  return typeof cell === 'string' && cell.startsWith('=');
}

function isBlank(cell: SheetCell): boolean {
  return cell === null || cell === '';
}

/** The columns must still be where the first request found them. */
function assertSameHeadings(
  tab: TabDescription,
  row: readonly SheetCell[],
  owned: ReadonlySet<number>,
  name: string,
): void {
  for (const column of owned) {
    const before = gridCell(tab.entered[column] ?? null, undefined);
    const now = gridCell(row[column] ?? null, undefined);
    if (!sameGridCell(before, now)) throw changed(name);
  }
}

function assertSameIds(
  cells: readonly (readonly SheetCell[])[],
  shown: readonly SheetCell[],
  column: number,
  name: string,
): void {
  const height = Math.max(cells.length, shown.length);
  for (let row = 0; row < height; row++) {
    const cell = cells[row]?.[column] ?? null;
    const now = shown[row] ?? null;
    // A date appears as text here.
    if (isMarked(cell) || (typeof cell === 'number' && typeof now === 'string' && now !== '')) continue;
    if (!sameGridCell(cell, now)) throw changed(name);
  }
}

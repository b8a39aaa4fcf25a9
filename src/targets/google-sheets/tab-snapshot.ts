import { fieldKinds } from '../../core/lead/field-kinds.ts';
import type { FieldType } from '../../core/lead/value.ts';
import { type ColumnMapping, type Columns, headingRank, readColumns } from '../shared/columns.ts';
import { freeCell, isTotalsRow, rangeBottom } from '../shared/table-range.ts';
import {
  cellAt,
  columnRange,
  type Grid,
  type GridCell,
  gridCell,
  quotedTab,
  sameGridCell,
  isFormula,
} from './grid.ts';
import { alignColumns, headingRow, type OwnColumns } from './alignment.ts';
import { CellValues } from './cell-values.ts';
import type { SheetCell, SheetsTab } from './sheets-api.ts';
import {
  areasFields,
  assertHeadingsFirst,
  isTab,
  locateManagedColumns,
  readTab,
  readTabAreas,
  type TabDescription,
  tabFields,
} from './tab-description.ts';
import { changed, isRefused } from './tab-faults.ts';
import type { sheets_v4 } from '@googleapis/sheets';
import { columnLetters } from '../shared/cell-name.ts';

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

/** By row and column, in `FORMULA` rendering. */
type Cells = readonly (readonly SheetCell[])[];

/** By column and row: displayed texts; dates in the spreadsheet's format. */
type Shown = ReadonlyMap<number, readonly SheetCell[]>;

/** A tab with headings, an empty one, or none of that title. */
export type Found =
  | ({ readonly kind: 'table' } & TabSnapshot)
  | { readonly kind: 'empty'; readonly tab: TabDescription }
  | { readonly kind: 'missing' };

/**
 * Reads the tab in three requests; a fourth when a cell of ours begins with `=`, or a text column has a number; one more
 * when a text looks like an error, or no heading is that of the id column. Merged cells come last: of those merged
 * meanwhile, the content was read before. @throws
 * LeadsyncError `target.changed` when rows or columns moved in between, as locateColumns does, and the faults of SheetsApi.
 */
export async function takeTabSnapshot(
  at: SheetsTab,
  mapping: ColumnMapping,
  signal: AbortSignal,
): Promise<Found> {
  const { api, name } = at;
  const tab = await describe(at, signal);
  if (tab === null) return { kind: 'missing' };
  const cells = await readCells(at, signal);
  if (cells.every((row) => row.every(isBlank))) return { kind: 'empty', tab };
  const askAreas = async () => readTabAreas(await api.describe([], areasFields, signal), tab.sheetId);
  const isUsed = (column: number) => cells.some((row) => !isBlank(row[column] ?? null));
  const free =
    headingRank(tab.headings, mapping) === 1
      ? freeCell(tab.headings, headerRow, isUsed, (await askAreas())?.filter?.range)
      : null;
  const columns = locateManagedColumns(tab.headings, tab.columnRecords, mapping, name, free);
  const own = { id: columns.id, owned: readColumns(columns) };
  if (!hasSameHeadings(tab, cells[0] ?? [], own.owned)) throw changed(name);
  assertHeadingsFirst(tab.headings, cells, own.id, mapping, name);
  const shown = await askShown(at, cells, own, textColumns(columns), signal);
  const grid = withFormulas(cells, shown);
  const values = new CellValues(tab);
  const dateColumns = dateColumnsOf(tab, columns, grid, values);
  const errors = await askErrors(at, grid, own, signal);
  const areas = await askAreas();
  if (areas === null) throw changed(name);
  return { kind: 'table', tab: { ...tab, ...areas }, columns, grid, shown, errors, values, dateColumns };
}

/** The headings of a tab are in its first row. */
export const headerRow = 1;

/** The last row (1-based) of the table or filter with our headings; null: neither. */
export function bottomOf({ tab, columns }: Pick<TabSnapshot, 'tab' | 'columns'>): number | null {
  const filters = tab.filter === null ? [] : [tab.filter.range];
  return rangeBottom(tab.tables, filters, { headerRow, columns }, tab.rowCount);
}

/** Whether a row (1-based) is the footer of the table with our headings. */
export function isFooter({ tab, columns }: TabSnapshot, row: number): boolean {
  return tab.tables.some((table) => isTotalsRow(table, row, { headerRow, columns }));
}

/** Whether any cell of ours shows what a formula makes of others. */
export function hasFormulas({ grid, columns }: Pick<TabSnapshot, 'grid' | 'columns'>): boolean {
  const own = [...readColumns(columns)];
  return grid.some((row) => own.some((column) => isFormula(row[column] ?? null)));
}

function dateColumnsOf(
  tab: TabDescription,
  { fields }: Columns,
  grid: Grid,
  values: CellValues,
): ReadonlySet<number> {
  const moments = [...fields.values()].flatMap(({ index, type }) =>
    fieldKinds[type].isMoment ? [index] : [],
  );
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
  if (!fieldKinds[type].isMoment) return row !== null && typeof snapshot.shown.get(index)?.[row] === 'number';
  return old === null ? snapshot.dateColumns.has(index) : isDayNumber(old, snapshot.values);
}

/** Reads the cells again, in one request (two when a cell of our columns, wherever they are now, begins with `=`). */
export async function readAgain(
  at: SheetsTab,
  before: Grid,
  { id, owned }: OwnColumns,
  signal: AbortSignal,
): Promise<Grid> {
  const cells = await readCells(at, signal);
  const places = alignColumns(before, cells, headingRow(before, cells));
  const now = new Set([...owned].flatMap((column) => places[column] ?? []));
  const own = { id: places[id] ?? 0, owned: now };
  return withFormulas(cells, await askShown(at, cells, own, new Set(), signal));
}

/** Null: no tab of this title, for which Google refuses the range. */
async function describe({ api, tab }: SheetsTab, signal: AbortSignal): Promise<TabDescription | null> {
  try {
    return readTab(await api.describe([`${quotedTab(tab)}!1:2`], tabFields, signal), tab);
  } catch (error) {
    if (!isRefused(error)) throw error;
    const titles = await api.describe([], 'sheets(properties(title))', signal);
    if (titles.sheets?.some((sheet) => isTab(sheet, tab)) === true) throw error;
    return null;
  }
}

async function readCells({ api, tab, name }: SheetsTab, signal: AbortSignal): Promise<Cells> {
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
  { api, tab, name }: SheetsTab,
  cells: Cells,
  { id, owned }: OwnColumns,
  texts: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<Shown> {
  const rows = cells.slice(1);
  const isOpen = (cell: SheetCell | undefined, column: number): boolean =>
    isMarked(cell) || (typeof cell === 'number' && texts.has(column));
  const inQuestion = [...owned].filter((column) => rows.some((row) => isOpen(row[column], column)));
  if (inQuestion.length === 0) return new Map();
  const asked = [id, ...inQuestion.filter((column) => column !== id)];
  const ranges = asked.map((column) => columnRange(tab, column));
  const read = await api.read(ranges, 'UNFORMATTED_VALUE', signal);
  const shown = asked.map((_, at) => (read[at] ?? []).map(([cell]) => cell ?? null));
  if (!hasSameIds(cells, shown[0] ?? [], id)) throw changed(name);
  return new Map(asked.map((column, at) => [column, shown[at] ?? []]));
}

function withFormulas(cells: Cells, shown: Shown): Grid {
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

/** Whether the columns are still where the first request found them. */
function hasSameHeadings(
  tab: TabDescription,
  row: readonly SheetCell[],
  owned: ReadonlySet<number>,
): boolean {
  return [...owned].every((column) => {
    const before = gridCell(tab.entered[column] ?? null, undefined);
    return sameGridCell(before, gridCell(row[column] ?? null, undefined));
  });
}

function hasSameIds(cells: Cells, shown: readonly SheetCell[], column: number): boolean {
  const height = Math.max(cells.length, shown.length);
  return Array.from({ length: height }).every((_, row) => {
    const cell = cells[row]?.[column] ?? null;
    const now = shown[row] ?? null;
    // A date appears as text here.
    const isDate = typeof cell === 'number' && typeof now === 'string' && now !== '';
    return isMarked(cell) || isDate || sameGridCell(cell, now);
  });
}

/** By column: rows whose cells hold a real error, not a text that looks like one. */
export type CellErrors = ReadonlyMap<number, ReadonlySet<number>>;

export function holdsError(errors: CellErrors, row: number, column: number): boolean {
  return errors.get(column)?.has(row) === true;
}

const effective = 'sheets(data(startRow,rowData(values(effectiveValue))))';

/** What an error may look like, in any language: `#REF!`, `#BEZUG!`, `Loading...`. */
const isLikeError = (text: string): boolean => text.startsWith('#') || text.endsWith('...');

/**
 * Finds out which error-like cells hold an error: a company may be called `#REF!`. One request, or none without such cells.
 * Formulas are unreadable anyway, except for ids. @throws LeadsyncError `target.changed` when a cell has changed meanwhile.
 */
async function askErrors(
  { api, tab, name }: SheetsTab,
  grid: Grid,
  { id, owned }: OwnColumns,
  signal: AbortSignal,
): Promise<CellErrors> {
  const suspects = [...owned].flatMap((column) => {
    const rows: number[] = [];
    for (let row = 1; row < grid.length; row++) {
      const cell = cellAt(grid, row, column);
      const text = textOf(cell);
      if (text !== null && isLikeError(text) && (column === id || !isFormula(cell))) rows.push(row);
    }
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return [];
    const letters = columnLetters(column);
    return [{ column, rows, range: `${quotedTab(tab)}!${letters}${first + 1}:${letters}${last + 1}` }];
  });
  if (suspects.length === 0) return new Map();
  const ranges = suspects.map(({ range }) => range);
  const { sheets = [] } = await api.describe(ranges, effective, signal);
  const data = sheets[0]?.data ?? [];
  return new Map(
    suspects.map(({ column, rows }, at) => {
      const { startRow, rowData = [] } = data[at] ?? {};
      const valueAt = (row: number) => rowData[row - (startRow ?? 0)]?.values?.[0]?.effectiveValue;
      const isError = (row: number): boolean => isErrorValue(valueAt(row), cellAt(grid, row, column), name);
      return [column, new Set(rows.filter(isError))];
    }),
  );
}

function isErrorValue(
  value: sheets_v4.Schema$ExtendedValue | undefined,
  cell: GridCell,
  name: string,
): boolean {
  if (value?.errorValue !== undefined) return true;
  if (value?.stringValue !== textOf(cell)) throw changed(name);
  return false;
}

function textOf(cell: GridCell): string | null {
  const shown: SheetCell = isFormula(cell) ? cell.shows : cell;
  return typeof shown === 'string' ? shown : null;
}

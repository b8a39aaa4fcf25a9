import { isLikeId, type RowStanding } from '../../core/lead/table-rows.ts';
import { columnLetters } from './cell-name.ts';
import { type Columns, lastHeading, ownedColumns } from './columns.ts';

/** Rows 1-based as displayed, columns 0-based; ends inclusive. */
export interface CellRange {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A range that the program calls a table, with its headings. `hasTotals`: its last row sums the others. */
export interface FormattedTable {
  readonly range: CellRange;
  readonly hasTotals: boolean;
}

/** The row of the headings, and where our columns are. */
interface Place {
  readonly headerRow: number;
  readonly columns: Columns;
}

export function contains(range: CellRange, row: number, column: number): boolean {
  return row >= range.top && row <= range.bottom && column >= range.left && column <= range.right;
}

export function showRange({ left, top, right, bottom }: CellRange): string {
  const start = `${columnLetters(left)}${top}`;
  const end = `${columnLetters(right)}${bottom}`;
  return start === end ? start : `${start}:${end}`;
}

/** The first free cell right of the headings in `row`, and what a filter of theirs that ends before it needs. */
export function freeCell(
  headings: readonly string[],
  row: number,
  isUsed: (column: number) => boolean,
  filter?: CellRange,
): string {
  const last = lastHeading(headings);
  let free = last + 1;
  while (isUsed(free)) free++;
  const cell = `${columnLetters(free)}${row}`;
  const isShort = filter?.top === row && contains(filter, row, last) && !contains(filter, row, free);
  return isShort ? `${cell} (and let the filter ${showRange(filter)} reach it)` : cell;
}

/** Whether a range has the headings in its first row, and columns of ours. */
export function isAround(range: CellRange, { headerRow, columns }: Place): boolean {
  return range.top === headerRow && [...ownedColumns(columns)].some((at) => contains(range, headerRow, at));
}

/** The last data row of the table, or filter, that has the headings; null: neither. `mostRows`: where the sheet ends. */
export function rangeBottom(
  tables: readonly FormattedTable[],
  filters: readonly CellRange[],
  place: Place,
  mostRows: number,
): number | null {
  const table = tables.find(({ range }) => isAround(range, place));
  const range = table?.range ?? filters.find((filter) => isAround(filter, place));
  if (range === undefined) return null;
  const bottom = table?.hasTotals === true ? range.bottom - 1 : range.bottom;
  // A new table has one row, which may be empty; the filter of whole columns ends with the sheet.
  return bottom > place.headerRow + 1 && bottom < mostRows ? bottom : null;
}

export function isTotalsRow({ range, hasTotals }: FormattedTable, row: number, place: Place): boolean {
  return hasTotals && row === range.bottom && isAround(range, place);
}

/** The last row of a range that a row with an id directly below has outgrown: not all programs extend it. */
export function withOutgrown(bottom: number | null, row: number, leadId: string): number | null {
  return bottom !== null && row === bottom + 1 && isLikeId(leadId) ? row : bottom;
}

/** What the table says of a row. `isNote`: it sums those above, and has no id. */
export function standingIn(bottom: number | null, row: number, isNote: boolean): RowStanding | undefined {
  if (isNote) return 'note';
  return bottom === null ? undefined : row <= bottom ? 'within' : 'below';
}

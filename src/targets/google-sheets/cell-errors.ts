import type { sheets_v4 } from '@googleapis/sheets';
import { cellAt, type Grid, type GridCell, isFormula, quotedTab } from './grid.ts';
import { columnLetters } from '../shared/cell-name.ts';
import type { OwnColumns } from './alignment.ts';
import type { SheetCell, SheetsTab } from './sheets-api.ts';
import { changed } from './tab-faults.ts';

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
export async function askErrors(
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

import { CellError } from './cell-error.ts';
import { isFormula, moveFormula } from './formula-references.ts';
import { type Effective, Formulas } from './formulas.ts';
import { type Area, type Cell, emptyCell, emptyRow, type Sheet, type Spreadsheet } from './sheet-state.ts';

export interface SortKey {
  /** Position in the sheet, not in the range. */
  readonly column: number;
  readonly descending: boolean;
}

/**
 * Sorts the cells of an area with their formats and notes; cells beside it stay. Numbers, then texts, booleans, errors;
 * empty cells last in either direction; equal cells keep their order.
 */
export function sortArea(state: Spreadsheet, sheet: Sheet, area: Area, keys: readonly SortKey[]): void {
  const formulas = new Formulas(state);
  const collator = new Intl.Collator(state.locale.replaceAll('_', '-'), { sensitivity: 'accent' });
  const lines = sheet.rows.slice(area.startRow, area.endRow).map((row, index) => ({
    index,
    cells: Array.from(
      { length: area.endColumn - area.startColumn },
      (_, column) => row.cells[area.startColumn + column],
    ),
    keys: keys.map(({ column }) => formulas.valueOf(row.cells[column] ?? emptyCell, sheet)),
  }));
  const sorted = lines.toSorted((one, other) => {
    for (const [index, key] of keys.entries()) {
      const order = compare(one.keys[index] ?? null, other.keys[index] ?? null, key.descending, collator);
      if (order !== 0) return order;
    }
    return one.index - other.index;
  });
  const rows = sheet.rows.slice();
  for (const [index, line] of sorted.entries()) {
    const at = area.startRow + index;
    const row = rows[at] ?? emptyRow;
    const cells = row.cells.slice();
    while (cells.length < area.endColumn) cells.push(undefined);
    for (const [offset, cell] of line.cells.entries()) {
      cells[area.startColumn + offset] = moved(cell, index - line.index);
    }
    rows[at] = { ...row, cells };
  }
  sheet.rows = rows;
}

function moved(cell: Cell | undefined, down: number): Cell | undefined {
  if (down === 0 || cell === undefined || !isFormula(cell.entered)) return cell;
  return { ...cell, entered: moveFormula(cell.entered, down) };
}

function compare(one: Effective, other: Effective, descending: boolean, collator: Intl.Collator): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  const ranks = rank(one) - rank(other);
  let order = ranks;
  if (ranks === 0 && typeof one === 'string' && typeof other === 'string')
    order = collator.compare(one, other);
  else if (ranks === 0) order = Number(one) - Number(other) || 0;
  return descending ? -order : order;
}

function rank(value: Effective): number {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return 1;
  return value instanceof CellError ? 3 : 2;
}

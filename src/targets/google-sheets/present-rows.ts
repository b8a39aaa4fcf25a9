import type { Cell } from '../../lead/value.ts';
import { ownedColumns } from '../columns.ts';
import type { PresentRow } from '../row-changes.ts';
import { cellText, idText } from './cell-values.ts';
import { cellAt, type GridCell, isFormula } from './grid.ts';
import type { Look } from './look.ts';
import type { SheetCell } from './sheets-api.ts';

/**
 * The rows below the headings that carry an id or anything in a mapped column but what people fill columns down with:
 * check boxes and formulas.
 */
export function* presentRows(look: Look): Generator<PresentRow<number>> {
  for (let row = 1; row < look.grid.length; row++) {
    const present = presentRow(look, row);
    if (present !== null) yield present;
  }
}

function presentRow({ grid, columns, values, shown }: Look, row: number): PresentRow<number> | null {
  const id = idText(grid, row, columns.id);
  const leadId = id === '' ? null : id;
  let isEmpty = true;
  const cells: Record<string, Cell> = {};
  for (const [field, { index, type }] of columns.fields) {
    const raw = cellAt(grid, row, index);
    const date = type === 'text' ? dateText(raw, shown.get(index)?.[row]) : null;
    const cell = date ?? values.read(raw, type);
    cells[field] = cell;
    if (cell !== null && !isPrepared(raw)) isEmpty = false;
  }
  if (leadId === null && isEmpty) return null;
  const status = columns.status === null ? null : cellText(cellAt(grid, row, columns.status));
  return { leadId, cells, status: status === '' ? null : status, place: row };
}

/** Whether a cell shows something in rows, too, that nobody has used yet: an unchecked box, a formula. */
function isPrepared(cell: GridCell): boolean {
  return cell === false || isFormula(cell);
}

/** The last row that has anything of its own in a column of ours; the headings' when none has. */
export function lastRow({ grid, columns }: Look): number {
  const owned = [...ownedColumns(columns)];
  const isUnused = (row: number): boolean =>
    idText(grid, row, columns.id) === '' &&
    owned.every((column) => {
      const cell = cellAt(grid, row, column);
      return cell === null || isPrepared(cell);
    });
  let row = grid.length - 1;
  while (row > 0 && isUnused(row)) row--;
  return Math.max(row, 0);
}

/** A date in a text column as its reader sees it; null for anything else. */
function dateText(cell: GridCell, shown: SheetCell | undefined): string | null {
  return typeof cell === 'number' && typeof shown === 'string' && shown !== '' ? shown : null;
}

import { canonical } from '../../core/lead/value.ts';
import type { SheetCell } from './sheets-api.ts';

/** A formula and its value; null: not requested. */
export interface Formula {
  readonly formula: string;
  readonly shows: SheetCell;
}

export type GridCell = SheetCell | Formula;

/** A tab at one moment: rows from the first (headings), each ending with its last cell. */
export type Grid = readonly (readonly GridCell[])[];

/** 0-based. An empty text counts as no cell. */
export function cellAt(grid: Grid, row: number, column: number): GridCell {
  const cell = grid[row]?.[column] ?? null;
  return cell === '' ? null : cell;
}

export function isFormula(cell: GridCell): cell is Formula {
  return typeof cell === 'object' && cell !== null;
}

/** JSON rounds day numbers; less than a millisecond is no difference. */
const closeEnough = 1e-9;

/** Whether two cells hold the same; formulas by text. */
export function sameGridCell(a: GridCell, b: GridCell): boolean {
  if (isFormula(a) || isFormula(b)) return isFormula(a) && isFormula(b) && a.formula === b.formula;
  if (typeof a === 'string' && typeof b === 'string') return canonical(a) === canonical(b);
  if (typeof a === 'number' && typeof b === 'number') {
    return a === b || (Math.abs(a) >= 1 && Math.abs(a - b) <= closeEnough);
  }
  return (a === '' ? null : a) === (b === '' ? null : b);
}

/** Whether two cells may be one before and after its row moved: references in formulas move with it. */
export function maybeSameGridCell(a: GridCell, b: GridCell): boolean {
  return (isFormula(a) && isFormula(b)) || sameGridCell(a, b);
}

/** `unformatted` tells formulas from texts; undefined: it was not requested, and every leading `=` means a formula. */
export function gridCell(cell: SheetCell, unformatted: SheetCell | undefined): GridCell {
  if (typeof cell !== 'string' || !cell.startsWith('=')) return cell;
  if (unformatted === undefined) return { formula: cell, shows: null };
  return unformatted === cell ? cell : { formula: cell, shows: unformatted };
}

export function keyOf(cell: GridCell): string {
  if (isFormula(cell)) return `=${cell.formula}`;
  return JSON.stringify(typeof cell === 'string' ? canonical(cell) : cell);
}

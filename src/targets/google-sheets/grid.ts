import { canonical } from '../../core/lead/value.ts';
import type { SheetCell } from './sheets-api.ts';
import { cellName, columnLetters } from '../shared/cell-name.ts';

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

/** 0-based, ends exclusive; an absent end is open. */
export interface CellArea {
  readonly startRow: number;
  readonly endRow?: number;
  readonly startColumn: number;
  readonly endColumn?: number;
}

/** A tab in A1 notation, always quoted: a tab may be called `A1` or `Q4 2026`. */
export function quotedTab(tab: string): string {
  return `'${tab.replaceAll("'", "''")}'`;
}

/** Adjacent cells of one row in A1 notation, with the tab. */
export function rowRange(tab: string, row: number, column: number, width: number): string {
  const start = cellName(row, column);
  return `${quotedTab(tab)}!${width === 1 ? start : `${start}:${cellName(row, column + width - 1)}`}`;
}

/** Whole columns in A1 notation, with the tab. */
export function columnRange(tab: string, column: number): string {
  const letters = columnLetters(column);
  return `${quotedTab(tab)}!${letters}:${letters}`;
}

export function isWithin(area: CellArea, row: number, column: number): boolean {
  return (
    row >= area.startRow &&
    row < (area.endRow ?? Number.POSITIVE_INFINITY) &&
    column >= area.startColumn &&
    column < (area.endColumn ?? Number.POSITIVE_INFINITY)
  );
}

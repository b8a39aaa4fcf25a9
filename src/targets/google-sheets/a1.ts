import { cellName, columnLetters } from '../shared/cell-name.ts';

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

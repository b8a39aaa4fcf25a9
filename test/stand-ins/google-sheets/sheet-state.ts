import type { sheets_v4 } from '@googleapis/sheets';
import { invalid } from './api-fault.ts';
import type { CellError } from './cell-error.ts';

/** A formula as it was entered, with its `=`. */
export interface Formula {
  readonly formula: string;
}

/** What was entered into a cell; null: nothing. An empty text is nothing too. An error can be typed, or pasted as a value. */
export type Entered = string | number | boolean | Formula | CellError | null;

/** One cell. Never changed in place, so that a state can be put back. */
export interface Cell {
  readonly entered: Entered;
  readonly format: sheets_v4.Schema$CellFormat | null;
  readonly note: string | null;
  readonly validation: sheets_v4.Schema$DataValidationRule | null;
}

/** A developer metadata record without its place: it lies with what it belongs to, and so moves with it. */
export interface MetadataRecord {
  readonly id: number;
  readonly key: string;
  readonly value: string | null;
  readonly visibility: 'DOCUMENT' | 'PROJECT';
}

/** What rows and columns have besides cells. */
export interface DimensionEntry {
  readonly hidden: boolean;
  readonly pixelSize: number | null;
  readonly metadata: readonly MetadataRecord[];
}

export interface Row extends DimensionEntry {
  /** Ragged: cells at the end that were never touched are not there. */
  readonly cells: readonly (Cell | undefined)[];
}

/** Half-open, 0-based, within the grid or beyond it. */
export interface Area {
  readonly startRow: number;
  readonly endRow: number;
  readonly startColumn: number;
  readonly endColumn: number;
}

export interface Protection {
  readonly id: number;
  /** null: the whole sheet. */
  readonly area: Area | null;
  readonly unprotected: readonly Area[];
  readonly warningOnly: boolean;
  readonly description: string | null;
  /** Whether the service account may edit it. */
  readonly canEdit: boolean;
}

export interface Sheet {
  readonly id: number;
  title: string;
  hidden: boolean;
  frozenRows: number;
  frozenColumns: number;
  rows: Row[];
  /** Another copy of the state has the same list of rows: it must be copied before a change. */
  rowsShared: boolean;
  columns: readonly DimensionEntry[];
  metadata: readonly MetadataRecord[];
  protections: readonly Protection[];
  merges: readonly Area[];
}

/** One spreadsheet. Rows, cells and records are replaced, never changed: a copy costs next to nothing. */
export interface Spreadsheet {
  readonly id: string;
  title: string;
  locale: string;
  timeZone: string;
  trashed: boolean;
  /** What the service account may do with it: all, look only, nothing. */
  shared: boolean | 'reader';
  /** In the order of the tabs. */
  sheets: readonly Sheet[];
  metadata: readonly MetadataRecord[];
  /** Of all tabs together, empty ones included. */
  readonly mostCells: number;
  /** Who changed it last, as Drive tells it. */
  lastChange: { readonly by: string; readonly me: boolean; readonly at: number } | null;
  /** For the ids of tabs, records and protected ranges. */
  lastId: number;
}

export const emptyCell: Cell = { entered: null, format: null, note: null, validation: null };
export const plainColumn: DimensionEntry = { hidden: false, pixelSize: null, metadata: [] };
export const emptyRow: Row = { ...plainColumn, cells: [] };

/** https://support.google.com/drive/answer/37603: empty cells count. */
export const mostCells = 10_000_000;

export function createSheet(id: number, title: string, rowCount: number, columnCount: number): Sheet {
  return {
    id,
    title,
    hidden: false,
    frozenRows: 0,
    frozenColumns: 0,
    rows: Array.from({ length: rowCount }, () => emptyRow),
    rowsShared: false,
    columns: Array.from({ length: columnCount }, () => plainColumn),
    metadata: [],
    protections: [],
    merges: [],
  };
}

/** A copy that shares what is never changed. */
export function copySpreadsheet(state: Spreadsheet, id: string = state.id): Spreadsheet {
  for (const sheet of state.sheets) sheet.rowsShared = true;
  return { ...state, id, sheets: state.sheets.map((sheet) => ({ ...sheet })) };
}

/** Carries out all of `act` or nothing of it: when it throws, the state is as it was. */
export function atomically<T>(state: Spreadsheet, act: () => T): T {
  const before = copySpreadsheet(state);
  try {
    return act();
  } catch (error) {
    Object.assign(state, before);
    throw error;
  }
}

export function wholeSheet(sheet: Sheet): Area {
  return { startRow: 0, endRow: sheet.rows.length, startColumn: 0, endColumn: sheet.columns.length };
}

export function cellAt(sheet: Sheet, row: number, column: number): Cell {
  return sheet.rows[row]?.cells[column] ?? emptyCell;
}

/** Whether anything is in the cell, a format included. */
export function isBlank(cell: Cell | undefined): boolean {
  return cell === undefined || (cell.entered === null && !cell.format && !cell.note && !cell.validation);
}

/**
 * Changes cells of an area, which must lie within the grid. `change` gets each cell and gives what takes its place;
 * the same object leaves it.
 */
export function changeCells(
  sheet: Sheet,
  area: Area,
  change: (cell: Cell, row: number, column: number) => Cell,
): void {
  if (sheet.rowsShared) sheet.rows = sheet.rows.slice();
  sheet.rowsShared = false;
  const { rows } = sheet;
  for (let row = area.startRow; row < area.endRow; row++) {
    const old = rows[row] ?? emptyRow;
    let cells: (Cell | undefined)[] | null = null;
    for (let column = area.startColumn; column < area.endColumn; column++) {
      const cell = old.cells[column] ?? emptyCell;
      const next = change(cell, row, column);
      if (next === cell) continue;
      cells ??= old.cells.slice();
      // No holes: they would make each later read of the row slow.
      while (cells.length < column) cells.push(undefined);
      cells[column] = isBlank(next) ? undefined : next;
    }
    if (cells !== null) rows[row] = { ...old, cells };
  }
}

/** Makes one cell of an area: what all but its first hold is lost. Merges within it become part of it. */
export function mergeArea(sheet: Sheet, area: Area): void {
  if (area.endRow - area.startRow === 1 && area.endColumn - area.startColumn === 1) return;
  const others = withoutMerges(sheet, area);
  changeCells(sheet, area, (cell, row, column) =>
    row === area.startRow && column === area.startColumn ? cell : { ...cell, entered: null },
  );
  sheet.merges = [...others, area];
}

/** Makes single cells of what is merged within an area: what was lost stays lost. */
export function unmergeArea(sheet: Sheet, area: Area): void {
  sheet.merges = withoutMerges(sheet, area);
}

function withoutMerges(sheet: Sheet, area: Area): Area[] {
  const others = sheet.merges.filter((merge) => !contains(area, merge));
  if (others.some((merge) => intersects(merge, area)))
    throw invalid('You must select all cells in a merged range to merge or unmerge them.');
  return others;
}

/** The first cell of the merge that covers a cell; null: none does, or it is the first itself. */
export function mergedInto(sheet: Sheet, row: number, column: number): Area | null {
  const merge = sheet.merges.find((area) =>
    intersects(area, { startRow: row, endRow: row + 1, startColumn: column, endColumn: column + 1 }),
  );
  return merge === undefined || (merge.startRow === row && merge.startColumn === column) ? null : merge;
}

export function intersects(one: Area, other: Area): boolean {
  return (
    one.startRow < other.endRow &&
    other.startRow < one.endRow &&
    one.startColumn < other.endColumn &&
    other.startColumn < one.endColumn
  );
}

export function contains(outer: Area, inner: Area): boolean {
  return (
    outer.startRow <= inner.startRow &&
    outer.endRow >= inner.endRow &&
    outer.startColumn <= inner.startColumn &&
    outer.endColumn >= inner.endColumn
  );
}

/** All cells of the grids together, empty ones included. */
export function countCells(state: Spreadsheet): number {
  return state.sheets.reduce((sum, sheet) => sum + sheet.rows.length * sheet.columns.length, 0);
}

import type { sheets_v4 } from '@googleapis/sheets';
import { invalid } from './api-fault.ts';
import type { CellError } from './cell-error.ts';

/** A formula as it was entered, with its `=`. */
export interface Formula {
  readonly formula: string;
}

/** A cell's input; null or an empty text: none. An error can be typed, or pasted as a value. */
export type Entered = string | number | boolean | Formula | CellError | null;

/** One cell. Immutable, so that a state can be restored. */
export interface Cell {
  readonly entered: Entered;
  readonly format: sheets_v4.Schema$CellFormat | null;
  readonly note: string | null;
  readonly validation: sheets_v4.Schema$DataValidationRule | null;
}

/** A developer metadata record. It is stored with what it is attached to, and so moves with it. */
export interface MetadataRecord {
  readonly id: number;
  readonly key: string;
  readonly value: string | null;
  readonly visibility: 'DOCUMENT' | 'PROJECT';
}

/** Properties of a row or column besides its cells. */
export interface DimensionEntry {
  readonly hidden: boolean;
  readonly pixelSize: number | null;
  readonly metadata: readonly MetadataRecord[];
}

export interface Row extends DimensionEntry {
  /** Ragged: untouched cells at the end are absent. */
  readonly cells: readonly (Cell | undefined)[];
}

/** Half-open, 0-based; may exceed the grid. */
export interface Area {
  readonly startRow: number;
  readonly endRow: number;
  readonly startColumn: number;
  readonly endColumn: number;
}

export interface Protection {
  readonly id: number;
  /** Null: the whole sheet. */
  readonly area: Area | null;
  readonly unprotected: readonly Area[];
  readonly warningOnly: boolean;
  readonly description: string | null;
  /** Whether the service account may edit it. */
  readonly canEdit: boolean;
}

/** A range that is shown as a table. `footer`: its last row is one. */
export interface SheetTable {
  readonly id: string;
  readonly area: Area;
  readonly footer: boolean;
}

export interface BasicFilter {
  readonly area: Area;
  readonly specs: readonly sheets_v4.Schema$FilterSpec[];
  readonly sorted: readonly sheets_v4.Schema$SortSpec[];
}

export interface Sheet {
  readonly id: number;
  title: string;
  hidden: boolean;
  frozenRows: number;
  frozenColumns: number;
  rows: Row[];
  /** The list of rows is shared with another copy of the state: copy it before a change. */
  rowsShared: boolean;
  columns: readonly DimensionEntry[];
  metadata: readonly MetadataRecord[];
  protections: readonly Protection[];
  merges: readonly Area[];
  tables: readonly SheetTable[];
  filter: BasicFilter | null;
}

/** One spreadsheet. Rows, cells and records are immutable, so a copy costs little. */
export interface Spreadsheet {
  readonly id: string;
  title: string;
  locale: string;
  timeZone: string;
  trashed: boolean;
  /** The service account's access: everything, reading, none. */
  shared: boolean | 'reader';
  /** In tab order. */
  sheets: readonly Sheet[];
  metadata: readonly MetadataRecord[];
  /** Of all tabs, empty ones included. */
  readonly mostCells: number;
  /** The last editor, by Drive. */
  lastChange: { readonly by: string; readonly me: boolean; readonly at: number } | null;
  /** When it was changed (epoch ms), by anybody. */
  changes: readonly number[];
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
    tables: [],
    filter: null,
  };
}

/** A copy that shares everything immutable. */
export function copySpreadsheet(state: Spreadsheet, id: string = state.id): Spreadsheet {
  for (const sheet of state.sheets) sheet.rowsShared = true;
  return { ...state, id, sheets: state.sheets.map((sheet) => ({ ...sheet })) };
}

/** Carries out all of `act` or nothing: when it throws, the state is restored. */
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

/** Whether the cell has anything, even only a format. */
export function isBlank(cell: Cell | undefined): boolean {
  return cell === undefined || (cell.entered === null && !cell.format && !cell.note && !cell.validation);
}

/**
 * Changes the cells of an area within the grid. `change` returns a cell's replacement; the same object: no change.
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

/** Merges an area: all content but the first cell's is lost. Absorbs merges within it. */
export function mergeArea(sheet: Sheet, area: Area): void {
  if (area.endRow - area.startRow === 1 && area.endColumn - area.startColumn === 1) return;
  const others = withoutMerges(sheet, area);
  changeCells(sheet, area, (cell, row, column) =>
    row === area.startRow && column === area.startColumn ? cell : { ...cell, entered: null },
  );
  sheet.merges = [...others, area];
}

/** Splits the merged cells within an area; lost content stays lost. */
export function unmergeArea(sheet: Sheet, area: Area): void {
  sheet.merges = withoutMerges(sheet, area);
}

function withoutMerges(sheet: Sheet, area: Area): Area[] {
  const others = sheet.merges.filter((merge) => !contains(area, merge));
  if (others.some((merge) => intersects(merge, area)))
    throw invalid('You must select all cells in a merged range to merge or unmerge them.');
  return others;
}

/** The first cell of the merge that covers a cell; null: none, or the cell is that first one. */
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

/** The number of cells of all grids, empty ones included. */
export function countCells(state: Spreadsheet): number {
  return state.sheets.reduce((sum, sheet) => sum + sheet.rows.length * sheet.columns.length, 0);
}

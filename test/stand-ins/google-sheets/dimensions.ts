import { invalid } from './api-fault.ts';
import { followReferences, type Placement } from './formula-references.ts';
import {
  type Area,
  type Cell,
  countCells,
  type DimensionEntry,
  emptyRow,
  plainColumn,
  type Row,
  type Sheet,
  type Spreadsheet,
} from './sheet-state.ts';

export type Axis = 'ROWS' | 'COLUMNS';

/**
 * Inserts rows or columns before `at`. `inherit`: position (before the change) of the row or column whose formats and data
 * validation they inherit. Throws the 400 of a full spreadsheet.
 */
export function insertDimension(
  state: Spreadsheet,
  sheet: Sheet,
  axis: Axis,
  at: number,
  count: number,
  inherit: number | null,
): void {
  checkSize(state, sheet, axis, count);
  if (axis === 'ROWS') {
    const from = inherit === null ? undefined : sheet.rows[inherit];
    const row: Row = from === undefined ? emptyRow : { ...emptyRow, cells: from.cells.map(likeness) };
    sheet.rows = spliced(
      sheet.rows,
      at,
      0,
      Array.from({ length: count }, () => row),
    );
  } else {
    sheet.columns = spliced(
      sheet.columns,
      at,
      0,
      Array.from({ length: count }, () => plainColumn),
    );
    mapCells(sheet, (cells) => {
      const cell = inherit === null ? undefined : likeness(cells[inherit]);
      if (cells.length <= at && cell === undefined) return cells;
      const padded = cells.length < at ? [...cells, ...blanks(at - cells.length)] : cells;
      return spliced(
        padded,
        at,
        0,
        Array.from({ length: count }, () => cell),
      );
    });
  }
  if (at < frozen(sheet, axis)) setFrozen(sheet, axis, frozen(sheet, axis) + count);
  moveAreas(sheet, axis, (area) => ({
    start: area.start >= at ? area.start + count : area.start,
    end: area.end > at ? area.end + count : area.end,
  }));
  followReferences(state, sheet, axis, (index) => (index >= at ? index + count : index));
}

/** Appends rows or columns without formats. */
export function appendDimension(state: Spreadsheet, sheet: Sheet, axis: Axis, count: number): void {
  checkSize(state, sheet, axis, count);
  if (axis === 'ROWS') sheet.rows = [...sheet.rows, ...Array.from({ length: count }, () => emptyRow)];
  else sheet.columns = [...sheet.columns, ...Array.from({ length: count }, () => plainColumn)];
}

/** Deletes rows or columns with their records. At least one that is not frozen must remain. */
export function deleteDimension(
  state: Spreadsheet,
  sheet: Sheet,
  axis: Axis,
  start: number,
  end: number,
): void {
  const frozenNow = frozen(sheet, axis);
  const frozenLeft = frozenNow - Math.max(0, Math.min(end, frozenNow) - start);
  const left = sizeOf(sheet, axis) - (end - start);
  const what = axis === 'ROWS' ? 'rows' : 'columns';
  if (left === 0) throw invalid(`You can't delete all the ${what} on the sheet.`);
  if (left <= frozenLeft) throw invalid(`Sorry, it is not possible to delete all non-frozen ${what}.`);
  takeOut(sheet, axis, start, end);
  setFrozen(sheet, axis, frozenLeft);
  const place: Placement = (index) => {
    if (index < start) return index;
    return index < end ? null : index - (end - start);
  };
  moveAreas(sheet, axis, ({ start: from, end: to }) => ({
    start: from < start ? from : Math.max(start, from - (end - start)),
    end: to <= start ? to : Math.max(start, to - (end - start)),
  }));
  followReferences(state, sheet, axis, place);
}

/** Moves rows or columns with their records before `to` (position before the change). */
export function moveDimension(
  state: Spreadsheet,
  sheet: Sheet,
  axis: Axis,
  start: number,
  end: number,
  to: number,
): void {
  if (to >= start && to <= end) return;
  const order = Array.from({ length: sizeOf(sheet, axis) }, (_, index) => index);
  const moved = order.splice(start, end - start);
  const at = to > start ? to - (end - start) : to;
  const after = spliced(order, at, 0, moved);
  const placeOf = new Map(after.map((from, index) => [from, index]));
  if (axis === 'ROWS') sheet.rows = after.map((index) => sheet.rows[index] ?? emptyRow);
  else {
    sheet.columns = after.map((index) => sheet.columns[index] ?? plainColumn);
    mapCells(sheet, (cells) => after.map((index) => cells[index]));
  }
  // An area moves only as a whole; otherwise it keeps its place.
  moveAreas(sheet, axis, (area) => {
    if (area.start >= start && area.end <= end) {
      return { start: area.start - start + at, end: area.end - start + at };
    }
    if (area.start < end && area.end > start) return area;
    const first = placeOf.get(area.start) ?? area.start;
    return { start: first, end: (placeOf.get(area.end - 1) ?? area.end - 1) + 1 };
  });
  followReferences(state, sheet, axis, (index) => placeOf.get(index) ?? index);
}

export function sizeOf(sheet: Sheet, axis: Axis): number {
  return axis === 'ROWS' ? sheet.rows.length : sheet.columns.length;
}

/** Changes properties of rows or columns, such as visibility or records. */
export function changeEntries(
  sheet: Sheet,
  axis: Axis,
  start: number,
  end: number,
  change: (entry: DimensionEntry) => Partial<DimensionEntry>,
): void {
  const within = (index: number): boolean => index >= start && index < end;
  if (axis === 'ROWS') {
    sheet.rows = sheet.rows.map((row, index) => (within(index) ? { ...row, ...change(row) } : row));
  } else {
    sheet.columns = sheet.columns.map((one, index) => (within(index) ? { ...one, ...change(one) } : one));
  }
}

/** Throws the 400 of a spreadsheet with too many cells. */
function checkSize(state: Spreadsheet, sheet: Sheet, axis: Axis, count: number): void {
  const across = axis === 'ROWS' ? sheet.columns.length : sheet.rows.length;
  checkTotal(state, across * count);
}

/** Throws it for a number of additional cells. */
export function checkTotal(state: Spreadsheet, more: number): void {
  const { mostCells } = state;
  if (countCells(state) + more <= mostCells) return;
  throw invalid(
    `This action would increase the number of cells in the workbook above the limit of ${mostCells} cells.`,
  );
}

function takeOut(sheet: Sheet, axis: Axis, start: number, end: number): void {
  if (axis === 'ROWS') {
    sheet.rows = spliced(sheet.rows, start, end - start, []);
    return;
  }
  sheet.columns = spliced(sheet.columns, start, end - start, []);
  mapCells(sheet, (cells) => (cells.length <= start ? cells : spliced(cells, start, end - start, [])));
}

function mapCells(
  sheet: Sheet,
  map: (cells: readonly (Cell | undefined)[]) => readonly (Cell | undefined)[],
): void {
  sheet.rows = sheet.rows.map((row) => {
    if (row.cells.length === 0) return row;
    const cells = map(row.cells);
    return cells === row.cells ? row : { ...row, cells };
  });
}

/** What new rows and columns inherit from their neighbour: formats and validation, no content. */
function likeness(cell: Cell | undefined): Cell | undefined {
  if (cell === undefined || (cell.format === null && cell.validation === null)) return undefined;
  return { ...cell, entered: null, note: null };
}

function blanks(count: number): undefined[] {
  return Array.from({ length: count }, () => undefined);
}

function spliced<T>(list: readonly T[], at: number, out: number, put: readonly T[]): T[] {
  return list.slice(0, at).concat(put, list.slice(at + out));
}

function frozen(sheet: Sheet, axis: Axis): number {
  return axis === 'ROWS' ? sheet.frozenRows : sheet.frozenColumns;
}

function setFrozen(sheet: Sheet, axis: Axis, count: number): void {
  if (axis === 'ROWS') sheet.frozenRows = count;
  else sheet.frozenColumns = count;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function moveAreas(sheet: Sheet, axis: Axis, move: (span: Span) => Span): void {
  const moved = (area: Area): Area[] => {
    const rows = { start: area.startRow, end: area.endRow };
    const columns = { start: area.startColumn, end: area.endColumn };
    const span = move(axis === 'ROWS' ? rows : columns);
    if (span.start >= span.end) return [];
    if (axis === 'ROWS') return [{ ...area, startRow: span.start, endRow: span.end }];
    return [{ ...area, startColumn: span.start, endColumn: span.end }];
  };
  // A merge of one cell is none.
  sheet.merges = sheet.merges
    .flatMap(moved)
    .filter((area) => area.endRow - area.startRow > 1 || area.endColumn - area.startColumn > 1);
  sheet.tables = sheet.tables.flatMap((one) => moved(one.area).map((area) => ({ ...one, area })));
  const { filter } = sheet;
  if (filter !== null) [sheet.filter = null] = moved(filter.area).map((area) => ({ ...filter, area }));
  sheet.protections = sheet.protections.flatMap((one) => {
    const unprotected = one.unprotected.flatMap(moved);
    if (one.area === null) return [{ ...one, unprotected }];
    return moved(one.area).map((area) => ({ ...one, area, unprotected }));
  });
}

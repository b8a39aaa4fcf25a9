import { idKey } from '../../core/lead/lead-id.ts';
import { batchesBySize } from '../../core/lead/text-size.ts';
import { type Columns, ownedColumns, readColumns } from '../shared/columns.ts';
import { RowChanges, type RowWrite, rulesOf } from '../shared/row-changes.ts';
import type { RowChange, RowOutcome } from '../../ports/target.ts';
import { cellAt, type GridCell, isFormula, isWithin, rowRange } from './grid.ts';
import { cellName } from '../shared/cell-name.ts';
import { holdsError, showsNumbers, type TabSnapshot } from './tab-snapshot.ts';
import { idText, notStorableInSheets } from './cell-values.ts';
import { lastRow, presentRows } from './present-rows.ts';
import { isClosedAt, isProtected } from './tab-description.ts';
import type { SentRow } from './repair.ts';
import type { sheets_v4 } from '@googleapis/sheets';

export interface PlannedRow extends SentRow {
  readonly leadId: string;
  /** Whether its cells must be written together or not at all. */
  readonly isWhole: boolean;
}

export interface WritePlan {
  /** One per change, in order, provided that all of it is carried out. */
  readonly outcomes: readonly RowOutcome[];
  readonly updates: readonly PlannedRow[];
  /** New rows in order, for the place right below our last row. */
  readonly inserts: readonly PlannedRow[];
}

export function planWrite(
  snapshot: TabSnapshot,
  changes: readonly RowChange[],
  refused: { heldBy(change: RowChange): Extract<RowOutcome, { status: 'deferred' | 'held' }> | null },
): WritePlan {
  const { columns, grid, tab } = snapshot;
  const held = new Map(changes.map((change) => [change, refused.heldBy(change)]));
  const open = changes.filter((change) => held.get(change) === null);
  const read = readColumns(columns);
  const rowChanges = new RowChanges<number>(open, {
    ...rulesOf(columns),
    hasOwnCells: (row) =>
      (grid[row] ?? []).some(
        (cell, column) => !read.has(column) && cell !== null && cell !== '' && !isFormula(cell),
      ),
    notStorable: notStorableInSheets,
    notWritable: (write) => untouchable(write, snapshot),
  });
  for (const row of presentRows(snapshot)) rowChanges.see(row);
  const decisions = rowChanges.decide();

  const at = lastRow(snapshot) + 1;
  const closed = isClosedAt(tab, at);
  const inserts = decisions.appends.map(
    (added, index): PlannedRow => ({
      row: at + index,
      isNew: true,
      leadId: added.leadId.trim(),
      isWhole: true,
      cells: new Map([...filledCells(added, null, snapshot)].filter(([, cell]) => cell !== null)),
    }),
  );
  const appended = new Set(closed ? decisions.appends.map(({ leadId }) => idKey(leadId)) : []);
  const decided = new Map(open.map((change, index) => [change, decisions.outcomes[index]]));
  const outcomes = changes.map((change): RowOutcome => {
    const outcome = held.get(change) ?? decided.get(change);
    if (outcome === undefined) throw new Error('a change without outcome');
    const isBlocked = change.kind === 'append' && appended.has(idKey(change.leadId));
    if (!isBlocked || outcome.status !== 'done') return outcome;
    const message = `No row can be added at ${cellName(at, columns.id)}: a protected range covers it.`;
    return { key: change.key, status: 'held', code: 'target.cell-not-writable', message };
  });
  const updates = decisions.writes.flatMap((write) => plannedRow(write, snapshot));
  return { outcomes, updates, inserts: closed ? [] : inserts };
}

function plannedRow(write: RowWrite<number>, snapshot: TabSnapshot): PlannedRow[] {
  const cells = cellsOf(write, snapshot);
  if (cells.size === 0) return [];
  const shown = idText(snapshot.grid, write.place, snapshot.columns.id);
  // A row that loses only its id would look like a new one.
  const isWhole = write.remove || write.unlink !== null || write.leadId !== null;
  return [{ row: write.place, isNew: false, leadId: write.leadId?.trim() ?? shown, isWhole, cells }];
}

/** The cells of an existing row that differ. */
function cellsOf(write: RowWrite<number>, snapshot: TabSnapshot): Map<number, GridCell> {
  const { columns, grid } = snapshot;
  if (write.remove) {
    const filled = [...ownedColumns(columns)].filter((column) => cellAt(grid, write.place, column) !== null);
    return new Map(filled.map((column) => [column, null]));
  }
  const unlinked: [number, GridCell][] = write.unlink === null ? [] : [[columns.id, null]];
  return new Map([...unlinked, ...filledCells(write, write.place, snapshot)]);
}

/** The cells for an id, a status (each unless null) and values; row null: a new one. */
function filledCells(
  { leadId, values, status }: Pick<RowWrite<number>, 'leadId' | 'values' | 'status'>,
  row: number | null,
  snapshot: TabSnapshot,
): Map<number, GridCell> {
  const { columns } = snapshot;
  const cells = new Map<number, GridCell>();
  if (leadId !== null) cells.set(columns.id, leadId);
  if (status !== null && columns.status !== null) cells.set(columns.status, status === '' ? null : status);
  for (const [field, value] of Object.entries(values)) {
    const column = columns.fields.get(field);
    if (column === undefined) continue;
    const isNumber = showsNumbers(snapshot, row, column);
    cells.set(column.index, snapshot.values.write(value, column.type, isNumber));
  }
  return cells;
}

function untouchable(write: RowWrite<number>, snapshot: TabSnapshot): string | null {
  const { tab, grid } = snapshot;
  const row = write.place;
  for (const column of cellsOf(write, snapshot).keys()) {
    const at = cellName(row, column);
    if (isFormula(cellAt(grid, row, column))) return `The cell ${at} holds a formula.`;
    if (holdsError(snapshot.errors, row, column)) return `The cell ${at} holds an error.`;
    if (tab.merged.some((area) => isWithin(area, row, column)))
      return `The cell ${at} is merged with others.`;
    if (isProtected(tab, row, column)) return `The cell ${at} is protected.`;
  }
  return null;
}

export function fieldAt(columns: Columns, column: number): string | null {
  for (const [field, { index }] of columns.fields) if (index === column) return field;
  return null;
}

type Cells = ReadonlyMap<number, GridCell>;

/** Google advises at most 2 MB per request (usage limits); this leaves room for the envelope. */
const mostBytes = 1_900_000;

/** One value range per run of adjacent cells in a row; RAW: texts stay texts. Not for formulas. */
export function valueRanges(tab: string, rows: readonly SentRow[]): sheets_v4.Schema$ValueRange[] {
  return rows.flatMap(({ row, cells }) =>
    runsOf([...cells.keys()]).map(({ start, end }) => {
      // Null would keep the cell; an empty text empties it.
      const values = columnsOf(start, end).map((column) => cells.get(column) ?? '');
      return { range: rowRange(tab, row, start, end - start), values: [values] };
    }),
  );
}

/**
 * Inserts rows before row `at` (0-based) and fills our cells. One atomic request: what somebody types below the table
 * meanwhile moves down. `isFirst`: the row above is the header, whose format is not for rows.
 */
export function insertedRows(
  sheetId: number,
  at: number,
  rows: readonly Cells[],
  isFirst: boolean,
): sheets_v4.Schema$Request[] {
  const range = { sheetId, dimension: 'ROWS', startIndex: at, endIndex: at + rows.length };
  const columns = [...new Set(rows.flatMap((cells) => [...cells.keys()]))];
  return [{ insertDimension: { range, inheritFromBefore: !isFirst } }, ...filled(sheetId, at, columns, rows)];
}

export function writtenCells(sheetId: number, rows: readonly SentRow[]): sheets_v4.Schema$Request[] {
  return rows.flatMap(({ row, cells }) => filled(sheetId, row, [...cells.keys()], [cells]));
}

/** Fills these columns of adjacent rows from `rowIndex` on; a missing cell is emptied. */
function filled(
  sheetId: number,
  rowIndex: number,
  columns: readonly number[],
  rows: readonly Cells[],
): sheets_v4.Schema$Request[] {
  return runsOf(columns).map(({ start, end }) => ({
    updateCells: {
      start: { sheetId, rowIndex, columnIndex: start },
      rows: rows.map((cells) => ({
        values: columnsOf(start, end).map((column) => cellData(cells.get(column) ?? null)),
      })),
      fields: 'userEnteredValue',
    },
  }));
}

export function inBatches<T extends SentRow>(rows: readonly T[], most: number): Iterable<T[]> {
  return batchesBySize(rows, () => most, sizeOf, mostBytes);
}

/** Upper bound of a row's bytes in a request: each cell with its own range. */
function sizeOf({ cells }: SentRow): number {
  let bytes = 0;
  for (const cell of cells.values()) bytes += Buffer.byteLength(JSON.stringify(cell)) + 60;
  return bytes + 40;
}

function cellData(cell: GridCell): sheets_v4.Schema$CellData {
  if (cell === null || cell === '') return {};
  if (isFormula(cell)) return { userEnteredValue: { formulaValue: cell.formula } };
  if (typeof cell === 'number') return { userEnteredValue: { numberValue: cell } };
  if (typeof cell === 'boolean') return { userEnteredValue: { boolValue: cell } };
  return { userEnteredValue: { stringValue: cell } };
}

/** Runs of adjacent columns; ends exclusive. */
function runsOf(columns: readonly number[]): { start: number; end: number }[] {
  const runs: { start: number; end: number }[] = [];
  for (const column of columns.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && last.end === column) last.end++;
    else runs.push({ start: column, end: column + 1 });
  }
  return runs;
}

function columnsOf(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, at) => start + at);
}

import type { sheets_v4 } from '@googleapis/sheets';
import { rowRange } from './a1.ts';
import { type GridCell, isFormula } from './grid.ts';
import type { SentRow } from './verify.ts';

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

export function inBatches<T extends SentRow>(rows: readonly T[], most: number): T[][] {
  const batches: T[][] = [];
  let batch: T[] = [];
  let bytes = 0;
  for (const row of rows) {
    const size = sizeOf(row.cells);
    if (batch.length > 0 && (bytes + size > mostBytes || batch.length >= most)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += size;
  }
  return batch.length === 0 ? batches : [...batches, batch];
}

/** Upper bound of a row's bytes in a request: each cell with its own range. */
function sizeOf(cells: Cells): number {
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

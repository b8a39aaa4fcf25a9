import type { sheets_v4 } from '@googleapis/sheets';
import { parseA1, type SheetRange, exceedsGrid, withinGrid, writeA1 } from './a1-range.ts';
import { ApiFault, invalid } from './api-fault.ts';
import { enterValue, type InputOption, type Reading, renderValue, type Rendering } from './cell-values.ts';
import { Formulas } from './formulas.ts';
import { checkEditable, checkValidation } from './protection.ts';
import {
  type Area,
  atomically,
  changeCells,
  mergedInto,
  type Sheet,
  type Spreadsheet,
} from './sheet-state.ts';

/** The values of one range. `COLUMNS`: a list per column. */
export function readValues(
  state: Spreadsheet,
  range: string,
  rendering: Rendering,
  byColumns: boolean,
): sheets_v4.Schema$ValueRange {
  return readArea(state, parseA1(range, state), rendering, byColumns, new Formulas(state));
}

/** The values of several ranges, in order. */
export function readRanges(
  state: Spreadsheet,
  ranges: readonly string[],
  rendering: Rendering,
  byColumns: boolean,
): sheets_v4.Schema$BatchGetValuesResponse {
  const formulas = new Formulas(state);
  const parsed = ranges.map((range) => parseA1(range, state));
  const valueRanges = parsed.map((range) => readArea(state, range, rendering, byColumns, formulas));
  return { spreadsheetId: state.id, valueRanges };
}

function readArea(
  state: Spreadsheet,
  range: SheetRange,
  rendering: Rendering,
  byColumns: boolean,
  formulas: Formulas,
): sheets_v4.Schema$ValueRange {
  const { sheet } = range;
  const area = withinGrid(range);
  const rows: unknown[][] = [];
  for (let row = area.startRow; row < area.endRow; row++) {
    const cells = sheet.rows[row]?.cells ?? [];
    const end = Math.min(area.endColumn, cells.length);
    const values: unknown[] = [];
    for (let column = area.startColumn; column < end; column++) {
      values.push(renderValue(cells[column], sheet, rendering, formulas, state.locale) ?? '');
    }
    rows.push(values);
  }
  const values = withoutTail((byColumns ? transpose(rows) : rows).map(trimEnd));
  const majorDimension = byColumns ? 'COLUMNS' : 'ROWS';
  const answer = { range: writeA1(sheet, area), majorDimension };
  return values.length === 0 ? answer : { ...answer, values };
}

function trimEnd(list: readonly unknown[]): unknown[] {
  return list.slice(0, list.findLastIndex((value) => value !== '') + 1);
}

function withoutTail(lists: unknown[][]): unknown[][] {
  return lists.slice(0, lists.findLastIndex((list) => list.length > 0) + 1);
}

function transpose(rows: readonly (readonly unknown[])[]): unknown[][] {
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? ''));
}

/** What a write's reply includes besides counts. */
export interface Echo {
  readonly rendering: Rendering;
}

/** Writes all ranges or none. `null` keeps a cell, `""` empties it. */
export function writeRanges(
  state: Spreadsheet,
  data: readonly sheets_v4.Schema$ValueRange[],
  input: InputOption,
  reading: Reading,
  echo: Echo | null,
): sheets_v4.Schema$BatchUpdateValuesResponse {
  const responses = atomically(state, () =>
    data.map((range, index) => named(`data[${index}]`, () => writeRange(state, range, input, reading))),
  );
  const sum = (pick: (one: WriteCounts) => number): number =>
    responses.reduce((total, one) => total + pick(one), 0);
  return {
    spreadsheetId: state.id,
    totalUpdatedRows: sum((one) => one.updatedRows),
    totalUpdatedColumns: sum((one) => one.updatedColumns),
    totalUpdatedCells: sum((one) => one.updatedCells),
    totalUpdatedSheets: new Set(responses.map((one) => one.sheet)).size,
    responses: responses.map(({ sheet: _sheet, ...counts }) => withEcho(state, counts, echo)),
  };
}

/** Writes one range; `range` in the body, if any, must equal the one in the address. */
export function writeValues(
  state: Spreadsheet,
  range: sheets_v4.Schema$ValueRange,
  input: InputOption,
  reading: Reading,
  echo: Echo | null,
): sheets_v4.Schema$UpdateValuesResponse {
  const { sheet: _sheet, ...counts } = atomically(state, () => writeRange(state, range, input, reading));
  return withEcho(state, counts, echo);
}

function withEcho(
  state: Spreadsheet,
  counts: Omit<WriteCounts, 'sheet'>,
  echo: Echo | null,
): sheets_v4.Schema$UpdateValuesResponse {
  const answer = { spreadsheetId: state.id, ...counts };
  if (echo === null) return answer;
  return { ...answer, updatedData: readValues(state, counts.updatedRange, echo.rendering, false) };
}

/** Prefixes the message of a refused write with its range. */
export function named<T>(place: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof ApiFault) || error.status !== 400) throw error;
    throw new ApiFault(400, `Invalid ${place}: ${error.message}`, error.details);
  }
}

interface WriteCounts {
  readonly sheet: Sheet;
  readonly updatedRange: string;
  readonly updatedRows: number;
  readonly updatedColumns: number;
  readonly updatedCells: number;
}

function writeRange(
  state: Spreadsheet,
  range: sheets_v4.Schema$ValueRange,
  input: InputOption,
  reading: Reading,
): WriteCounts {
  const target = parseA1(range.range ?? '', state);
  const given: readonly (readonly unknown[])[] = range.values ?? [];
  const values = range.majorDimension === 'COLUMNS' ? transposeGiven(given) : given;
  const area = areaOfValues(target, values);
  const { sheet } = target;
  const guarded = sheet.protections.length > 0;
  let updatedCells = 0;
  changeCells(sheet, area, (cell, row, column) => {
    const value = values[row - area.startRow]?.[column - area.startColumn];
    if (value === null || value === undefined) return cell;
    if (guarded) {
      checkEditable(sheet, { startRow: row, endRow: row + 1, startColumn: column, endColumn: column + 1 });
    }
    updatedCells++;
    // Accepted and ignored: the cell shows nothing of its own.
    if (mergedInto(sheet, row, column) !== null) return cell;
    const next = enterValue(cell, value, input, reading);
    checkValidation(next, row, column);
    return next;
  });
  const updatedRange = writeA1(sheet, area);
  const [updatedRows, updatedColumns] = [area.endRow - area.startRow, area.endColumn - area.startColumn];
  return { sheet, updatedRange, updatedRows, updatedColumns, updatedCells };
}

function transposeGiven(given: readonly (readonly unknown[])[]): unknown[][] {
  const width = given.reduce((most, list) => Math.max(most, list.length), 0);
  return Array.from({ length: width }, (_, index) => given.map((list) => list[index] ?? null));
}

/** The area of values: from the range's first cell, neither beyond the range nor beyond the grid. */
function areaOfValues(target: SheetRange, values: readonly (readonly unknown[])[]): Area {
  const { sheet, area, single } = target;
  const width = values.reduce((most, row) => Math.max(most, row.length), 0);
  const needed = {
    ...area,
    endRow: area.startRow + Math.max(1, values.length),
    endColumn: area.startColumn + Math.max(1, width),
  };
  const reach = single ? needed : area;
  if (reach.endRow > sheet.rows.length || reach.endColumn > sheet.columns.length) {
    throw exceedsGrid(sheet, reach);
  }
  if (needed.endRow > reach.endRow || needed.endColumn > reach.endColumn) {
    const what =
      needed.endRow > reach.endRow ? `row [${reach.endRow + 1}]` : `column [${reach.endColumn + 1}]`;
    throw invalid(`Requested writing within range [${writeA1(sheet, area)}], but tried writing to ${what}`);
  }
  return needed;
}

/** Clears the values of ranges; formats, notes and validation stay. */
export function clearRanges(state: Spreadsheet, ranges: readonly string[]): string[] {
  return atomically(state, () =>
    ranges.map((text) => {
      const range = parseA1(text, state);
      const area = withinGrid(range);
      checkEditable(range.sheet, area);
      changeCells(range.sheet, area, (cell) => (cell.entered === null ? cell : { ...cell, entered: null }));
      return writeA1(range.sheet, area);
    }),
  );
}

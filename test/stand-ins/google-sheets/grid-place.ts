import type { sheets_v4 } from '@googleapis/sheets';
import { fromGridRange } from './a1-range.ts';
import { invalid } from './api-fault.ts';
import { type Axis, sizeOf } from './dimensions.ts';
import type { Area, Sheet, Spreadsheet } from './sheet-state.ts';

/** The tab with this id; absent means 0, as for every number in protocol buffers. */
export function sheetById(state: Spreadsheet, id: number | null | undefined): Sheet {
  const sheet = state.sheets.find((one) => one.id === (id ?? 0));
  if (sheet === undefined) throw invalid(`No grid with id: ${id ?? 0}`);
  return sheet;
}

/** A GridRange of a request; it must be within the grid. */
export function gridPlace(
  state: Spreadsheet,
  range: sheets_v4.Schema$GridRange | undefined,
): { sheet: Sheet; area: Area } {
  const sheet = sheetById(state, range?.sheetId);
  const area = fromGridRange(range ?? {}, sheet);
  const { startRow, endRow, startColumn, endColumn } = area;
  const empty = startRow >= endRow || startColumn >= endColumn || startRow < 0 || startColumn < 0;
  if (empty || endRow > sheet.rows.length || endColumn > sheet.columns.length) {
    const place = `rows [${startRow}, ${endRow}), columns [${startColumn}, ${endColumn})`;
    throw invalid(
      `The range is not within the grid: ${place}. ` +
        `Max rows: ${sheet.rows.length}, max columns: ${sheet.columns.length}`,
    );
  }
  return { sheet, area };
}

/** A DimensionRange of a request. `most`: the maximum of `startIndex`; open ends reach to the end. */
export function dimensionPlace(
  state: Spreadsheet,
  range: sheets_v4.Schema$DimensionRange | undefined,
): { sheet: Sheet; axis: Axis; start: number; end: number; size: number } {
  const sheet = sheetById(state, range?.sheetId);
  const axis = readAxis(range?.dimension);
  const size = sizeOf(sheet, axis);
  const start = range?.startIndex ?? 0;
  const end = range?.endIndex ?? size;
  if (start < 0) throw invalid(`range.startIndex[${start}] must not be negative`);
  if (end <= start) throw invalid(`range.endIndex[${end}] must be greater than range.startIndex[${start}]`);
  return { sheet, axis, start, end, size };
}

export function readAxis(dimension: string | null | undefined): Axis {
  if (dimension === 'ROWS' || dimension === 'COLUMNS') return dimension;
  throw invalid('No dimension specified.');
}

/** Rows or columns as an area of their sheet. */
export function areaOfDimension(sheet: Sheet, axis: Axis, start: number, end: number): Area {
  return axis === 'ROWS'
    ? { startRow: start, endRow: end, startColumn: 0, endColumn: sheet.columns.length }
    : { startRow: 0, endRow: sheet.rows.length, startColumn: start, endColumn: end };
}

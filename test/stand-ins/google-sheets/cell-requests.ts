import type { sheets_v4 } from '@googleapis/sheets';
import { invalid, notCarriedOut } from './api-fault.ts';
import { fromExtendedValue, toExtendedValue } from './cell-values.ts';
import { applyMask, type FieldMask } from './field-mask.ts';
import { gridPlace, sheetById } from './grid-place.ts';
import { checkEditable, checkValidation } from './protection.ts';
import {
  type Area,
  type Cell,
  changeCells,
  mergedInto,
  type Sheet,
  type Spreadsheet,
} from './sheet-state.ts';

/** Parts of a cell that the stand-in stores. */
const kept: readonly string[] = ['userEnteredValue', 'userEnteredFormat', 'note', 'dataValidation'];
/** Computed by Google: without effect in a request's mask. */
const outputOnly: readonly string[] = ['effectiveValue', 'effectiveFormat', 'formattedValue', 'hyperlink'];

/** Writes cells; cells of a range that no row covers are emptied. */
export function updateCells(
  state: Spreadsheet,
  request: sheets_v4.Schema$UpdateCellsRequest,
  mask: FieldMask,
): void {
  checkKept(mask);
  const rows = request.rows ?? [];
  const { sheet, area } = request.range ? gridPlace(state, request.range) : areaFrom(state, request, rows);
  for (const [index, row] of rows.entries()) {
    const width = row.values?.length ?? 0;
    if (index >= area.endRow - area.startRow) {
      throw invalid(
        `Attempting to write row: ${area.startRow + index}, beyond the last requested row of: ${area.endRow - 1}`,
      );
    }
    if (width > area.endColumn - area.startColumn) {
      throw invalid(
        `Attempting to write column: ${area.startColumn + width - 1}, ` +
          `beyond the last requested column of: ${area.endColumn - 1}`,
      );
    }
  }
  const covered = (row: number, column: number): sheets_v4.Schema$CellData | undefined =>
    rows[row - area.startRow]?.values?.[column - area.startColumn];
  changeArea(sheet, area, mask, (row, column) => {
    const data = covered(row, column);
    // With `start`, rows may be ragged: cells beyond them stay.
    return data === undefined && !request.range ? null : (data ?? {});
  });
}

function areaFrom(
  state: Spreadsheet,
  request: sheets_v4.Schema$UpdateCellsRequest,
  rows: readonly sheets_v4.Schema$RowData[],
): { sheet: Sheet; area: Area } {
  if (!request.start) throw invalid('Must specify one of start or range.');
  const sheet = sheetById(state, request.start.sheetId);
  const [startRow, startColumn] = [request.start.rowIndex ?? 0, request.start.columnIndex ?? 0];
  const width = rows.reduce((most, row) => Math.max(most, row.values?.length ?? 0), 0);
  const area = { startRow, endRow: startRow + rows.length, startColumn, endColumn: startColumn + width };
  if (area.endRow > sheet.rows.length) {
    throw invalid(
      `Attempting to write row: ${area.endRow - 1}, beyond the last requested row of: ${sheet.rows.length - 1}`,
    );
  }
  if (area.endColumn > sheet.columns.length) {
    throw invalid(
      `Attempting to write column: ${area.endColumn - 1}, ` +
        `beyond the last requested column of: ${sheet.columns.length - 1}`,
    );
  }
  return { sheet, area };
}

/** Writes the same into every cell of a range. */
export function repeatCell(
  state: Spreadsheet,
  request: sheets_v4.Schema$RepeatCellRequest,
  mask: FieldMask,
): void {
  checkKept(mask);
  const { sheet, area } = gridPlace(state, request.range);
  if (request.cell?.userEnteredValue?.formulaValue) {
    throw notCarriedOut('repeatCell of a formula, whose references would have to move');
  }
  changeArea(sheet, area, mask, () => request.cell ?? {});
}

function changeArea(
  sheet: Sheet,
  area: Area,
  mask: FieldMask,
  data: (row: number, column: number) => sheets_v4.Schema$CellData | null,
): void {
  checkEditable(sheet, area);
  const onlyValue = mask?.size === 1 && mask.get('userEnteredValue') === null;
  changeCells(sheet, area, (cell, row, column) => {
    const given = data(row, column);
    if (given === null) return cell;
    const next = onlyValue
      ? { ...cell, entered: fromExtendedValue(given.userEnteredValue) }
      : fromCellData(applyMask(toCellData(cell), given, mask));
    checkValidation(next, row, column);
    return mergedInto(sheet, row, column) === null ? next : { ...next, entered: null };
  });
}

/** Throws for parts of a cell that the stand-in does not store. */
function checkKept(mask: FieldMask): void {
  for (const name of mask?.keys() ?? []) {
    if (!kept.includes(name) && !outputOnly.includes(name))
      throw notCarriedOut(`a change of a cell's ${name}`);
  }
}

function toCellData(cell: Cell): sheets_v4.Schema$CellData {
  const userEnteredValue = toExtendedValue(cell.entered);
  return {
    ...(userEnteredValue !== null && { userEnteredValue }),
    ...(cell.format !== null && { userEnteredFormat: cell.format }),
    ...(cell.note !== null && { note: cell.note }),
    ...(cell.validation !== null && { dataValidation: cell.validation }),
  };
}

function fromCellData(data: sheets_v4.Schema$CellData): Cell {
  return {
    entered: fromExtendedValue(data.userEnteredValue),
    format: data.userEnteredFormat ?? null,
    note: data.note ?? null,
    validation: data.dataValidation ?? null,
  };
}

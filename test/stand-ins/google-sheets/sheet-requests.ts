import type { sheets_v4 } from '@googleapis/sheets';
import { findSheet } from './a1-range.ts';
import { invalid } from './api-fault.ts';
import { appendDimension, checkTotal, deleteDimension } from './dimensions.ts';
import { applyMask, type FieldMask } from './field-mask.ts';
import { describeSheetProperties } from './get-spreadsheet.ts';
import { sheetById } from './grid-place.ts';
import { checkEditable, checkSheetEditable } from './protection.ts';
import { createSheet, type Sheet, type Spreadsheet, wholeSheet } from './sheet-state.ts';

export function addSheet(
  state: Spreadsheet,
  properties: sheets_v4.Schema$SheetProperties = {},
): sheets_v4.Schema$SheetProperties {
  const { gridProperties: grid } = properties;
  const title = properties.title || nextTitle(state);
  checkTitle(state, title);
  const id = properties.sheetId ?? nextSheetId(state);
  if (id < 0) throw invalid(`Sheet id ${id} must not be negative.`);
  if (state.sheets.some((sheet) => sheet.id === id)) throw invalid(`A sheet with id ${id} already exists.`);
  const [rows, columns] = [grid?.rowCount ?? 1000, grid?.columnCount ?? 26];
  if (rows < 1 || columns < 1) throw invalid('A grid must have at least one row and one column.');
  checkTotal(state, rows * columns);
  const sheet = createSheet(id, title, rows, columns);
  freeze(sheet, grid?.frozenRowCount ?? 0, grid?.frozenColumnCount ?? 0);
  sheet.hidden = properties.hidden ?? false;
  const index = Math.min(properties.index ?? state.sheets.length, state.sheets.length);
  state.sheets = state.sheets.toSpliced(index, 0, sheet);
  return describeSheetProperties(sheet, index);
}

export function deleteSheet(state: Spreadsheet, sheetId: number | null | undefined): void {
  const sheet = sheetById(state, sheetId);
  checkEditable(sheet, wholeSheet(sheet));
  if (state.sheets.every((one) => one === sheet || one.hidden)) {
    throw invalid("You can't remove all the visible sheets in a document.");
  }
  state.sheets = state.sheets.filter((one) => one !== sheet);
}

/** Changes title, grid size, frozen rows and columns, position, visibility. */
export function updateSheet(
  state: Spreadsheet,
  properties: sheets_v4.Schema$SheetProperties,
  mask: FieldMask,
): void {
  const sheet = sheetById(state, properties.sheetId);
  checkSheetEditable(sheet);
  const index = state.sheets.indexOf(sheet);
  const next: sheets_v4.Schema$SheetProperties = applyMask(
    describeSheetProperties(sheet, index),
    properties,
    mask,
  );
  const title = next.title ?? '';
  if (title !== sheet.title) checkTitle(state, title, sheet);
  sheet.title = title;
  sheet.hidden = next.hidden ?? false;
  const grid = next.gridProperties ?? {};
  resize(state, sheet, 'ROWS', grid.rowCount ?? 0);
  resize(state, sheet, 'COLUMNS', grid.columnCount ?? 0);
  freeze(sheet, grid.frozenRowCount ?? 0, grid.frozenColumnCount ?? 0);
  const others = state.sheets.filter((one) => one !== sheet);
  // To the right, the index counts before the move.
  const wanted = next.index ?? 0;
  state.sheets = others.toSpliced(wanted > index ? wanted - 1 : wanted, 0, sheet);
  if (state.sheets.every((one) => one.hidden)) throw invalid("You can't hide all the sheets in a document.");
}

function resize(state: Spreadsheet, sheet: Sheet, axis: 'ROWS' | 'COLUMNS', wanted: number): void {
  const size = axis === 'ROWS' ? sheet.rows.length : sheet.columns.length;
  if (wanted < 1) throw invalid('A grid must have at least one row and one column.');
  if (wanted > size) appendDimension(state, sheet, axis, wanted - size);
  if (wanted < size) deleteDimension(state, sheet, axis, wanted, size);
}

function freeze(sheet: Sheet, rows: number, columns: number): void {
  if (rows >= sheet.rows.length || columns >= sheet.columns.length) {
    throw invalid("You can't freeze all visible rows or columns on the sheet.");
  }
  sheet.frozenRows = rows;
  sheet.frozenColumns = columns;
}

export function checkTitle(state: Spreadsheet, title: string, self?: Sheet): void {
  if (title === '') throw invalid('The sheet name cannot be empty.');
  const other = findSheet({ ...state, sheets: state.sheets.filter((sheet) => sheet !== self) }, title);
  if (other !== undefined) {
    throw invalid(`A sheet with the name "${title}" already exists. Please enter another name.`);
  }
}

function nextTitle(state: Spreadsheet): string {
  let number = state.sheets.length + 1;
  while (findSheet(state, `Sheet${number}`) !== undefined) number++;
  return `Sheet${number}`;
}

function nextSheetId(state: Spreadsheet): number {
  do state.lastId++;
  while (state.sheets.some((sheet) => sheet.id === state.lastId));
  return state.lastId;
}

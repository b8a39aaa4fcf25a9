import type { sheets_v4 } from '@googleapis/sheets';
import { parseA1, toGridRange, withinGrid } from './a1-range.ts';
import { showCell, toExtendedValue } from './cell-values.ts';
import { type FieldMask, selects } from './field-mask.ts';
import { Formulas } from './formulas.ts';
import { describeRecord, type MetadataPlace } from './metadata.ts';
import {
  type Area,
  type BasicFilter,
  type Cell,
  type DimensionEntry,
  intersects,
  isBlank,
  type MetadataRecord,
  type Protection,
  type Sheet,
  type SheetTable,
  type Spreadsheet,
  wholeSheet,
} from './sheet-state.ts';

/**
 * The reply of `spreadsheets.get` before pruning; parts outside the mask are not built. With ranges: only their sheets and
 * cells.
 */
export function describeSpreadsheet(
  state: Spreadsheet,
  ranges: readonly string[],
  mask: FieldMask,
  withGrid: boolean,
): sheets_v4.Schema$Spreadsheet {
  const parsed = ranges
    .map((range) => parseA1(range, state))
    .map((one) => ({ ...one, area: withinGrid(one) }));
  const formulas = new Formulas(state);
  const wantsData = withGrid && selects(mask, 'sheets', 'data');
  const sheets = state.sheets.flatMap((sheet, index) => {
    const own = parsed.filter((one) => one.sheet === sheet).map((one) => one.area);
    if (parsed.length > 0 && own.length === 0) return [];
    const areas = parsed.length > 0 ? own : [wholeSheet(sheet)];
    const data = wantsData ? { data: areas.map((area) => gridData(state, sheet, area, formulas, mask)) } : {};
    return [{ ...describeSheet(sheet, index, areas), ...data }];
  });
  return {
    spreadsheetId: state.id,
    properties: {
      title: state.title,
      locale: state.locale,
      autoRecalc: 'ON_CHANGE',
      timeZone: state.timeZone,
      defaultFormat: {},
    },
    sheets,
    ...records(state.metadata, { kind: 'spreadsheet' }),
    spreadsheetUrl: `https://docs.google.com/spreadsheets/d/${state.id}/edit`,
  };
}

function describeSheet(sheet: Sheet, index: number, areas: readonly Area[]): sheets_v4.Schema$Sheet {
  const merges = sheet.merges.filter((merge) => areas.some((area) => intersects(area, merge)));
  const protectedRanges = sheet.protections.map((one) => describeProtection(sheet, one));
  return {
    properties: describeSheetProperties(sheet, index),
    ...(merges.length > 0 && { merges: merges.map((area) => toGridRange(sheet, area)) }),
    ...(protectedRanges.length > 0 && { protectedRanges }),
    ...records(sheet.metadata, { kind: 'sheet', sheet }),
    ...(sheet.tables.length > 0 && { tables: sheet.tables.map((table) => describeTable(sheet, table)) }),
    ...(sheet.filter !== null && { basicFilter: describeFilter(sheet, sheet.filter) }),
  };
}

function describeTable(sheet: Sheet, { id, area, footer }: SheetTable): sheets_v4.Schema$Table {
  const rowsProperties = footer ? { footerColorStyle: { rgbColor: {} } } : {};
  return { tableId: id, name: `Table_${id}`, range: toGridRange(sheet, area), rowsProperties };
}

function describeFilter(sheet: Sheet, { area, specs, sorted }: BasicFilter): sheets_v4.Schema$BasicFilter {
  return {
    range: toGridRange(sheet, area),
    ...(specs.length > 0 && { filterSpecs: [...specs] }),
    ...(sorted.length > 0 && { sortSpecs: [...sorted] }),
  };
}

export function describeSheetProperties(sheet: Sheet, index: number): sheets_v4.Schema$SheetProperties {
  return {
    sheetId: sheet.id,
    title: sheet.title,
    index,
    sheetType: 'GRID',
    gridProperties: {
      rowCount: sheet.rows.length,
      columnCount: sheet.columns.length,
      ...(sheet.frozenRows > 0 && { frozenRowCount: sheet.frozenRows }),
      ...(sheet.frozenColumns > 0 && { frozenColumnCount: sheet.frozenColumns }),
    },
    ...(sheet.hidden && { hidden: true }),
  };
}

export function describeProtection(sheet: Sheet, one: Protection): sheets_v4.Schema$ProtectedRange {
  const unprotectedRanges = one.unprotected.map((area) => toGridRange(sheet, area));
  return {
    protectedRangeId: one.id,
    range: toGridRange(sheet, one.area),
    ...(one.description !== null && { description: one.description }),
    ...(one.warningOnly && { warningOnly: true }),
    ...(one.canEdit && { requestingUserCanEdit: true }),
    ...(unprotectedRanges.length > 0 && { unprotectedRanges }),
  };
}

function gridData(
  state: Spreadsheet,
  sheet: Sheet,
  area: Area,
  formulas: Formulas,
  mask: FieldMask,
): sheets_v4.Schema$GridData {
  const wants = (part: string): boolean => selects(mask, 'sheets', 'data', part);
  const rows = sheet.rows.slice(area.startRow, area.endRow);
  const rowData = rows.map((row) => {
    const cells = row.cells.slice(area.startColumn, area.endColumn);
    const used = cells.slice(0, cells.findLastIndex((cell) => !isBlank(cell)) + 1);
    if (used.length === 0) return {};
    return { values: used.map((cell) => describeCell(cell, sheet, formulas, state.locale)) };
  });
  const used = rowData.slice(0, rowData.findLastIndex((row) => row.values !== undefined) + 1);
  const columns = sheet.columns.slice(area.startColumn, area.endColumn);
  return {
    ...(area.startRow > 0 && { startRow: area.startRow }),
    ...(area.startColumn > 0 && { startColumn: area.startColumn }),
    ...(wants('rowData') && used.length > 0 && { rowData: used }),
    ...(wants('rowMetadata') && {
      rowMetadata: rows.map((row, at) => describeEntry(row, sheet, 'ROWS', area.startRow + at)),
    }),
    ...(wants('columnMetadata') && {
      columnMetadata: columns.map((one, at) => describeEntry(one, sheet, 'COLUMNS', area.startColumn + at)),
    }),
  };
}

function describeCell(
  cell: Cell | undefined,
  sheet: Sheet,
  formulas: Formulas,
  locale: string,
): sheets_v4.Schema$CellData {
  if (cell === undefined || isBlank(cell)) return {};
  const effective = formulas.valueOf(cell, sheet);
  const entered = toExtendedValue(cell.entered);
  const effectiveValue = toExtendedValue(effective);
  return {
    ...(entered !== null && { userEnteredValue: entered }),
    ...(effectiveValue !== null && { effectiveValue }),
    ...(entered !== null && { formattedValue: showCell(cell, sheet, formulas, locale) }),
    ...(cell.format !== null && { userEnteredFormat: cell.format }),
    effectiveFormat: cell.format ?? {},
    ...(cell.note !== null && { note: cell.note }),
    ...(cell.validation !== null && { dataValidation: cell.validation }),
  };
}

function describeEntry(
  entry: DimensionEntry,
  sheet: Sheet,
  axis: 'ROWS' | 'COLUMNS',
  index: number,
): sheets_v4.Schema$DimensionProperties {
  return {
    pixelSize: entry.pixelSize ?? (axis === 'ROWS' ? 21 : 100),
    ...(entry.hidden && { hiddenByUser: true }),
    ...records(entry.metadata, { kind: axis, sheet, index }),
  };
}

function records(
  metadata: readonly MetadataRecord[],
  place: MetadataPlace,
): { developerMetadata?: sheets_v4.Schema$DeveloperMetadata[] } {
  return metadata.length === 0
    ? {}
    : { developerMetadata: metadata.map((record) => describeRecord(record, place)) };
}

import type { sheets_v4 } from '@googleapis/sheets';
import { ApiFault, invalid, notCarriedOut } from './api-fault.ts';
import { repeatCell, updateCells } from './cell-requests.ts';
import {
  appendDimension,
  changeEntries,
  deleteDimension,
  insertDimension,
  moveDimension,
} from './dimensions.ts';
import { Discovery } from './discovery.ts';
import { type FieldMask, parseFieldMask, selects } from './field-mask.ts';
import { areaOfDimension, dimensionPlace, gridPlace, readAxis, sheetById } from './grid-place.ts';
import { localeRules } from './locale-rules.ts';
import { createRecord, deleteRecords, updateRecords } from './metadata.ts';
import { checkEditable } from './protection.ts';
import { addProtection, deleteProtection } from './protection-requests.ts';
import { requestKinds } from './request-kinds.ts';
import { addSheet, deleteSheet, updateSheet } from './sheet-requests.ts';
import { atomically, changeCells, mergeArea, type Spreadsheet } from './sheet-state.ts';
import { sortArea } from './sort-range.ts';
import { named } from './values-requests.ts';

/** Google: "Cannot exceed 100000 requests in a single batch." */
const mostRequests = 100_000;

/** Carries out all requests in order, or none. */
export function batchUpdate(
  state: Spreadsheet,
  requests: readonly sheets_v4.Schema$Request[],
): sheets_v4.Schema$Response[] {
  if (requests.length === 0) throw invalid('Must specify at least one request.');
  if (requests.length > mostRequests) {
    throw invalid(`Invalid requests: Cannot exceed ${mostRequests} requests in a single batch.`);
  }
  return atomically(state, () =>
    requests.map((request, index) => {
      const kinds = Object.entries(request).flatMap(([name, body]) => (body === null ? [] : [name]));
      const [kind = ''] = kinds;
      if (kinds.length === 0) throw invalid(`Invalid requests[${index}]: No request set.`);
      if (kinds.length > 1) {
        const message = `oneof field 'kind' is already set. Cannot set '${kinds[1]}'`;
        throw new ApiFault(400, `Invalid value at 'requests[${index}]' (oneof), ${message}`);
      }
      if (!requestKinds.has(kind)) throw notCarriedOut(`requests of the kind ${kind}`);
      return named(`requests[${index}].${kind}`, () => carryOut(state, request));
    }),
  );
}

function carryOut(state: Spreadsheet, request: sheets_v4.Schema$Request): sheets_v4.Schema$Response {
  if (request.addSheet) return { addSheet: { properties: addSheet(state, request.addSheet.properties) } };
  if (request.addProtectedRange) {
    const protectedRange = addProtection(state, request.addProtectedRange.protectedRange);
    return { addProtectedRange: { protectedRange } };
  }
  if (request.createDeveloperMetadata) {
    const developerMetadata = createRecord(state, request.createDeveloperMetadata.developerMetadata);
    return { createDeveloperMetadata: { developerMetadata } };
  }
  if (request.deleteDeveloperMetadata) {
    const deleted = deleteRecords(state, request.deleteDeveloperMetadata.dataFilter);
    return { deleteDeveloperMetadata: { deletedDeveloperMetadata: deleted } };
  }
  if (request.updateDeveloperMetadata) {
    const { dataFilters, developerMetadata, fields } = request.updateDeveloperMetadata;
    const mask = readMask(fields, 'DeveloperMetadata');
    const names = (name: string): boolean => selects(mask, name);
    const changed = updateRecords(state, dataFilters ?? [], developerMetadata ?? {}, names);
    return { updateDeveloperMetadata: { developerMetadata: changed } };
  }
  if (request.deleteSheet) deleteSheet(state, request.deleteSheet.sheetId);
  else if (request.updateSheetProperties) {
    const { properties, fields } = request.updateSheetProperties;
    updateSheet(state, properties ?? {}, readMask(fields, 'SheetProperties'));
  } else if (request.updateSpreadsheetProperties) {
    const { properties, fields } = request.updateSpreadsheetProperties;
    updateProperties(state, properties ?? {}, readMask(fields, 'SpreadsheetProperties'));
  } else if (request.deleteProtectedRange) {
    deleteProtection(state, request.deleteProtectedRange.protectedRangeId);
  } else if (request.updateCells) {
    updateCells(state, request.updateCells, readMask(request.updateCells.fields, 'CellData'));
  } else if (request.repeatCell) {
    repeatCell(state, request.repeatCell, readMask(request.repeatCell.fields, 'CellData'));
  } else if (request.setDataValidation) setValidation(state, request.setDataValidation);
  else if (request.setBasicFilter) setFilter(state, request.setBasicFilter);
  else if (request.updateTable) changeTable(state, request.updateTable);
  else if (request.sortRange) sort(state, request.sortRange);
  else if (request.mergeCells) merge(state, request.mergeCells);
  else changeDimension(state, request);
  return {};
}

function changeDimension(state: Spreadsheet, request: sheets_v4.Schema$Request): void {
  if (request.insertDimension) insert(state, request.insertDimension);
  else if (request.appendDimension) {
    const { sheetId, dimension, length } = request.appendDimension;
    if ((length ?? 0) < 1) throw invalid('length must be at least 1.');
    appendDimension(state, sheetById(state, sheetId), readAxis(dimension), length ?? 0);
  } else if (request.deleteDimension) {
    const { sheet, axis, start, end, size } = dimensionPlace(state, request.deleteDimension.range);
    if (end > size) throw invalid(`range.endIndex[${end}] must be <= ${size}`);
    checkEditable(sheet, areaOfDimension(sheet, axis, start, end));
    deleteDimension(state, sheet, axis, start, end);
  } else if (request.moveDimension) {
    const { sheet, axis, start, end, size } = dimensionPlace(state, request.moveDimension.source);
    const to = request.moveDimension.destinationIndex ?? 0;
    if (end > size || to > size) throw invalid(`The rows or columns are not within the grid of ${size}.`);
    checkEditable(sheet, areaOfDimension(sheet, axis, Math.min(start, to), Math.max(end, to)));
    moveDimension(state, sheet, axis, start, end, to);
  } else if (request.updateDimensionProperties) {
    const { properties, fields, range } = request.updateDimensionProperties;
    const mask = readMask(fields, 'DimensionProperties');
    const { sheet, axis, start, end } = dimensionPlace(state, range);
    checkEditable(sheet, areaOfDimension(sheet, axis, start, end));
    changeEntries(sheet, axis, start, end, () => ({
      ...(selects(mask, 'hiddenByUser') && { hidden: properties?.hiddenByUser ?? false }),
      ...(selects(mask, 'pixelSize') && { pixelSize: properties?.pixelSize ?? null }),
    }));
  }
}

/** The mask of an update, which must select something in the schema. */
function readMask(fields: string | null | undefined, schemaName: string): FieldMask {
  if (!fields) {
    throw invalid("At least one field must be listed in 'fields'. (Use '*' to indicate all fields.)");
  }
  const mask = parseFieldMask(fields);
  Discovery.load().checkMask(schemaName, mask);
  return mask;
}

function updateProperties(
  state: Spreadsheet,
  properties: sheets_v4.Schema$SpreadsheetProperties,
  mask: FieldMask,
): void {
  for (const name of mask?.keys() ?? []) {
    if (!['title', 'locale', 'timeZone'].includes(name)) throw notCarriedOut(`a change of ${name}`);
  }
  if (selects(mask, 'timeZone') && !isKnown(() => new Intl.DateTimeFormat('en', timeZoneOf(properties)))) {
    throw invalid(`Invalid time zone: ${properties.timeZone}`);
  }
  if (selects(mask, 'locale') && !isKnown(() => localeRules(properties.locale ?? ''))) {
    throw invalid(`Unsupported locale: ${properties.locale}`);
  }
  if (selects(mask, 'title')) state.title = properties.title ?? '';
  if (selects(mask, 'locale')) state.locale = properties.locale ?? '';
  if (selects(mask, 'timeZone')) state.timeZone = properties.timeZone ?? '';
}

function timeZoneOf({ timeZone }: sheets_v4.Schema$SpreadsheetProperties): { timeZone: string } {
  return { timeZone: timeZone ?? '' };
}

/** Intl throws a RangeError for unknown locales and time zones. */
function isKnown(ask: () => unknown): boolean {
  try {
    return Boolean(ask());
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * At the top, new rows cannot inherit from the row before; at the end they can inherit from no other (gspread's
 * documentation of `insert_rows`; Google's does not say).
 */
function insert(state: Spreadsheet, request: sheets_v4.Schema$InsertDimensionRequest): void {
  const { sheet, axis, start, end, size } = dimensionPlace(state, request.range);
  const before = request.inheritFromBefore === true;
  if (start === 0 && before) throw invalid('inheritFromBefore cannot be set at the beginning of a sheet.');
  if (start > size || (start === size && !before)) {
    throw invalid(
      `range.startIndex[${start}] must be less than ${size}, or inheritFromBefore set at the end`,
    );
  }
  const area = areaOfDimension(sheet, axis, start - 1, start + 1);
  // Refused inside a protected range, allowed at its edges.
  const split = sheet.protections.filter(({ area: own }) => {
    if (own === null) return true;
    return axis === 'ROWS'
      ? own.startRow < start && own.endRow > start
      : own.startColumn < start && own.endColumn > start;
  });
  if (split.length > 0) checkEditable({ ...sheet, protections: split }, area);
  insertDimension(state, sheet, axis, start, end - start, before ? start - 1 : start);
}

function setValidation(state: Spreadsheet, request: sheets_v4.Schema$SetDataValidationRequest): void {
  const { sheet, area } = gridPlace(state, request.range);
  checkEditable(sheet, area);
  changeCells(sheet, area, (cell) => ({ ...cell, validation: request.rule ?? null }));
}

function setFilter(state: Spreadsheet, { filter = {} }: sheets_v4.Schema$SetBasicFilterRequest): void {
  if (filter.tableId) throw notCarriedOut('the filter of a table');
  if ((filter.sortSpecs ?? []).length > 0) throw notCarriedOut('a filter that sorts');
  const { sheet, area } = gridPlace(state, filter.range);
  sheet.filter = { area, specs: filter.filterSpecs ?? [], sorted: [] };
}

function changeTable(state: Spreadsheet, { table, fields }: sheets_v4.Schema$UpdateTableRequest): void {
  if (fields !== 'range') throw notCarriedOut(`a change of a table's ${fields}`);
  const sheet = state.sheets.find(({ tables }) => tables.some(({ id }) => id === table?.tableId));
  if (sheet === undefined) throw invalid(`No table with id: ${table?.tableId}`);
  const { area } = gridPlace(state, table?.range);
  sheet.tables = sheet.tables.map((one) => (one.id === table?.tableId ? { ...one, area } : one));
}

function sort(state: Spreadsheet, request: sheets_v4.Schema$SortRangeRequest): void {
  const { sheet, area } = gridPlace(state, request.range);
  checkEditable(sheet, area);
  const specs = request.sortSpecs ?? [];
  if (specs.length === 0) throw invalid('Must specify at least one sort spec.');
  const keys = specs.map((spec) => ({
    column: spec.dimensionIndex ?? 0,
    descending: spec.sortOrder === 'DESCENDING',
  }));
  if (keys.some(({ column }) => column < area.startColumn || column >= area.endColumn)) {
    throw invalid('The dimensionIndex of a sort spec must be within the range.');
  }
  sortArea(state, sheet, area, keys);
}

function merge(state: Spreadsheet, request: sheets_v4.Schema$MergeCellsRequest): void {
  if (request.mergeType !== 'MERGE_ALL') throw notCarriedOut(`merges of the kind ${request.mergeType}`);
  const { sheet, area } = gridPlace(state, request.range);
  checkEditable(sheet, area);
  mergeArea(sheet, area);
}

import type { sheets_v4 } from '@googleapis/sheets';
import { invalid, notCarriedOut } from './api-fault.ts';
import { describeProtection } from './get-spreadsheet.ts';
import { gridPlace, sheetById } from './grid-place.ts';
import type { Protection, Spreadsheet } from './sheet-state.ts';

/** Protects a range in the name of the service account, which may still edit it. */
export function addProtection(
  state: Spreadsheet,
  wanted: sheets_v4.Schema$ProtectedRange = {},
): sheets_v4.Schema$ProtectedRange {
  if (wanted.namedRangeId || wanted.tableId) throw notCarriedOut('protected ranges by name or table');
  const { range } = wanted;
  const sheet = sheetById(state, range?.sheetId);
  const sides = [range?.startRowIndex, range?.endRowIndex, range?.startColumnIndex, range?.endColumnIndex];
  const whole = sides.every((side) => side === undefined || side === null);
  const one: Protection = {
    id: wanted.protectedRangeId ?? ++state.lastId,
    area: whole ? null : gridPlace(state, range).area,
    unprotected: (wanted.unprotectedRanges ?? []).map((free) => gridPlace(state, free).area),
    warningOnly: wanted.warningOnly === true,
    description: wanted.description ?? null,
    canEdit: true,
  };
  if (one.warningOnly && wanted.editors) throw invalid('A warning-only protected range cannot have editors.');
  sheet.protections = [...sheet.protections, one];
  return describeProtection(sheet, one);
}

export function deleteProtection(state: Spreadsheet, id: number | null | undefined): void {
  const sheet = state.sheets.find((each) => each.protections.some((one) => one.id === id));
  if (sheet === undefined) throw invalid(`No protected range with id: ${id}`);
  const one = sheet.protections.find((each) => each.id === id);
  if (one !== undefined && !one.canEdit) {
    throw invalid('You are trying to edit a protected cell or object.');
  }
  sheet.protections = sheet.protections.filter((each) => each !== one);
}

import { columnLetters } from './a1-range.ts';
import { invalid } from './api-fault.ts';
import { type Area, type Cell, contains, intersects, type Protection, type Sheet } from './sheet-state.ts';

const refusal =
  'You are trying to edit a protected cell or object. Please contact the spreadsheet owner to remove protection ' +
  'if you need to edit.';

/** Throws Google's 400 unless the service account may edit the whole area. */
export function checkEditable(sheet: Sheet, area: Area): void {
  if (sheet.protections.some((one) => forbids(one, area))) throw invalid(refusal);
}

/** Throws it unless the service account may delete and rename the tab. */
export function checkSheetEditable(sheet: Sheet): void {
  if (sheet.protections.some((one) => one.area === null && !one.canEdit && !one.warningOnly)) {
    throw invalid(refusal);
  }
}

function forbids(one: Protection, area: Area): boolean {
  if (one.canEdit || one.warningOnly) return false;
  if (one.area !== null && !intersects(one.area, area)) return false;
  return !one.unprotected.some((free) => contains(free, area));
}

/** Throws when strict data validation does not list the input. */
export function checkValidation(cell: Cell, row: number, column: number): void {
  const { validation, entered } = cell;
  if (validation?.strict !== true || entered === null || typeof entered === 'object') return;
  if (validation.condition?.type !== 'ONE_OF_LIST') return;
  const allowed = validation.condition.values?.map((value) => value.userEnteredValue) ?? [];
  if (allowed.includes(typeof entered === 'boolean' ? String(entered).toUpperCase() : String(entered)))
    return;
  const place = columnLetters(column) + String(row + 1);
  throw invalid(`The data you entered in cell ${place} violates the data validation rules set on this cell.`);
}

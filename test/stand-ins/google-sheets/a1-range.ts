import type { sheets_v4 } from '@googleapis/sheets';
import { invalid } from './api-fault.ts';
import type { Area, Sheet, Spreadsheet } from './sheet-state.ts';

/** A requested range: may exceed the grid. Open ends reach to the end of the grid. */
export interface SheetRange {
  readonly sheet: Sheet;
  readonly area: Area;
  /** One cell, such as `A5`: a write may extend to the right and down. */
  readonly single: boolean;
}

const a1 = /^\$?([A-Za-z]{1,3})?\$?([1-9]\d{0,9})?(?::\$?([A-Za-z]{1,3})?\$?([1-9]\d{0,9})?)?$/;

/**
 * A range in A1 notation: `Tab!A1:C`, `'My tab'!2:3`, `Tab`, `A1`. Default: the first tab. Throws Google's 400 `Unable to
 * parse range` for a missing tab or an invalid range.
 */
export function parseA1(text: string, state: Spreadsheet): SheetRange {
  const whole = findSheet(state, unquoteTitle(text));
  if (whole !== undefined) return { sheet: whole, area: areaOf(whole, ''), single: false };
  const bang = text.lastIndexOf('!');
  const sheet = bang === -1 ? state.sheets[0] : findSheet(state, unquoteTitle(text.slice(0, bang)));
  const cells = text.slice(bang + 1);
  if (sheet === undefined || cells === '' || !a1.test(cells)) {
    throw invalid(`Unable to parse range: ${text}`);
  }
  const area = areaOf(sheet, cells);
  if (area.startRow >= area.endRow || area.startColumn >= area.endColumn) {
    // Beyond the grid with an open end, such as `A2000:C`.
    throw exceedsGrid(sheet, { ...area, endRow: Math.max(area.endRow, area.startRow + 1) });
  }
  return { sheet, area, single: !cells.includes(':') && /[A-Za-z]/.test(cells) && /\d/.test(cells) };
}

/** The area of a range such as `A1:C4` in a tab; empty: the whole tab. Throws `Unable to parse range`. */
export function areaOf(sheet: Sheet, text: string): Area {
  const match = a1.exec(text);
  const [, fromColumn, fromRow, toColumn, toRow] = match ?? [];
  const colon = text.includes(':');
  const complete = colon ? !/^:|:$/.test(text) : (fromColumn === undefined) === (fromRow === undefined);
  if (match === null || !complete) throw invalid(`Unable to parse range: ${text}`);
  const rows = span(fromRow, colon ? toRow : fromRow, sheet.rows.length, rowIndex);
  const columns = span(fromColumn, colon ? toColumn : fromColumn, sheet.columns.length, columnIndex);
  return { startRow: rows[0], endRow: rows[1], startColumn: columns[0], endColumn: columns[1] };
}

function span(
  from: string | undefined,
  to: string | undefined,
  count: number,
  index: (text: string) => number,
): [number, number] {
  const start = from === undefined ? 0 : index(from);
  if (to === undefined) return [start, count];
  return start > index(to) ? [index(to), start + 1] : [start, index(to) + 1];
}

function rowIndex(text: string): number {
  return Number(text) - 1;
}

function columnIndex(letters: string): number {
  let index = 0;
  for (const letter of letters.toUpperCase()) index = index * 26 + letter.charCodeAt(0) - 64;
  return index - 1;
}

/** A, B, … Z, AA. */
export function columnLetters(index: number): string {
  const rest = index % 26;
  const letter = String.fromCharCode(65 + rest);
  return index < 26 ? letter : columnLetters((index - rest) / 26 - 1) + letter;
}

/** The area in A1 notation with its tab, as Google writes it in replies. */
export function writeA1(sheet: Sheet, area: Area): string {
  const first = columnLetters(area.startColumn) + String(area.startRow + 1);
  const last = columnLetters(area.endColumn - 1) + String(area.endRow);
  return `${quoteTitle(sheet.title)}!${first === last ? first : `${first}:${last}`}`;
}

function quoteTitle(title: string): string {
  return /^[A-Za-z_]\w*$/.test(title) ? title : `'${title.replaceAll("'", "''")}'`;
}

function unquoteTitle(text: string): string {
  return /^'.*'$/s.test(text) ? text.slice(1, -1).replaceAll("''", "'") : text;
}

/** By exact title, else ignoring case. */
export function findSheet(state: Spreadsheet, title: string): Sheet | undefined {
  const folded = title.toLowerCase();
  return (
    state.sheets.find((sheet) => sheet.title === title) ??
    state.sheets.find((sheet) => sheet.title.toLowerCase() === folded)
  );
}

/** The fault of a range outside the grid. */
export function exceedsGrid(sheet: Sheet, area: Area): Error {
  const most = `Max rows: ${sheet.rows.length}, max columns: ${sheet.columns.length}`;
  return invalid(`Range (${writeA1(sheet, area)}) exceeds grid limits. ${most}`);
}

/** The part of the area within the grid; throws when it begins outside. */
export function withinGrid({ sheet, area }: SheetRange): Area {
  if (area.startRow >= sheet.rows.length || area.startColumn >= sheet.columns.length) {
    throw exceedsGrid(sheet, area);
  }
  const endRow = Math.min(area.endRow, sheet.rows.length);
  return { ...area, endRow, endColumn: Math.min(area.endColumn, sheet.columns.length) };
}

/** The area of a GridRange; open sides reach to the end of the grid. */
export function fromGridRange(range: sheets_v4.Schema$GridRange, sheet: Sheet): Area {
  return {
    startRow: range.startRowIndex ?? 0,
    endRow: range.endRowIndex ?? sheet.rows.length,
    startColumn: range.startColumnIndex ?? 0,
    endColumn: range.endColumnIndex ?? sheet.columns.length,
  };
}

/**
 * A GridRange with all four sides; null (the whole sheet): none. Google omits the tab's id when it is 0, and no other zero
 * of a range (pygsheets #116, Aspire-Budgeting/docs #5).
 */
export function toGridRange(sheet: Sheet, area: Area | null): sheets_v4.Schema$GridRange {
  const sheetId = sheet.id === 0 ? {} : { sheetId: sheet.id };
  if (area === null) return sheetId;
  return {
    ...sheetId,
    startRowIndex: area.startRow,
    endRowIndex: area.endRow,
    startColumnIndex: area.startColumn,
    endColumnIndex: area.endColumn,
  };
}

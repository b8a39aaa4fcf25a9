import type { sheets_v4 } from '@googleapis/sheets';
import { invalid } from './api-fault.ts';
import { CellError } from './cell-error.ts';
import type { Formulas } from './formulas.ts';
import { isDateFormat, showNumber } from './number-format.ts';
import type { Cell, Entered, Sheet } from './sheet-state.ts';
import { readTyped } from './typed-text.ts';

/** Maximum characters per cell. */
const mostCharacters = 50_000;

/** How `values.*` reads values. */
export type InputOption = 'RAW' | 'USER_ENTERED';

/** How values are returned. */
export interface Rendering {
  readonly values: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA';
  readonly dates: 'SERIAL_NUMBER' | 'FORMATTED_STRING';
}

/** A spreadsheet's locale, and the current time (epoch ms). */
export interface Reading {
  readonly locale: string;
  readonly now: number;
}

/** The cell with a value of `values.update`: "" empties it; its format stays. */
export function enterValue(cell: Cell, value: unknown, input: InputOption, reading: Reading): Cell {
  if (typeof value === 'string') {
    if (input === 'RAW') return enter(cell, value === '' ? null : checkLength(value));
    return typeInto(cell, value, reading);
  }
  if (typeof value === 'number' || typeof value === 'boolean') return enter(cell, value);
  throw invalid(`Invalid values: ${Array.isArray(value) ? 'list_value' : 'struct_value'} { }`);
}

/** The cell with a text typed into it, as by a person. */
export function typeInto(cell: Cell, text: string, { locale, now }: Reading): Cell {
  checkLength(text);
  // Plain text format: everything stays text.
  if (cell.format?.numberFormat?.type === 'TEXT') return enter(cell, text === '' ? null : text);
  const typed = readTyped(text, locale, now);
  if (typed.numberFormat === null || cell.format?.numberFormat) return enter(cell, typed.entered);
  return { ...enter(cell, typed.entered), format: { ...cell.format, numberFormat: typed.numberFormat } };
}

function enter(cell: Cell, entered: Entered): Cell {
  return { ...cell, entered };
}

function checkLength(text: string): string {
  if (text.length <= mostCharacters) return text;
  throw invalid(
    `Your input contains more than the maximum of ${mostCharacters} characters in a single cell.`,
  );
}

/** A cell in `values.get`; null: empty. */
export function renderValue(
  cell: Cell | undefined,
  sheet: Sheet,
  rendering: Rendering,
  formulas: Formulas,
  locale: string,
): string | number | boolean | null {
  if (cell === undefined || cell.entered === null) return null;
  const { entered } = cell;
  if (rendering.values === 'FORMATTED_VALUE') return showCell(cell, sheet, formulas, locale);
  if (rendering.values === 'FORMULA' && typeof entered === 'object' && !(entered instanceof CellError))
    return entered.formula;
  const value = formulas.valueOf(cell, sheet);
  if (value instanceof CellError) return value.text;
  const asText = rendering.dates === 'FORMATTED_STRING' && isDateFormat(cell.format?.numberFormat);
  return asText && typeof value === 'number' ? showCell(cell, sheet, formulas, locale) : value;
}

/** The cell's displayed text. */
export function showCell(cell: Cell, sheet: Sheet, formulas: Formulas, locale: string): string {
  const value = formulas.valueOf(cell, sheet);
  if (value === null) return '';
  if (value instanceof CellError) return value.text;
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'string') return value;
  return showNumber(value, cell.format?.numberFormat, locale);
}

/** The API's ExtendedValue; null: nothing entered. */
export function toExtendedValue(value: Entered | CellError): sheets_v4.Schema$ExtendedValue | null {
  if (value === null) return null;
  if (value instanceof CellError) return { errorValue: value.value };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return { formulaValue: value.formula };
}

/** The input for an ExtendedValue of a request. Nothing is parsed: a text stays a text. */
export function fromExtendedValue(value: sheets_v4.Schema$ExtendedValue | null | undefined): Entered {
  if (value?.formulaValue) return { formula: checkLength(value.formulaValue) };
  if (value?.stringValue) return checkLength(value.stringValue);
  return value?.numberValue ?? value?.boolValue ?? null;
}

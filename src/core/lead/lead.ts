import { fieldKinds } from './field-kinds.ts';
import { withinSize } from './text-size.ts';
import type { FieldMapping } from './mapping.ts';
import { type Cell, type Cells, storable, type Value } from './value.ts';
import { leadWord } from './words.ts';

/**
 * A lead as the service sent it: its id and every field of the JSON object, known or not (API reference, section 2).
 */
export interface Lead {
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The mapped fields of a lead as cells: null and absent are empty, instants are canonical; see also `withinSize`. */
export function leadCells(lead: Lead, fields: readonly FieldMapping[]): Cells {
  const cells: Record<string, Cell> = {};
  for (const mapping of fields) cells[mapping.field] = leadCell(lead.fields[mapping.field], mapping);
  return withinSize(cells);
}

function leadCell(json: unknown, mapping: FieldMapping): Cell {
  let text: Value;
  const written = writtenAs(json);
  if (written !== null && !isInRange(written)) return { unreadable: written };
  try {
    text = jsonText(json);
  } catch (error) {
    // JSON.stringify is bounded by the stack, JSON.parse is not.
    if (error instanceof RangeError) return { unreadable: '(lists nested too deeply to show)' };
    throw error;
  }
  if (text === null) return null;
  return leadWord(fieldKinds[mapping.type].read(text, 'UTC') ?? { unreadable: text }, mapping.words);
}

function jsonText(json: unknown): Value {
  if (json === null || json === undefined || json === '') return null;
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  return storable(text);
}

/**
 * The JSON to send for a value, in the type that the lead's field has now: a number stays a number. Undefined when the
 * value cannot be sent in that type (a list, an object, text for a number, a number of more digits than one keeps).
 */
export function fieldJson(value: Value, current: unknown): unknown {
  if (value === null) return null;
  if (typeof current === 'number' || writtenAs(current) !== null)
    return isExactNumber(value) ? Number(value) : undefined;
  if (typeof current === 'boolean') {
    const word = value.trim().toLowerCase();
    return word === 'true' ? true : word === 'false' ? false : undefined;
  }
  if (typeof current === 'object' && current !== null) return undefined;
  return value;
}

/**
 * Whether a number of JavaScript holds what a text such as `17.5` or `1e3` says: within its range, and of a whole number
 * each digit. Digits after the point may be more than it keeps: programs write 0.1 as 0.10000000000000001.
 */
export function isExactNumber(text: string): boolean {
  const number = Number(text);
  const written = decimal(text);
  if (!isInRange(text) || written === null) return false;
  return written.exponent < 0 || decimal(String(number))?.key === written.key;
}

/** Whether a text says a number that is neither too large for one of JavaScript nor too near to zero. */
function isInRange(text: string): boolean {
  const number = Number(text);
  return Number.isFinite(number) && (number !== 0 || decimal(text)?.key === '0');
}

/** Of ECMAScript's "JSON.parse source text access", which TypeScript does not know yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(this: void, text: string): { readonly rawJSON: string };
  isRawJSON(this: void, value: unknown): boolean;
};

/** A number in JSON as it was written; `JSON.stringify` gives it back. */
export const writtenNumber = rawJSON;

/** What `writtenNumber` was made of; null: it is something else. */
function writtenAs(json: unknown): string | null {
  return isRawJSON(json) ? (json as ReturnType<typeof rawJSON>).rawJSON : null;
}

/** The digits of a number without zeros at either end, and the power of ten of the last one. */
function decimal(text: string): { readonly key: string; readonly exponent: number } | null {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?\s*$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`;
  if (digits === '') return null;
  const kept = digits.replace(/0+$/, '');
  const exponent = Number(power) - fraction.length + digits.length - kept.length;
  const significant = kept.replace(/^0+/, '');
  if (significant === '') return { key: '0', exponent: 0 };
  return { key: `${sign === '-' ? '-' : ''}${significant}e${exponent}`, exponent };
}

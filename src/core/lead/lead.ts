import { fieldKinds } from './field-kinds.ts';
import { withinSize } from './large-record.ts';
import type { FieldMapping } from './mapping.ts';
import { isExactNumber, isInRange, writtenAs } from './number.ts';
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

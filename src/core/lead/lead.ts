import { fieldKinds } from './field-kinds.ts';
import { withinSize } from './large-record.ts';
import { uuid } from './uuid.ts';
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

/**
 * Whether a text can be a lead's id. The reference says UUID (section 2); any text is accepted that can be stored,
 * indexed and displayed: no control characters, no lone surrogates, at most 255 characters.
 */
export function isLeadId(text: string): boolean {
  return /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u.test(text);
}

/** A UUID that is its own key. */
const usualUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * The comparison key of an id: UUIDs in capitals, in braces or as a URN share one. Never sent: the service gets its own
 * spelling, and the table keeps what people typed.
 */
export function idKey(id: string): string {
  if (usualUuid.test(id)) return id;
  return uuid.exec(id)?.[1]?.toLowerCase() ?? id.trim();
}

const uuidBeginning = /^\s*(?:urn:uuid:)?[{(]?([0-9a-f-]{1,36})[)}]?\s*$/i;

/** As `idKey`, for the first part of an id. */
export function idBeginning(typed: string): string {
  return uuidBeginning.exec(typed)?.[1]?.toLowerCase() ?? typed.trim();
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

/** The creation time in a time-ordered UUID (version 7, RFC 9562 section 5.7), epoch ms. Null for any other id. */
export function leadIdTime(id: string): number | null {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(id);
  return match ? Number.parseInt(`${match[1]}${match[2]}`, 16) : null;
}

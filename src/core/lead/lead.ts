import { readInstant } from './instant.ts';
import type { FieldMapping } from './mapping.ts';
import { type Cell, type Cells, canonical, storable, type Value } from './value.ts';

/** A lead as the service sent it: its id and every field of the JSON object, known or not (API reference, section 2). */
export interface Lead {
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Whether a text can be the id of a lead. Ids are UUIDs (API reference, section 2), but any text is taken that can be stored,
 * found by an index and shown: no control characters, no halves of characters, nothing longer than 255 characters.
 */
export function isLeadId(text: string): boolean {
  return /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u.test(text);
}

const uuid =
  /^\s*(?:urn:uuid:)?[{(]?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})[)}]?\s*$/i;

/**
 * What two spellings of one id share. Programs write UUIDs in capitals, in braces or as a URN; any other id is only itself.
 * Ids are compared by it and never sent so: the service is asked in its own spelling, and a table keeps that of its people.
 */
export function idKey(id: string): string {
  return uuid.exec(id)?.[1]?.toLowerCase() ?? id.trim();
}

const uuidBeginning = /^\s*(?:urn:uuid:)?[{(]?([0-9a-f-]{1,36})[)}]?\s*$/i;

/** As `idKey`, of as much of an id as somebody has typed. */
export function idBeginning(typed: string): string {
  return uuidBeginning.exec(typed)?.[1]?.toLowerCase() ?? typed.trim();
}

/** Whether an id may be written in several ways; see `idKey`. */
export function isUuid(id: string): boolean {
  return uuid.test(id);
}

/** The mapped fields of a lead as cells. A field that is null or absent is none; an instant is brought into its one form. */
export function leadCells(lead: Lead, fields: readonly FieldMapping[]): Cells {
  return Object.fromEntries(
    fields.map((mapping) => [mapping.field, leadCell(lead.fields[mapping.field], mapping)]),
  );
}

function leadCell(json: unknown, mapping: FieldMapping): Cell {
  let text: Value;
  try {
    text = jsonText(json);
  } catch (error) {
    // JSON.parse has no bound for this, and JSON.stringify has: that of the stack.
    if (error instanceof RangeError) return { unreadable: '(lists in lists, too deep to be shown)' };
    throw error;
  }
  if (text === null || mapping.type === 'text') return text;
  return readInstant(text, 'UTC') ?? { unreadable: text };
}

function jsonText(json: unknown): Value {
  if (json === null || json === undefined || json === '') return null;
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  return storable(text);
}

/**
 * The JSON to send for a value, in the type that the lead's field has now: a number stays a number. The reference
 * shows only strings; other types are met in fields that it does not list.
 * Returns undefined when the value cannot be sent in that type (a list, an object, text for a number).
 */
export function fieldJson(value: Value, current: unknown): unknown {
  if (value === null) return null;
  if (typeof current === 'number') {
    const number = Number(value);
    return value.trim() === '' || !Number.isFinite(number) ? undefined : number;
  }
  if (typeof current === 'boolean') {
    const word = value.trim().toLowerCase();
    return word === 'true' ? true : word === 'false' ? false : undefined;
  }
  if (typeof current === 'object' && current !== null) return undefined;
  return value;
}

/**
 * When a time-ordered UUID (version 7, RFC 9562 section 5.7) was made: epoch ms. Null for any other id.
 */
export function leadIdTime(id: string): number | null {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(id);
  return match ? Number.parseInt(`${match[1]}${match[2]}`, 16) : null;
}

/** The canonical JSON text of a value: what two equal values share. */
export function canonicalJson(cell: Cell): string {
  return JSON.stringify(typeof cell === 'object' && cell !== null ? [cell.unreadable] : canonical(cell));
}

import { hash } from 'node:crypto';
import type { Lead } from './lead.ts';
import { canonical, canonicalJson, type Cells, isUnreadable, type Value } from './value.ts';
import type { FieldMapping } from './mapping.ts';

/**
 * A short text that two records share exactly when all mapped fields mean the same. The order of the mapping does not
 * matter.
 */
export function hashContent(cells: Cells, fields: readonly FieldMapping[]): string {
  const parts = beginnings(fields).map(({ name, begin }) => begin + canonicalJson(cells[name] ?? null));
  return shortHash(parts.join(','));
}

type Beginnings = readonly { readonly name: string; readonly begin: string }[];

/** Computed once per mapping. */
const known = new WeakMap<readonly FieldMapping[], Beginnings>();

function beginnings(fields: readonly FieldMapping[]): Beginnings {
  const names = (): readonly string[] => fields.map(({ field }) => field).toSorted();
  const made = known.get(fields) ?? names().map((name) => ({ name, begin: `${JSON.stringify(name)}:` }));
  known.set(fields, made);
  return made;
}

/** A 27-character hash of a text. */
export function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 27);
}

/** By which a value is known again: 66 bits. */
export function valueHash(value: Value): string {
  return shortHash(canonical(value) ?? '').slice(0, 11);
}

/** As `hashContent`, or null when a cell is unreadable: such a record equals no other. */
export function readableFingerprint(cells: Cells, fields: readonly FieldMapping[]): string | null {
  const isAnyUnreadable = fields.some(({ field }) => isUnreadable(cells[field]));
  return isAnyUnreadable ? null : hashContent(cells, fields);
}

/** A hash of the lead's fields that have no column; empty fields count as absent. */
export function unmappedHash({ fields }: Lead, mapping: readonly FieldMapping[]): string {
  const mapped = new Set(mapping.map(({ field }) => field));
  const others = Object.entries(fields).filter(
    ([name, value]) => !mapped.has(name) && value !== null && value !== undefined && value !== '',
  );
  return shortHash(JSON.stringify(others.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

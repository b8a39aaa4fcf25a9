import { hash } from 'node:crypto';
import { canonicalJson } from './lead.ts';
import type { FieldMapping } from './mapping.ts';
import { type Cells, isUnreadable } from './value.ts';

/**
 * One short text that two records share exactly when all mapped fields mean the same. Fields are taken in the order
 * of their names, so that the order of the mapping does not matter.
 */
export function fingerprint(cells: Cells, fields: readonly FieldMapping[]): string {
  const names = fields.map((mapping) => mapping.field).toSorted();
  const text = names.map((name) => `${JSON.stringify(name)}:${canonicalJson(cells[name] ?? null)}`).join(',');
  return shortHash(text);
}

/** 27 characters that two texts share only when they are the same. */
export function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 27);
}

/** As `fingerprint`, or null when a cell is unreadable: such a record equals no other one. */
export function readableFingerprint(cells: Cells, fields: readonly FieldMapping[]): string | null {
  return fields.some((mapping) => isUnreadable(cells[mapping.field])) ? null : fingerprint(cells, fields);
}

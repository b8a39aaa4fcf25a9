import { hash } from 'node:crypto';
import { canonicalJson } from '../lead/lead.ts';
import type { Cells } from '../lead/value.ts';
import type { PlannedAction } from './action.ts';

/**
 * A short text that two actions share exactly when they do the same to the same record and saw the same on both sides.
 * A reviewed line is carried out only while the plan would still hold such an action. Where the row stands is no part
 * of it: people sort.
 */
export function precondition({ kind, leadId, rowKey, changes, expect }: PlannedAction): string {
  const fields = Object.entries(changes)
    .map(([field, { base, from, to }]) => [
      field,
      base === undefined ? 'never' : canonicalJson(base),
      canonicalJson(from),
      canonicalJson(to),
    ])
    .toSorted(byField);
  return hash('sha256', JSON.stringify([kind, leadId, rowKey, fields, cellsJson(expect)]), 'base64url').slice(
    0,
    27,
  );
}

function cellsJson(cells: Cells): readonly (readonly string[])[] {
  return Object.entries(cells)
    .map(([field, cell]) => [field, canonicalJson(cell)])
    .toSorted(byField);
}

function byField([a = '']: readonly string[], [b = '']: readonly string[]): number {
  return a < b ? -1 : 1;
}

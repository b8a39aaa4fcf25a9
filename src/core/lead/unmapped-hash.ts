import { shortHash } from './content-hash.ts';
import type { Lead } from './lead.ts';
import type { FieldMapping } from './mapping.ts';

/** A hash of the lead's fields that have no column; empty fields count as absent. */
export function unmappedHash({ fields }: Lead, mapping: readonly FieldMapping[]): string {
  const mapped = new Set(mapping.map(({ field }) => field));
  const others = Object.entries(fields).filter(
    ([name, value]) => !mapped.has(name) && value !== null && value !== undefined && value !== '',
  );
  return shortHash(JSON.stringify(others.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

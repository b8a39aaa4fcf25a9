import { shortHash } from './fingerprint.ts';
import type { Lead } from './lead.ts';
import type { FieldMapping } from './mapping.ts';

/** A short text that changes when anything changes in the fields of a lead that no column shows; empty ones count as absent. */
export function unmappedHash({ fields }: Lead, mapping: readonly FieldMapping[]): string {
  const mapped = new Set(mapping.map(({ field }) => field));
  const others = Object.entries(fields).filter(
    ([name, value]) => !mapped.has(name) && value !== null && value !== undefined && value !== '',
  );
  return shortHash(JSON.stringify(others.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import { type Cells, sameCell, type Values } from '../../src/core/lead/value.ts';
import type { Intent } from '../../src/core/merge/match-lost-creates.ts';
import { lawRuns } from '../support/law-runs.ts';
import { intentRows } from '../support/run-steps.ts';
import { intent } from './intents.ts';

const names = ['companyName', 'stage', 'region', 'owner'];
const fields = names.map(
  (field): FieldMapping => ({ field, column: field, type: 'text', direction: 'two-way' }),
);

interface Row {
  readonly contentHash: string;
  readonly cells: Cells;
  readonly number: number;
}

/** As `findIntentRows` says it, without an index. */
function plainly(intents: readonly Intent[], rows: readonly Row[]): ReadonlyMap<number, object> {
  const found = new Map<number, object>();
  const free = [...rows];
  for (const { id, contentHash } of intents) {
    const at = free.findIndex((row) => row.contentHash === contentHash);
    if (at >= 0) found.set(id, { rows: free.splice(at, 1), certain: true });
  }
  const claims = intents
    .filter(({ id }) => !found.has(id))
    .map(({ id, row }) => {
      const cells = Object.entries(row).filter(([, cell]) => !sameCell(cell, null));
      const shared = (one: Row): number =>
        cells.filter(([field, cell]) => sameCell(one.cells[field] ?? null, cell)).length;
      const most = Math.max(...free.map(shared));
      const isLike = most >= 1 && most >= cells.length / 2;
      return { id, rows: isLike ? free.filter((one) => shared(one) === most) : [] };
    });
  for (const { id, rows: claimed } of claims) {
    const rivals = claims.filter((claim) => claim.rows.some((row) => claimed.includes(row)));
    found.set(id, { rows: claimed, certain: claimed.length === 1 && rivals.length === 1 });
  }
  return found;
}

const value = fc.constantFrom('a', 'b', 'e\u0301', '\u00e9', '', null);
const record = fc.record(Object.fromEntries(names.map((name) => [name, value])), {
  requiredKeys: [],
  noNullPrototype: true,
}) as fc.Arbitrary<Values>;
const records = fc.array(record, { maxLength: 6, size: 'max' });

test('nothing twice: the rows of creates are those that a search through all of them finds', () => {
  fc.assert(
    fc.property(records, records, (sent, shown) => {
      const intents = sent.map((row, id) => intent({ id, row, contentHash: hashContent(row, fields) }));
      const rows = shown.map((cells, number) => ({ contentHash: hashContent(cells, fields), cells, number }));
      expect(intentRows(intents, rows)).toEqual(plainly(intents, rows));
    }),
    { numRuns: lawRuns(1000) },
  );
});

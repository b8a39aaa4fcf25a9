import { expect, test } from 'vitest';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import { mostTogether } from '../../src/core/lead/text-size.ts';
import { LiveScan } from '../../src/core/merge/live-scan.ts';
import { Baselines, digestMark } from '../../src/core/merge/records.ts';
import type { Queryable } from '../../src/store/database.ts';
import { sightsOf } from '../../src/store/differences.ts';

const fields: readonly FieldMapping[] = [
  { field: 'note', column: 'Note', type: 'text', direction: 'two-way' },
];

function pairOf(base: Baselines, leadId: string, text: string): void {
  const bytes = Buffer.from(leadId + text);
  const end = Buffer.byteLength(leadId);
  const pair = { id: base.size + 1, row: base.size + 2, isSettled: true, isDeleted: false };
  base.add(pair, bytes, 0, end, end, bytes.length);
}

/** How many pairs of a scan are looked up at once, at most. */
async function mostAtOnce(scan: LiveScan): Promise<number> {
  let most = 0;
  const query = (_text: string, values: readonly unknown[] = []) => {
    const ids = values.find((value) => Array.isArray(value)) ?? [];
    most = Math.max(most, ids.length);
    return Promise.resolve({ rows: [] });
  };
  const db = { query } as unknown as Queryable;
  for await (const _ of sightsOf(db, { id: 1, connection: 'c' }, scan));
  return most;
}

test('pairs whose baselines are long are looked up a few at a time, and all others together', async () => {
  const [long, short] = [new Baselines(fields), new Baselines(fields)];
  for (let nth = 0; nth < 100; nth++) {
    pairOf(long, `lead ${nth}`, `${digestMark}1000000 ${'a'.repeat(44)}`);
    pairOf(short, `lead ${nth}`, '["short"]');
  }
  expect(await mostAtOnce(new LiveScan(long))).toBeLessThanOrEqual(mostTogether / 1_000_000);
  expect(await mostAtOnce(new LiveScan(short))).toBe(100);
});

test('of pairs whose baselines are short, but which show long values, what is held is long, too', async () => {
  const base = new Baselines(fields);
  for (let nth = 0; nth < 12; nth++) pairOf(base, `lead ${nth}`, '["short"]');
  const scan = new LiveScan(base);
  for (let nth = 0; nth < 12; nth++) scan.seeLead(`lead ${nth}`, { note: 'x'.repeat(900_000) });
  expect(await mostAtOnce(scan)).toBeLessThanOrEqual(8);
});

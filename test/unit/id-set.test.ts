import { expect, test } from 'vitest';
import { IdSet } from '../../src/core/lead/id-set.ts';

test('an id that was added may be there, also when the set has grown; of others hardly any', () => {
  const ids = new IdSet();
  const name = (n: number) => `018cc259-0890-7074-966d-${n.toString(16).padStart(12, '0')}`;
  const [there, others] = [0, 1].map((odd) => Array.from({ length: 20_000 }, (_, n) => name(2 * n + odd)));
  for (const id of there ?? []) ids.add(id);
  expect(there?.every((id) => ids.mayHave(id))).toBe(true);
  expect(others?.filter((id) => ids.mayHave(id))).toEqual([]);
  for (const odd of ['', 'ü', '\u{1F600}', 'x'.repeat(10_000)]) {
    expect(ids.mayHave(odd)).toBe(false);
    ids.add(odd);
    expect(ids.mayHave(odd)).toBe(true);
  }
});

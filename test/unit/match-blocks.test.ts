import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blockKeys, MatchBlocks, type MatchForms, matchForms } from '../../src/core/merge/match-likeness.ts';
import { lawRuns } from '../support/law-runs.ts';

function pairsOf(leads: readonly MatchForms[], rows: readonly MatchForms[]): readonly string[] {
  const blocks = new MatchBlocks();
  for (const forms of leads) blocks.add('lead', forms);
  for (const forms of rows) blocks.add('row', forms);
  const steps = blocks.pairs();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return [...value].map(({ lead, row }) => `${lead} ${row}`);
  }
}

const named = (companyName: string, city: string | null = null): MatchForms =>
  matchForms({ companyName, city }, ['companyName', 'city']) as MatchForms;

const many = (count: number, nameOf: (nth: number) => string): MatchForms[] =>
  Array.from({ length: count }, (_, nth) => named(nameOf(nth)));

test('law: exactly the records that share a key are compared, each pair once and in order', () => {
  const words = fc.constantFrom('Acme', 'Bolt', 'Müller', 'Mueller', 'Solar');
  const name = fc.array(words, { minLength: 1, maxLength: 3 }).map((some) => some.join(' '));
  const record = fc.tuple(name, fc.constantFrom('Bonn', 'Wien', null)).map(([one, city]) => named(one, city));
  const side = fc.array(record, { maxLength: 8 });
  fc.assert(
    fc.property(side, side, (leads, rows) => {
      const keysOf = (forms: MatchForms) => blockKeys(forms).map(({ key }) => key);
      const shared = leads.flatMap((lead, nth) =>
        rows.flatMap((row, other) =>
          keysOf(lead).some((key) => keysOf(row).includes(key)) ? [`${nth} ${other}`] : [],
        ),
      );
      expect(pairsOf(leads, rows)).toEqual(shared);
    }),
    { numRuns: lawRuns(300) },
  );
});

test('a half of names that too many share in a city tells nothing; 400 pairs are few', () => {
  const endOf = (nth: number): string => `${'wxyzvq'[Math.floor(nth / 10)]}${'bcdfghjklm'[nth % 10]}`;
  const half = (count: number) =>
    pairsOf(
      Array.from({ length: 20 }, (_, nth) => named(`Acmetrio${endOf(nth)}`, 'Bonn')),
      Array.from({ length: count }, (_, nth) => named(`Acmetrio${endOf(30 + nth)}`, 'Bonn')),
    );
  expect(half(20)).toHaveLength(400);
  expect(half(21)).toEqual([]);
});

test('of a name that too many have each is compared with two of the other side', () => {
  expect(
    pairsOf(
      many(50, () => 'Acme'),
      many(50, () => 'Acme'),
    ),
  ).toHaveLength(2_500);
  for (const [leads, rows] of [
    [51, 60],
    [60, 51],
    [1, 2_501],
    [2_501, 1],
  ] as const) {
    const pairs = pairsOf(
      many(leads, () => 'Acme'),
      many(rows, () => 'Acme'),
    ).map((pair) => pair.split(' '));
    const counts = (at: 0 | 1): Set<number> =>
      new Set([...Map.groupBy(pairs, (pair) => pair[at]).values()].map((one) => one.length));
    expect(Map.groupBy(pairs, ([lead]) => lead).size).toBe(leads);
    expect(Map.groupBy(pairs, ([, row]) => row).size).toBe(rows);
    expect(Math.min(...counts(0), ...counts(1))).toBe(Math.min(2, leads, rows));
    expect(pairs.length).toBeLessThanOrEqual(2 * Math.max(leads, rows));
  }
});

test('what a record is recognised by can be had again', () => {
  const blocks = new MatchBlocks();
  const [acme, bolt] = [named('Acme GmbH', 'Bonn'), named('Bolt')];
  expect([blocks.add('lead', acme), blocks.add('lead', bolt), blocks.add('row', bolt)]).toEqual([0, 1, 0]);
  expect([blocks.forms('lead', 0), blocks.forms('lead', 1), blocks.forms('row', 0)]).toEqual([
    acme,
    bolt,
    bolt,
  ]);
});

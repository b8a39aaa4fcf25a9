import { expect, test } from 'vitest';
import { type Candidate, chooseMatches } from '../../src/core/merge/match-likeness.ts';

const pair = (lead: number, row: number, score: number, more: Partial<Candidate> = {}): Candidate => ({
  lead,
  row,
  score,
  isNamesake: false,
  isExact: false,
  isAccepted: false,
  ...more,
});
const exact = { isExact: true, isNamesake: true };
const namesake = { isNamesake: true };
const accepted = { isAccepted: true };

test.each<[string, readonly Candidate[], object, linksExact?: boolean]>([
  ['nothing', [], {}],
  ['one', [pair(1, 2, 0.8)], { proposed: ['1-2'] }],
  ['one that is exact', [pair(1, 2, 1, exact)], { links: ['1-2'] }],
  [
    'one that is exact, where nothing is linked without asking',
    [pair(1, 2, 1, exact)],
    { proposed: ['1-2'] },
    false,
  ],
  [
    'an exact one, beside a namesake of its lead',
    [pair(1, 2, 1, exact), pair(1, 3, 0.8, namesake)],
    { proposed: ['1-2'], ambiguous: ['1-3'] },
  ],
  [
    'an exact one, beside a namesake of its row',
    [pair(1, 2, 1, exact), pair(3, 2, 0.8, namesake)],
    { proposed: ['1-2'], ambiguous: ['3-2'] },
  ],
  [
    'an exact one, beside another that has not its name',
    [pair(1, 2, 1, exact), pair(1, 3, 0.8)],
    { links: ['1-2'] },
  ],
  ['one that a person accepted', [pair(1, 2, 0.1, accepted)], { links: ['1-2'] }],
  [
    'one that a person accepted, and an exact one',
    [pair(1, 2, 0.1, accepted), pair(1, 3, 1, exact)],
    { links: ['1-2'] },
  ],
  [
    'two accepted ones of one row',
    [pair(2, 2, 0.1, accepted), pair(1, 2, 0.1, accepted)],
    { links: ['1-2'] },
  ],
  ['the better of two', [pair(1, 2, 0.7), pair(1, 3, 0.9)], { proposed: ['1-3'], ambiguous: ['1-2'] }],
  ['the better one first', [pair(1, 2, 0.9), pair(1, 3, 0.7)], { proposed: ['1-2'], ambiguous: ['1-3'] }],
  ['two that are nearly as good', [pair(1, 2, 0.9), pair(1, 3, 0.88)], { ambiguous: ['1-2', '1-3'] }],
  [
    'two that are nearly as good, the better one last',
    [pair(1, 2, 0.88), pair(1, 3, 0.9)],
    { ambiguous: ['1-2', '1-3'] },
  ],
  ['two that are as good', [pair(1, 2, 0.9), pair(1, 3, 0.9)], { ambiguous: ['1-2', '1-3'] }],
  [
    'three, the best of which is clear',
    [pair(1, 2, 0.5), pair(1, 3, 0.5), pair(1, 4, 0.9)],
    { proposed: ['1-4'], ambiguous: ['1-2', '1-3'] },
  ],
  ['the margin, which is not enough', [pair(1, 2, 0), pair(1, 3, 0.05)], { ambiguous: ['1-2', '1-3'] }],
  [
    'the best of its lead, which is not that of its row',
    [pair(1, 2, 0.8), pair(3, 2, 0.9)],
    { proposed: ['3-2'], ambiguous: ['1-2'] },
  ],
  ['two pairs', [pair(3, 4, 0.8), pair(1, 2, 0.8)], { proposed: ['1-2', '3-4'] }],
])('of %s', (_name, candidates, expected, linksExact = true) => {
  const names = (some: readonly Candidate[]) => some.map(({ lead, row }) => `${lead}-${row}`);
  const { links, proposed, ambiguous } = chooseMatches(candidates, linksExact);
  const told = { links: names(links), proposed: names(proposed), ambiguous: names(ambiguous) };
  expect(told).toEqual({ links: [], proposed: [], ambiguous: [], ...expected });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import type { Intent } from '../../src/core/merge/match-lost-creates.ts';
import { lawRuns } from '../support/law-runs.ts';
import { fields } from './pair-state.ts';
import { intentRows } from '../support/run-steps.ts';

/** The create of a lead of a row that showed `row`. */
function intent(id: number, row: Cells): Intent {
  return {
    id,
    contentHash: hashContent(row, fields),
    row,
    content: {},
    leadId: null,
    answered: false,
    lostItsRow: false,
    attemptedAt: 0,
    scansWithoutIt: 0,
  };
}

describe('the rows that unfinished creates were made of', () => {
  const row = (number: number, cells: Cells) => ({
    row: number,
    cells,
    contentHash: hashContent(cells, fields),
  });
  const due = '2026-12-01T00:00:00.000Z';
  const beta: Values = { companyName: 'Beta', stage: 'new', nextFollowUpAt: due };
  const gamma: Values = { companyName: 'Gamma', stage: 'new', nextFollowUpAt: due };
  const one = intent(1, beta);
  const two = intent(2, gamma);
  const rowsOf = (intents: readonly Intent[], rows: readonly ReturnType<typeof row>[]) =>
    Object.fromEntries(
      [...intentRows(intents, rows)].map(([id, { rows: alike, certain }]) => [
        id,
        [alike.map((found) => found.row), certain],
      ]),
    );

  test.each<[string, readonly Intent[], readonly ReturnType<typeof row>[], Record<number, unknown>]>([
    ['as it was', [one], [row(2, gamma), row(3, beta)], { 1: [[3], true] }],
    ['edited in less than half', [one], [row(3, { ...beta, stage: 'won' })], { 1: [[3], true] }],
    [
      'edited in more than half',
      [one],
      [row(3, { ...beta, stage: 'won', nextFollowUpAt: null })],
      { 1: [[], false] },
    ],
    ['gone, nothing alike', [one], [row(3, { companyName: 'Delta' })], { 1: [[], false] }],
    ['gone, nothing at all', [one], [], { 1: [[], false] }],
    [
      'two rows equally alike',
      [one],
      [row(3, { ...beta, stage: 'won' }), row(4, gamma)],
      { 1: [[3, 4], false] },
    ],
    [
      'two alike, one more so',
      [intent(1, { ...beta, city: 'Berlin' })],
      [row(3, { ...beta, city: 'Bonn' }), row(4, { ...gamma, city: 'Bonn' })],
      { 1: [[3], true] },
    ],
    [
      'what was empty does not count',
      [intent(1, { companyName: 'Acme', nextFollowUpAt: null })],
      [row(3, { companyName: 'Zeta', nextFollowUpAt: null })],
      { 1: [[], false] },
    ],
    ["a row that is another one's, exactly", [one, two], [row(4, gamma)], { 1: [[], false], 2: [[4], true] }],
    ['the same, the other way round', [two, one], [row(4, gamma)], { 1: [[], false], 2: [[4], true] }],
    ['both as they were', [one, two], [row(3, gamma), row(4, beta)], { 1: [[4], true], 2: [[3], true] }],
    [
      'two that were alike, each gets one',
      [one, intent(2, beta)],
      [row(3, beta), row(4, beta)],
      { 1: [[3], true], 2: [[4], true] },
    ],
    [
      'both edited, each like its own',
      [one, two],
      [
        row(3, { companyName: 'Beta', stage: 'won', nextFollowUpAt: due }),
        row(4, { ...gamma, stage: 'won' }),
      ],
      { 1: [[3], true], 2: [[4], true] },
    ],
    [
      'a row that could be of either',
      [one, two],
      [row(3, { companyName: 'Delta', stage: 'new', nextFollowUpAt: due })],
      { 1: [[3], false], 2: [[3], false] },
    ],
  ])('%s', (_, intents, rows, expected) => {
    expect(rowsOf(intents, rows)).toEqual(expected);
  });

  test('no row is certainly the row of two', () => {
    const anyRow = fc.record({
      companyName: fc.constantFrom('A', 'B'),
      stage: fc.constantFrom('x', 'y', null),
      nextFollowUpAt: fc.constantFrom(due, null),
    });
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 5 }), fc.array(anyRow, { maxLength: 5 }), (sent, left) => {
        const intents = sent.map((content, index) => intent(index, content));
        const rows = left.map((cells, index) => row(index, cells));
        const claims = [...intentRows(intents, rows).values()];
        const certain = claims.flatMap((claim) => (claim.certain ? claim.rows : []));
        expect(new Set(certain).size).toBe(certain.length);
        const doubtful = claims.flatMap((claim) => (claim.certain ? [] : claim.rows));
        for (const found of certain) expect(doubtful).not.toContain(found);
      }),
      { numRuns: lawRuns(1000) },
    );
  });
});

import { describe, expect, test } from 'vitest';
import { guardCodes } from '../../src/core/merge/guard.ts';
import { refused } from './guard-counts.ts';

describe('overrides', () => {
  const everything = {
    knownPairs: 100,
    leads: 0,
    otherService: 'http://127.0.0.1:4000',
    foreign: null,
    byKind: { 'mark-row': 50, 'update-row': 100 },
    byField: { stage: 100 },
    strangers: 100,
    permuted: {},
    shifted: {},
    idsUnknown: 100,
    misread: [{ place: 'lines 5 to 7', leadIds: ['a'], bare: false }],
    otherPlace: { here: 'b', before: 'a', known: 0, recognised: 0, newLeads: 1, differing: 0 },
    firstIds: null,
    rows: 0,
    mark: { kind: 'older-state', by: 'main' },
    firstLeads: {
      made: { count: 1, first: [{ row: 2, name: 'Acme GmbH' }], last: [], odd: {} },
      held: 0,
    },
  } as const;
  // A table has one mark, which says one thing.
  const codes = guardCodes.filter((code) => code !== 'other-keeper');

  test('all refusals are listed at once', () => {
    expect(refused(everything)).toEqual([
      'other-target',
      'misread',
      'first-leads',
      'target-gone',
      'older-state',
      'other-service',
      'empty-scan',
      'max-deletes',
      'max-changes',
      'whole-field',
      'rows-shuffled',
      'ids-unknown',
    ]);
    expect(new Set(refused(everything))).toEqual(new Set(codes));
  });

  test.each(guardCodes)('%s alone is overridden by its name', (code) => {
    const kind = code === 'other-keeper' ? code : 'older-state';
    const counts = { ...everything, mark: { kind, by: 'main' } as const };
    const told = codes.map((each) => (each === 'older-state' ? kind : each));
    expect(refused(counts)).toEqual(told);
    expect(refused(counts, {}, [code])).toEqual(told.filter((other) => other !== code));
  });

  test('all of them together, and no other name', () => {
    expect(refused(everything, {}, guardCodes)).toEqual([]);
    expect(refused(everything, {}, ['everything', '', 'max'])).toEqual([...codes]);
  });
});

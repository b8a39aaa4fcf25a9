import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import { sameCell } from '../../src/core/lead/value.ts';
import { plannedAction } from '../../src/core/merge/action.ts';
import { reopenedBases, takenAway, UndoneRecords } from '../../src/core/merge/undo.ts';
import { lawRuns } from '../support/law-runs.ts';
import { anyValue, recordOf } from './any-pair.ts';
import { fields } from './pair-state.ts';

const leadId = fc.constantFrom('', 'a', 'b');
const undone = fc
  .record({ leadId, before: recordOf(anyValue, true), isKnown: fc.boolean() })
  .map(({ leadId: id, before, isKnown }) => ({
    leadId: id,
    contentHash: hashContent(before, fields),
    cells: isKnown ? before : null,
  }));

test('a record that an undo left alone is known by the fields that it shows, or by its fingerprint', () => {
  const looks = fc.array(fc.record({ leadId, cells: recordOf(anyValue, true) }), {
    size: 'max',
    maxLength: 8,
  });
  fc.assert(
    fc.property(fc.array(undone, { maxLength: 6 }), looks, (records, sights) => {
      const all = new UndoneRecords(records, fields);
      const seen = new Set<object>();
      for (const { leadId: id, cells } of sights) {
        const found = records.find(
          (one) =>
            one.leadId === id &&
            (one.cells === null
              ? one.contentHash === hashContent(cells, fields)
              : Object.entries(cells).every(([field, cell]) => sameCell(cell, one.cells?.[field] ?? null))),
        );
        if (found !== undefined) seen.add(found);
        expect(all.find(id, cells)).toBe(found?.contentHash ?? null);
      }
      expect([...all.seen]).toEqual([...seen]);
      expect(all.size > 0).toBe(records.length > 0);
    }),
    { numRuns: lawRuns(500) },
  );
});

test.each([
  ['gone', 'lead-edited'],
  ['undone', 'undone'],
  ['unmatched', 'undone'],
])('a record that is taken away (%s) loses each field by the rule %s', (reason, rule) => {
  const action = plannedAction('remove-row', {
    leadId: 'a',
    expect: { stage: 'new', companyName: null },
    reason,
  });
  expect(takenAway(action, 'lead-edited')).toEqual({
    stage: { from: 'new', to: null, rule },
    companyName: { from: null, to: null, rule },
  });
});

test('the baselines that an undo restores are those of the decisions that it opens again', () => {
  const change = { from: 'a', to: 'b' };
  const changes = {
    stage: { ...change, rule: 'reopened' as const, base: 'c' },
    companyName: { ...change, rule: 'reopened' as const },
    region: { ...change, rule: 'undone' as const },
  };
  expect(Object.entries(reopenedBases(changes))).toEqual([
    ['stage', 'c'],
    ['companyName', undefined],
  ]);
});

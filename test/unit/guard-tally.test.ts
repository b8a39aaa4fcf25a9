import { describe, expect, test } from 'vitest';
import type { Change, PlannedAction } from '../../src/core/merge/action.ts';
import { GuardTally } from '../../src/core/merge/guard.ts';

type Counted = Pick<PlannedAction, 'kind' | 'reason' | 'changes'>;

function tallyOf(...actions: readonly Partial<Counted>[]): GuardTally {
  const tally = new GuardTally();
  for (const action of actions)
    tally.see({ kind: 'update-row', reason: 'lead-edited', changes: {}, ...action });
  return tally;
}

const known: Change = { from: 'a', to: 'b', base: null, rule: 'leads-win' };
const firstSight: Change = { from: 'a', to: 'b', rule: 'leads-win' };

test('changed fields are counted on either side, where the pair was in step before', () => {
  const { byField } = tallyOf(
    { changes: { stage: known, city: { from: null, to: 'b' }, region: firstSight } },
    { kind: 'update-lead', changes: { stage: known, region: known } },
    { kind: 'create-row', changes: { stage: known } },
    { kind: 'hold', changes: { stage: known } },
    { changes: { stage: { ...known, rule: 'older-copy' } } },
  );
  expect(byField).toEqual({ stage: 2, region: 1 });
});

test('emptied fields are counted in leads, where both sides had agreed on something before', () => {
  const { emptied } = tallyOf(
    {
      kind: 'update-lead',
      changes: { stage: { ...known, to: null }, city: { ...known, to: '' }, region: known },
    },
    {
      kind: 'update-lead',
      changes: { stage: { ...known, to: null, rule: 'older-copy' }, segment: { ...firstSight, to: null } },
    },
    { kind: 'update-row', changes: { stage: { ...known, to: null } } },
  );
  expect(emptied).toEqual({ stage: 2, city: 1 });
});

describe('actions', () => {
  const gone = { kind: 'create-row', reason: 'row-deleted' } as const;
  test.each<[string, readonly Partial<Counted>[], boolean, object]>([
    [
      'are counted by kind',
      [{}, {}, { kind: 'create-row' }],
      false,
      { byKind: { 'update-row': 2, 'create-row': 1 } },
    ],
    ['that fill empty cells overwrite nothing', [{ reason: 'fills-empty' }], false, { byKind: {} }],
    [
      'that fill fields of a lead count',
      [{ kind: 'update-lead', reason: 'fills-empty' }],
      false,
      { byKind: { 'update-lead': 1 } },
    ],
    [
      'that write rows again',
      [gone, { ...gone, reason: 'row-deleted-but-lead-edited' }, { ...gone, reason: 'new-lead' }],
      false,
      { byKind: { 'create-row': 3 }, rewritten: 2 },
    ],
    [
      'that report a gone row write none',
      [{ ...gone, kind: 'report' }],
      false,
      { byKind: { report: 1 }, rewritten: 0 },
    ],
    [
      'that a person chose are no accident',
      [gone, { reason: 'older-copy' }, {}],
      true,
      { byKind: { 'update-row': 1 }, rewritten: 0 },
    ],
    ['of an older copy count before', [{ reason: 'older-copy' }], false, { byKind: { 'update-row': 1 } }],
    [
      'of unknown ids',
      [{ reason: 'row.orphan' }, { reason: 'lead.unasked' }, {}, {}, {}],
      false,
      { unknown: 2 },
    ],
  ])('%s', (_, actions, isBroughtForward, expected) => {
    const usual = { byKind: expect.anything(), rewritten: 0, unknown: 0 };
    expect(tallyOf(...actions).counts(isBroughtForward)).toEqual({ ...usual, ...expected });
  });

  test('of pages are counted together', () => {
    const tally = tallyOf({ kind: 'create-row', reason: 'new-lead' });
    tally.add('create-row', 'new-lead', 1_000);
    expect(tally.counts(false).byKind).toEqual({ 'create-row': 1_001 });
  });
});

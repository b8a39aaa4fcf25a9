import { expect, test } from 'vitest';
import type { ActionKind, PlannedAction } from '../../src/core/merge/action.ts';
import type { Difference } from '../../src/core/merge/difference.ts';
import { PlanTally } from '../../src/core/merge/planner.ts';
import { sight } from './sight.ts';

const cells = { companyName: 'Acme' };
const differing: Difference = { ...sight, isWanted: false, lead: cells, row: cells };
const act = (kind: ActionKind, leadId: string | null = null, row: number | null = null) =>
  ({ kind, leadId, row, reason: '' }) as PlannedAction;
const [agree, hold] = [act('agree'), act('hold')];

test.each<[string, Partial<Difference>, readonly PlannedAction[], boolean, object]>([
  ['nothing to do', {}, [], false, { leftAlone: 1 }],
  ['nothing to do, of a lead without a row', { row: null }, [], false, { leftAlone: 1 }],
  ['nothing to do, of a row without a lead', { lead: null }, [], false, { leftAlone: 1 }],
  ['gone on both sides', { lead: null, row: null }, [], false, {}],
  ['held for copies of its row', { isCopied: true }, [], false, {}],
  ['agreed', {}, [agree, agree], false, { equal: 1 }],
  ['agreed in part', {}, [agree, hold], false, {}],
  ['held', {}, [hold], false, {}],
  ['found again', {}, [hold], true, { linked: 1 }],
  ['a row of a lead that is gone, found again', { lead: null }, [hold], true, {}],
])('a pair that is %s', (_name, given, actions, isFound, expected) => {
  const tally = new PlanTally();
  tally.see({ ...differing, ...given }, actions, isFound);
  const { equal, leftAlone } = tally;
  const none = { equal: 0, leftAlone: 0, linked: 0, waiting: 0 };
  expect({ equal, leftAlone, ...tally.finish([]) }).toEqual({ ...none, ...expected });
});

/** Leads a and b, and rows 2 and 3, of unfinished creates. */
function unfinished(): PlanTally {
  const tally = new PlanTally();
  for (const leadId of ['a', 'b']) tally.leaveLead({ ...differing, leadId });
  for (const row of [2, 3]) tally.leaveRow(row);
  return tally;
}

test.each<[string, readonly PlannedAction[], object]>([
  ['none', [], { linked: 0, waiting: 4 }],
  ['a lead is linked with its row', [act('link', 'a', 2)], { linked: 1, waiting: 2 }],
  ['a lead is linked with another row', [act('link', 'a', 9)], { linked: 1, waiting: 3 }],
  ['another lead is linked with a row', [act('link', 'x', 2)], { linked: 0, waiting: 3 }],
  ['a row becomes a lead', [act('create-lead', null, 2)], { linked: 0, waiting: 3 }],
  ['a lead is held beside a row', [act('hold', 'a', 2)], { linked: 0, waiting: 3 }],
  ['another lead is held in a row', [act('hold', 'x', 2)], { linked: 0, waiting: 3 }],
  ['nothing of these', [act('hold', 'x', 9), act('hold', null, null)], { linked: 0, waiting: 4 }],
])('of unfinished creates, when %s', (_name, actions, expected) => {
  expect(unfinished().finish(actions)).toEqual(expected);
});

test('a lead that is left without either side is no record', () => {
  const tally = new PlanTally();
  tally.leaveLead({ ...differing, leadId: 'a', lead: null, row: null });
  expect(tally.finish([]).waiting).toBe(0);
  tally.leaveLead({ ...differing, leadId: 'b', lead: null });
  tally.leaveLead({ ...differing, leadId: 'c', row: null });
  expect(tally.finish([]).waiting).toBe(2);
});

test('holds for a missing column are taken out, and all but the one that is listed wait', () => {
  const tally = new PlanTally();
  const missing = { ...hold, reason: 'row.column-missing' };
  expect(tally.withoutMissed([hold], 'leads')).toEqual([hold]);
  expect(tally.missed()).toBeNull();
  expect(tally.withoutMissed([missing, hold], 'leads')).toEqual([hold]);
  tally.withoutMissed([missing], 'rows');
  expect(tally.missed()).toEqual({ leads: 1, rows: 1 });
  tally.withoutMissed([missing], 'rows');
  expect([tally.missed(), tally.finish([])]).toEqual([
    { leads: 1, rows: 2 },
    { linked: 0, waiting: 2 },
  ]);
});

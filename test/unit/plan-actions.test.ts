import { describe, expect, test } from 'vitest';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import { rowKinds, silentKinds } from '../../src/core/merge/action.ts';
import { type PairState, planPair } from '../../src/core/merge/plan.ts';
import { planNewRow } from '../../src/core/merge/plan-rows.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { leadKinds } from './laws.ts';
import { pair, policy } from './pair-state.ts';

const due = '2026-11-21T08:30:00.000Z';
const soon = { unreadable: 'soon' };

const known: Values = { companyName: 'Acme', stage: 'new', nextFollowUpAt: due };
const edited: Values = { ...known, stage: 'won' };
const row = (cells: Cells) => ({ row: 7, cells });

describe('what an action asks to be there still just before it is written', () => {
  const only = (state: Partial<PairState>, choices: Partial<Policy> = {}) => {
    const [action, ...others] = planPair(pair(state), policy(choices));
    expect(others).toEqual([]);
    return action;
  };

  test('an update of the row: what the row showed, in the fields that are written', () => {
    const action = only({ base: known, lead: edited, row: row(known) });
    expect(action).toMatchObject({ kind: 'update-row', leadId: 'lead-1', row: 7, expect: { stage: 'new' } });
    expect(action?.changes).toEqual({ stage: { from: 'new', to: 'won', base: 'new', rule: 'lead-edited' } });
  });

  test('an update of the lead: what the lead showed, in the fields that are written', () => {
    const action = only({ base: known, lead: known, row: row(edited) });
    expect(action?.expect).toEqual({ stage: 'new' });
    expect(action?.changes).toEqual({ stage: { from: 'new', to: 'won', base: 'new', rule: 'row-edited' } });
  });

  test('a mark or a removal: the whole row', () => {
    for (const onLeadDeleted of ['mark', 'remove'] as const) {
      expect(only({ base: known, row: row(known), leadAbsences: 2 }, { onLeadDeleted })?.expect).toEqual(
        known,
      );
    }
  });

  test('a deletion of the lead: all that is mapped now, and nothing that no longer is', () => {
    const base = { ...known, formerlyMapped: 'x' };
    const action = only({ base, lead: known, rowAbsences: 2 }, { onRowDeleted: 'delete-lead' });
    expect(action?.expect).toEqual(known);
  });

  test('a new row: its values, for which the reason stands; a new lead: each value with the rule by which it travels', () => {
    const row = only({ lead: known });
    expect(row?.changes['stage']).toEqual({ from: null, to: 'new' });
    const [lead] = planNewRow(9, known, null, policy());
    expect(lead?.changes['stage']).toEqual({ from: null, to: 'new', rule: 'row-edited' });
  });

  test('an edit that meets a deletion: what was edited, and what it was before', () => {
    const action = only({ base: known, row: row(edited), leadAbsences: 2 });
    expect(action?.changes).toEqual({ stage: { from: null, to: 'won', base: 'new' } });
  });

  test('what has an id is found by it, not by what it shows', () => {
    expect(only({ base: known, lead: edited, row: row(known) })?.contentHash).toBe('');
  });

  test('a value that was never in step has no base, an empty one has', () => {
    const [first] = planPair(pair({ lead: known, row: row(edited) }), policy()).filter(
      ({ kind }) => kind === 'hold',
    );
    expect(first?.changes['stage']).toStrictEqual({ from: 'new', to: 'won' });
    const empty = only({ base: { ...known, stage: null }, lead: known, row: row(edited) });
    expect(empty?.changes['stage']).toEqual({ from: 'new', to: 'won', base: null });
  });
});

describe('sentences for people', () => {
  test.each<[string, Partial<PairState>, readonly string[]]>([
    [
      'a conflict',
      { base: known, lead: edited, row: row({ ...known, stage: 'lost' }) },
      ['Stage was edited on both sides', '"won"', '"lost"', 'Both were kept'],
    ],
    [
      'a first sight',
      { lead: known, row: row(edited) },
      ['Stage differs at the first comparison', '"new"', '"won"', 'Both were kept'],
    ],
    [
      'an unreadable row',
      { base: known, lead: known, row: row({ ...known, nextFollowUpAt: soon }) },
      ['Next cannot be read in the row', '"soon"', due],
    ],
    [
      'an unreadable lead',
      { base: known, lead: { ...known, nextFollowUpAt: soon }, row: row(known) },
      ['Next cannot be read in the lead', '"soon"', due],
    ],
    [
      'an emptied name',
      { base: known, lead: known, row: row({ ...known, companyName: null }) },
      ['Company', '"Acme"', 'emptied'],
    ],
    [
      'a refusal',
      { base: known, lead: known, row: row(edited), memo: { stage: { refused: true } } },
      ['Stage', '"new"', '"won"'],
    ],
    ['an orphan', { row: row(known) }, ['row 7', 'lead-1', 'Clear the id']],
    [
      'an edit that meets a deletion',
      { base: known, row: row(edited), leadAbsences: 2 },
      ['deleted in the service', 'nothing was changed'],
    ],
  ])('%s is told with what it is about', (_, state, parts) => {
    const held = planPair(pair(state), policy()).find(({ kind }) => kind === 'hold');
    for (const part of parts) expect(held?.message).toContain(part);
  });
});

test('the kinds of actions are those of the contract (docs/architecture.md 8), and those that nobody is shown', () => {
  const told = [...rowKinds, ...leadKinds, 'hold'];
  const contract =
    'create-row, update-row, mark-row, remove-row, create-lead, update-lead, delete-lead, hold, link, unlink';
  expect(told.toSorted()).toEqual(contract.split(', ').toSorted());
  expect(silentKinds.toSorted()).toEqual(['agree', 'forget', 'report']);
});

import { describe, expect, test } from 'vitest';
import { mostOfRecord, withinSize } from '../../src/core/lead/text-size.ts';
import type { Cell, Cells, Values } from '../../src/core/lead/value.ts';
import { type PairState, planPair } from '../../src/core/merge/plan.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { fields, pair, policy, told } from './pair-state.ts';

const due = '2026-11-21T08:30:00.000Z';
const later = '2026-12-01T08:30:00.000Z';
const soon = { unreadable: 'soon' };

const known: Values = { companyName: 'Acme', stage: 'new', nextFollowUpAt: due };
const edited: Values = { ...known, stage: 'won' };
const large = withinSize({ ...known, stage: 'x'.repeat(mostOfRecord) });
const row = (cells: Cells) => ({ row: 7, cells });

function plan(state: Partial<PairState>, choices: Partial<Policy> = {}): readonly string[] {
  return planPair(pair(state), policy(choices)).map(told);
}

const create = (why: string, stage = 'new') =>
  `create-row (${why}); companyName: - > Acme; stage: - > ${stage}; nextFollowUpAt: - > ${due}`;

describe('one lead id: the first table of docs/architecture.md 5', () => {
  test.each<[string, Partial<PairState>, Partial<Policy>, readonly string[]]>([
    // – yes –
    ['new lead', { lead: known }, {}, [create('new-lead')]],
    ['new lead, to-target', { lead: known }, { direction: 'to-target' }, [create('new-lead')]],
    ['new lead, to-leads', { lead: known }, { direction: 'to-leads' }, []],
    [
      'new lead with a cell that cannot be read',
      { lead: { ...known, nextFollowUpAt: soon } },
      {},
      [
        'create-row (new-lead); companyName: - > Acme; stage: - > new',
        'hold (lead.unreadable); nextFollowUpAt: ?soon > -',
      ],
    ],
    ['new lead whose row an undo took away', { lead: known, undone: 'key' }, {}, ['hold (lead.undone)']],

    // – yes row with its id
    [
      'first sight, equal',
      { lead: known, row: row(known) },
      {},
      [`agree (in-step); companyName: Acme > Acme; stage: new > new; nextFollowUpAt: ${due} > ${due}`],
    ],
    [
      'first sight, different, hold',
      { lead: known, row: row(edited) },
      { onFirstSync: 'hold' },
      [
        `agree (in-step); companyName: Acme > Acme; nextFollowUpAt: ${due} > ${due}`,
        'hold (conflict.first-sight); stage: new > won',
      ],
    ],
    [
      'first sight, different, leads-win',
      { lead: known, row: row(edited) },
      { onFirstSync: 'leads-win' },
      [
        `agree (in-step); companyName: Acme > Acme; nextFollowUpAt: ${due} > ${due}`,
        'update-row (leads-win); stage: won > new',
      ],
    ],
    [
      'first sight, different, target-wins',
      { lead: known, row: row(edited) },
      { onFirstSync: 'target-wins' },
      [
        `agree (in-step); companyName: Acme > Acme; nextFollowUpAt: ${due} > ${due}`,
        'update-lead (target-wins); stage: new > won',
      ],
    ],
    [
      'first sight, each side fills the other',
      { lead: { ...known, stage: null }, row: row({ ...known, nextFollowUpAt: null }) },
      {},
      [
        'agree (in-step); companyName: Acme > Acme',
        'update-lead (fills-empty); stage: - > new',
        `update-row (fills-empty); nextFollowUpAt: - > ${due}`,
      ],
    ],

    // – – row with an id nobody knows
    ['orphan', { row: row(known) }, {}, ['hold (row.orphan)']],
    ['orphan, to-target', { row: row(known) }, { direction: 'to-target' }, ['hold (row.orphan)']],
    ['orphan, to-leads', { row: row(known) }, { direction: 'to-leads' }, ['hold (row.orphan)']],
    [
      'orphan, for many scans',
      { row: row(known), leadAbsences: 9 },
      { onLeadDeleted: 'remove' },
      ['hold (row.orphan)'],
    ],

    // too large, whatever the rest
    ['a large lead is new', { lead: large }, {}, ['hold (lead.too-large)']],
    ['a large lead is new, to-leads', { lead: large }, { direction: 'to-leads' }, []],
    [
      'a large lead, whose row is gone',
      { base: known, lead: large, rowAbsences: 9 },
      { onRowDeleted: 'delete-lead' },
      ['hold (lead.too-large)'],
    ],
    [
      'a large lead, row edited',
      { base: known, lead: large, row: row(edited) },
      {},
      ['hold (lead.too-large)'],
    ],
    [
      'a large row, lead edited',
      { base: known, lead: edited, row: row(large) },
      {},
      ['hold (row.too-large)'],
    ],
    [
      'a large row, whose lead is gone',
      { base: known, row: row(large), leadAbsences: 9 },
      { onLeadDeleted: 'remove' },
      ['hold (row.too-large)'],
    ],

    // yes yes yes
    ['in step', { base: known, lead: known, row: row(known) }, {}, []],
    [
      'lead edited',
      { base: known, lead: edited, row: row(known) },
      {},
      ['update-row (lead-edited); stage: new > won'],
    ],
    [
      'row edited',
      { base: known, lead: known, row: row(edited) },
      {},
      ['update-lead (row-edited); stage: new > won'],
    ],
    [
      'different fields edited',
      { base: known, lead: edited, row: row({ ...known, nextFollowUpAt: later }) },
      {},
      [
        `update-lead (row-edited); nextFollowUpAt: ${due} > ${later}`,
        'update-row (lead-edited); stage: new > won',
      ],
    ],
    [
      'same field edited',
      { base: known, lead: edited, row: row({ ...known, stage: 'lost' }) },
      {},
      ['hold (conflict.both-edited); stage: won > lost'],
    ],
    [
      'a conflict does not hold up the other fields',
      { base: known, lead: edited, row: row({ ...known, stage: 'lost', nextFollowUpAt: null }) },
      {},
      [
        `update-lead (row-edited); nextFollowUpAt: ${due} > -`,
        'hold (conflict.both-edited); stage: won > lost',
      ],
    ],
    [
      'a field in step for the first time',
      { base: { companyName: 'Acme', nextFollowUpAt: due }, lead: known, row: row(known) },
      {},
      ['agree (in-step); stage: new > new'],
    ],
    [
      'a cell that the row does not show is no edit: it is filled',
      { base: known, lead: edited, row: row({ companyName: 'Acme', nextFollowUpAt: later }) },
      {},
      [
        `update-lead (row-edited); nextFollowUpAt: ${due} > ${later}`,
        'update-row (fills-empty); stage: - > won',
      ],
    ],
    [
      'a cell that the row does not show stays so where rows are not written',
      { base: known, lead: known, row: row({ companyName: 'Acme' }) },
      { direction: 'to-leads' },
      [],
    ],
    [
      'a refused value waits, the others travel',
      {
        base: known,
        lead: known,
        row: row({ ...edited, companyName: 'Acme AG' }),
        memo: { stage: { refused: true } },
      },
      {},
      [
        'update-lead (row-edited); companyName: Acme > Acme AG',
        'hold (lead.field-refused); stage: new > won',
      ],
    ],
    [
      'a decision is carried out',
      {
        base: known,
        lead: edited,
        row: row({ ...known, stage: 'lost' }),
        memo: { stage: { resolution: 'target' } },
      },
      {},
      ['update-lead (resolved); stage: won > lost'],
    ],
  ])('%s', (_, state, choices, expected) => {
    expect(plan(state, choices)).toEqual(expected);
  });
});

test('a field that is one-way in a two-way connection only travels that way', () => {
  const oneWay: Policy = {
    ...policy(),
    fields: fields.map((mapping) =>
      mapping.field === 'stage' ? { ...mapping, direction: 'to-target' } : mapping,
    ),
  };
  const state = pair({ base: known, lead: known, row: row({ ...edited, nextFollowUpAt: later }) });
  expect(planPair(state, oneWay).map(told)).toEqual([
    `update-lead (row-edited); nextFollowUpAt: ${due} > ${later}`,
    'update-row (one-way); stage: won > new',
  ]);
});

test.each<[string, Cell, RegExp]>([
  ['a date', soon, /Type a date such as/],
  ['a text', soon, /Type it as text/],
  [
    'a formula',
    { unreadable: '=A1', why: 'formula' },
    /is a formula, and formulas are not synced. Type the value/,
  ],
])('what helps against a cell that cannot be read fits its column: %s', (what, cell, advice) => {
  const field = what === 'a date' ? 'nextFollowUpAt' : 'stage';
  const cells = { ...known, [field]: cell };
  const [hold] = planPair(pair({ base: known, lead: known, row: { row: 7, cells } }), policy());
  expect(hold?.message).toMatch(advice);
  if (field === 'stage') expect(hold?.message).not.toMatch(/\bdate\b/);
});

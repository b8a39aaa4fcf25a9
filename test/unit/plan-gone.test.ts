import { describe, expect, test } from 'vitest';
import { mostOfRecord, withinSize } from '../../src/core/lead/text-size.ts';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import { type PairState, planPair } from '../../src/core/merge/plan.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { pair, policy, told } from './pair-state.ts';

const due = '2026-11-21T08:30:00.000Z';
const soon = { unreadable: 'soon' };

const known: Values = { companyName: 'Acme', stage: 'new', nextFollowUpAt: due };
const edited: Values = { ...known, stage: 'won' };
const row = (cells: Cells) => ({ row: 7, cells });

function plan(state: Partial<PairState>, choices: Partial<Policy> = {}): readonly string[] {
  return planPair(pair(state), policy(choices)).map(told);
}

const create = (why: string, stage = 'new') =>
  `create-row (${why}); companyName: - > Acme; stage: - > ${stage}; nextFollowUpAt: - > ${due}`;

describe('a lead or a row that is gone: the first table of docs/architecture.md 5', () => {
  test.each<[string, Partial<PairState>, Partial<Policy>, readonly string[]]>([
    // yes gone T = B
    ['lead missed once', { base: known, row: row(known), leadAbsences: 1 }, {}, []],
    [
      'lead missed by a scan that is no proof',
      { base: known, row: row(known), leadAbsences: 0 },
      { onLeadDeleted: 'remove' },
      [],
    ],
    [
      'lead deleted, mark',
      { base: known, row: row(known), leadAbsences: 2 },
      {},
      ['mark-row (lead-deleted)'],
    ],
    ['lead deleted, keep', { base: known, row: row(known), leadAbsences: 2 }, { onLeadDeleted: 'keep' }, []],
    [
      'lead deleted, remove',
      { base: known, row: row(known), leadAbsences: 2 },
      { onLeadDeleted: 'remove' },
      ['remove-row (lead-deleted)'],
    ],
    [
      'lead missed once, remove: told before it happens',
      { base: known, row: row(known), leadAbsences: 1 },
      { onLeadDeleted: 'remove' },
      ['report (delete.waiting)'],
    ],
    [
      'lead deleted, mark, to-target',
      { base: known, row: row(known), leadAbsences: 2 },
      { direction: 'to-target' },
      ['mark-row (lead-deleted)'],
    ],
    [
      'lead deleted, remove, to-target',
      { base: known, row: row(known), leadAbsences: 2 },
      { direction: 'to-target', onLeadDeleted: 'remove' },
      ['remove-row (lead-deleted)'],
    ],
    [
      'lead deleted, mark, to-leads',
      { base: known, row: row(known), leadAbsences: 2 },
      { direction: 'to-leads' },
      [],
    ],
    [
      'lead deleted, remove, to-leads',
      { base: known, row: row(known), leadAbsences: 2 },
      { direction: 'to-leads', onLeadDeleted: 'remove' },
      [],
    ],
    [
      'lead deleted, marked before',
      { base: known, row: row(known), leadAbsences: 5, deletionDone: true },
      {},
      [],
    ],
    [
      'lead deleted, a column is missing',
      { base: known, row: row({ companyName: 'Acme' }), leadAbsences: 2 },
      {},
      ['mark-row (lead-deleted)'],
    ],

    // yes gone T ≠ B
    ...[0, 1].map((leadAbsences): [string, Partial<PairState>, Partial<Policy>, readonly string[]] => [
      `row edited, lead missed ${leadAbsences} times by the list, and gone by its id`,
      { base: known, row: row(edited), leadAbsences },
      {},
      ['hold (conflict.edit-meets-delete); stage: - > won'],
    ]),
    [
      'row edited, lead missed twice, and the service does not say whether it is gone',
      { base: known, row: row(edited), leadAbsences: 2, unasked: 'it is down' },
      { onLeadDeleted: 'remove' },
      ['hold (lead.unasked); stage: - > won'],
    ],
    [
      'an unknown id, and the service does not say whose',
      { row: row(known), unasked: 'it is down' },
      {},
      ['hold (lead.unasked)'],
    ],
    [
      'row missed by a scan that is no proof, delete-lead',
      { base: known, lead: known },
      { onRowDeleted: 'delete-lead' },
      ['report (delete.unproven)'],
    ],
    [
      'lead deleted, row edited',
      { base: known, row: row(edited), leadAbsences: 2 },
      {},
      ['hold (conflict.edit-meets-delete); stage: - > won'],
    ],
    [
      'lead deleted, row edited, remove',
      { base: known, row: row(edited), leadAbsences: 2 },
      { onLeadDeleted: 'remove' },
      ['hold (conflict.edit-meets-delete); stage: - > won'],
    ],
    [
      'lead deleted, row edited, keep',
      { base: known, row: row(edited), leadAbsences: 2 },
      { onLeadDeleted: 'keep' },
      ['hold (conflict.edit-meets-delete); stage: - > won'],
    ],
    [
      'lead deleted, row edited, to-target',
      { base: known, row: row(edited), leadAbsences: 2 },
      { direction: 'to-target' },
      ['hold (conflict.edit-meets-delete); stage: - > won'],
    ],
    [
      'lead deleted, row edited, to-leads',
      { base: known, row: row(edited), leadAbsences: 2 },
      { direction: 'to-leads' },
      ['hold (conflict.edit-meets-delete); stage: - > won'],
    ],
    [
      'lead deleted and marked, row edited since',
      { base: known, row: row(edited), leadAbsences: 4, deletionDone: true },
      {},
      ['hold (conflict.edit-meets-delete); stage: - > won'],
    ],
    [
      'lead deleted, a cell cannot be read',
      { base: known, row: row({ ...known, nextFollowUpAt: soon }), leadAbsences: 2 },
      { onLeadDeleted: 'remove' },
      ['hold (conflict.edit-meets-delete); nextFollowUpAt: - > ?soon'],
    ],
    [
      'lead deleted, row edited, a column is missing',
      { base: known, row: row({ companyName: 'Acme', stage: 'won' }), leadAbsences: 2 },
      {},
      ['hold (conflict.edit-meets-delete); stage: - > won'],
    ],
    [
      'lead deleted, a value that was never in step',
      { base: { companyName: 'Acme' }, row: row({ companyName: 'Acme', stage: 'won' }), leadAbsences: 2 },
      {},
      ['hold (conflict.edit-meets-delete); stage: - > won'],
    ],

    // yes L = B gone
    ['row deleted, restore', { base: known, lead: known, rowAbsences: 1 }, {}, [create('row-deleted')]],
    ['row deleted, ignore', { base: known, lead: known, rowAbsences: 2 }, { onRowDeleted: 'ignore' }, []],
    [
      'row deleted, delete-lead, missed once: told before it happens',
      { base: known, lead: known, rowAbsences: 1 },
      { onRowDeleted: 'delete-lead' },
      ['report (delete.waiting)'],
    ],
    [
      'row deleted, delete-lead',
      { base: known, lead: known, rowAbsences: 2 },
      { onRowDeleted: 'delete-lead' },
      ['delete-lead (row-deleted)'],
    ],
    [
      'row deleted, restore, to-target',
      { base: known, lead: known, rowAbsences: 2 },
      { direction: 'to-target' },
      [create('row-deleted')],
    ],
    [
      'row deleted, ignore, to-target',
      { base: known, lead: known, rowAbsences: 2 },
      { direction: 'to-target', onRowDeleted: 'ignore' },
      [],
    ],
    [
      'row deleted, delete-lead, to-target',
      { base: known, lead: known, rowAbsences: 2 },
      { direction: 'to-target', onRowDeleted: 'delete-lead' },
      [create('row-deleted')],
    ],
    [
      'row deleted, restore, to-leads',
      { base: known, lead: known, rowAbsences: 2 },
      { direction: 'to-leads' },
      [],
    ],
    [
      'row deleted, ignore, to-leads',
      { base: known, lead: known, rowAbsences: 2 },
      { direction: 'to-leads', onRowDeleted: 'ignore' },
      [],
    ],
    [
      'row deleted, delete-lead, to-leads',
      { base: known, lead: known, rowAbsences: 2 },
      { direction: 'to-leads', onRowDeleted: 'delete-lead' },
      ['delete-lead (row-deleted)'],
    ],

    // yes L ≠ B gone
    [
      'row deleted, lead edited',
      { base: known, lead: edited, rowAbsences: 2 },
      {},
      [create('row-deleted-but-lead-edited', 'won')],
    ],
    [
      'row deleted, lead edited, ignore',
      { base: known, lead: edited, rowAbsences: 2 },
      { onRowDeleted: 'ignore' },
      [create('row-deleted-but-lead-edited', 'won')],
    ],
    [
      'row deleted, lead edited, delete-lead',
      { base: known, lead: edited, rowAbsences: 9 },
      { onRowDeleted: 'delete-lead' },
      [create('row-deleted-but-lead-edited', 'won')],
    ],
    [
      'row deleted, lead edited, to-target',
      { base: known, lead: edited, rowAbsences: 2 },
      { direction: 'to-target', onRowDeleted: 'delete-lead' },
      [create('row-deleted-but-lead-edited', 'won')],
    ],
    [
      'row deleted, lead edited, to-leads',
      { base: known, lead: edited, rowAbsences: 9 },
      { direction: 'to-leads', onRowDeleted: 'delete-lead' },
      [],
    ],
    [
      'row deleted, a cell of the lead cannot be read',
      { base: known, lead: { ...known, nextFollowUpAt: soon }, rowAbsences: 2 },
      { onRowDeleted: 'delete-lead' },
      [
        'create-row (row-deleted-but-lead-edited); companyName: - > Acme; stage: - > new',
        'hold (lead.unreadable); nextFollowUpAt: ?soon > -',
      ],
    ],

    // yes gone gone
    ['both missed once', { base: known, leadAbsences: 1, rowAbsences: 1 }, {}, []],
    ['lead gone, row missed once', { base: known, leadAbsences: 2, rowAbsences: 1 }, {}, []],
    ['row gone, lead missed once', { base: known, leadAbsences: 1, rowAbsences: 2 }, {}, []],
    ['both gone', { base: known, leadAbsences: 2, rowAbsences: 2 }, {}, ['forget (gone-on-both-sides)']],
    [
      'both gone, marked before',
      { base: known, leadAbsences: 4, rowAbsences: 2, deletionDone: true },
      {},
      ['forget (gone-on-both-sides)'],
    ],
    // What was known is not forgotten by one scan either: "not known before" is how a lost create is found.
    ['never in step, missed once', { leadAbsences: 1, rowAbsences: 9 }, {}, []],
    ['never in step, missed by a scan that is no proof', { leadAbsences: 0, rowAbsences: 9 }, {}, []],
    ['never in step, gone', { leadAbsences: 2, rowAbsences: 2 }, {}, ['forget (gone-on-both-sides)']],
  ])('%s', (_, state, choices, expected) => {
    expect(plan(state, choices)).toEqual(expected);
  });
});

describe('a row that was missed once, and may be on the clipboard', () => {
  const early = { base: known, rowAbsences: 1, provenFrom: Date.parse('2026-11-21T16:00:00.000Z') };
  const said = (lead: Values, choices: Partial<Policy>, state: Partial<PairState> = {}) =>
    planPair(pair({ ...early, lead, ...state }), policy(choices)).map(({ reason, message }) =>
      reason === 'delete.waiting' ? (/that sync ([^.]*)\./.exec(message ?? '')?.[1] ?? '') : reason,
    );

  test.each<[Partial<Policy>, readonly string[], readonly string[]]>([
    [{}, ['writes the row again'], ['writes the row again']],
    [{ onRowDeleted: 'ignore' }, [], ['writes the row again']],
    [{ onRowDeleted: 'delete-lead' }, ['deletes the lead'], ['writes the row again']],
    [{ onRowDeleted: 'ask' }, ['asks whether that was meant'], ['asks whether that was meant']],
    [
      { direction: 'to-target', onRowDeleted: 'delete-lead' },
      ['writes the row again'],
      ['writes the row again'],
    ],
    [{ direction: 'to-leads' }, [], []],
  ])('%j: what is said of it is what comes', (choices, same, changed) => {
    expect([said(known, choices), said(edited, choices)]).toEqual([same, changed]);
  });

  test('that was missed by a scan which is no proof is written again at once', () => {
    expect(said(known, {}, { rowAbsences: 0 })).toEqual(['row-deleted']);
  });
});

describe('a delete about which a person is asked', () => {
  const [noRow, noLead] = [
    { base: known, lead: edited, rowAbsences: 2 },
    { base: known, row: row(known), leadAbsences: 2 },
  ];
  test.each<[string, Partial<PairState>, Partial<Policy>, readonly string[]]>([
    ['a row', noRow, {}, ['hold (row.deleted)']],
    ['a row, which was meant', { ...noRow, answer: 'deleted' }, {}, ['delete-lead (row-deleted)']],
    ['a row, which was not', { ...noRow, answer: 'restore' }, {}, [create('row-deleted', 'won')]],
    [
      'a row, answered before it is proven',
      { ...noRow, rowAbsences: 1, answer: 'deleted' },
      {},
      ['report (delete.waiting)'],
    ],
    [
      'a row of a table that no lead comes from',
      noRow,
      { direction: 'to-target' },
      [create('row-deleted-but-lead-edited', 'won')],
    ],
    [
      'the same of a lead as it was',
      { ...noRow, lead: known },
      { direction: 'to-target' },
      [create('row-deleted')],
    ],
    ['a lead', noLead, {}, ['hold (lead.deleted)']],
    ['a lead, which was meant', { ...noLead, answer: 'deleted' }, {}, ['remove-row (lead-deleted)']],
    ['a lead, which was not', { ...noLead, answer: 'restore' }, {}, ['unlink (lead-restored)']],
    [
      'a lead, answered before it is proven',
      { ...noLead, leadAbsences: 1, answer: 'deleted' },
      {},
      ['report (delete.waiting)'],
    ],
    [
      'a lead that a scan which is no proof missed',
      { ...noLead, leadAbsences: 0, answer: 'deleted' },
      {},
      [],
    ],
  ])('%s', (_, state, choices, expected) => {
    expect(plan(state, { onRowDeleted: 'ask', onLeadDeleted: 'ask', ...choices })).toEqual(expected);
  });

  test.each(['deleted', 'restore', null] as const)(
    'is carried out only while what is left is as it was: %s',
    (answer) => {
      const choices = policy({ onRowDeleted: 'ask', onLeadDeleted: 'ask' });
      const ofLead = planPair(pair({ ...noLead, answer }), choices);
      expect(ofLead).toMatchObject([{ leadId: 'lead-1', row: 7, expect: known }]);
      if (answer !== 'restore')
        expect(planPair(pair({ ...noRow, answer }), choices)).toMatchObject([
          { leadId: 'lead-1', expect: edited },
        ]);
    },
  );
});

test('a row that went into another is held, and a record that is too large, unless nothing would be done with it', () => {
  expect(plan({ base: known, lead: known, merged: { row: 3, message: '' } })).toEqual(['hold (row.merged)']);
  const large = withinSize({ ...known, stage: 'x'.repeat(mostOfRecord + 1) });
  const toLeads = { direction: 'to-leads' } as const;
  expect(plan({ lead: large })).toEqual(['hold (lead.too-large)']);
  expect(plan({ lead: large }, toLeads)).toEqual([]);
  expect(plan({ lead: large, base: known }, toLeads)).toEqual(['hold (lead.too-large)']);
  expect(plan({ lead: large, row: row(known) }, toLeads)).toEqual(['hold (lead.too-large)']);
});

test('a new lead waits, by its id, while a column is missing', () => {
  const [held, ...others] = planPair(pair({ lead: known }), policy({ unseen: policy().fields.slice(1, 2) }));
  expect(held).toMatchObject({ kind: 'hold', leadId: 'lead-1', row: null });
  expect(others).toEqual([]);
});

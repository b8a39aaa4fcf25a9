import { describe, expect, test } from 'vitest';
import {
  type AuditConditions,
  type AuditedAction,
  type AuditedRecord,
  auditRecord,
  type AuditSettings,
  auditRun,
  type Reason,
  waits,
} from '../../src/core/audit/audit.ts';
import type { Cells } from '../../src/core/lead/value.ts';

const base = { companyName: 'Acme', stage: 'new', city: 'Berlin' };
const won = { ...base, stage: 'won' };
const lost = { ...base, stage: 'lost' };

const settings: AuditSettings = {
  fields: ['companyName', 'stage', 'city'].map((field) => ({
    field,
    column: field,
    type: 'text',
    direction: 'two-way',
  })),
  direction: 'two-way',
  onLeadDeleted: 'mark',
  onRowDeleted: 'restore',
};
const plain: AuditConditions = {
  isPlan: false,
  unseen: new Set(),
  holdsNew: false,
  holdsStrays: false,
  holdsMatches: false,
  holdsOldRows: false,
  isInDoubt: false,
  pausesStrays: false,
};
const inStep: AuditedRecord = {
  leadId: 'acme',
  row: 2,
  base,
  moved: new Set(),
  lead: base,
  cells: base,
  actions: [],
  held: new Set(),
  isLeadGone: false,
  isDeletionDone: false,
  isApart: false,
};

function action(
  kind: string,
  state: string,
  to: Cells = {},
  more: Partial<AuditedAction> = {},
): AuditedAction {
  return { kind, state, reason: '', to, expect: {}, isDoubted: false, ...more };
}

const toRow = (state: string): Partial<AuditedRecord> => ({
  lead: won,
  actions: [action('update-row', state, { stage: 'won' })],
});
const { stage: _stage, ...voided } = base;
const noLead = { lead: null } satisfies Partial<AuditedRecord>;
const noRow = { cells: null } satisfies Partial<AuditedRecord>;
const newRow = { leadId: null, base: null, lead: null } satisfies Partial<AuditedRecord>;
const held = (...fields: string[]): Partial<AuditedRecord> => ({ held: new Set(fields) });

type Row = readonly [
  what: string,
  record: Partial<AuditedRecord>,
  given: Partial<AuditSettings & AuditConditions>,
  found: Reason | 'nothing' | 'unexplained',
];

const table: readonly Row[] = [
  ['both sides show the same', {}, {}, 'nothing'],
  ['both sides show the same other value', { lead: won, cells: won }, {}, 'nothing'],
  ['both sides are gone', { ...noLead, ...noRow }, {}, 'nothing'],
  ['the lead changed, nothing was done', { lead: won }, {}, 'unexplained'],
  ['the row changed, nothing was done', { cells: won }, {}, 'unexplained'],
  ['the lead changed, and the row was written', toRow('done'), {}, 'nothing'],
  [
    'the row changed, and the lead was written',
    { cells: won, actions: [action('update-lead', 'done', { stage: 'won' })] },
    {},
    'nothing',
  ],
  [
    'the row changed, and a lead that the list lacks was read and written',
    { ...noLead, cells: won, actions: [action('update-lead', 'done', { stage: 'won' })] },
    {},
    'nothing',
  ],
  [
    'another field was written',
    { lead: won, actions: [action('update-row', 'done', { city: 'Berlin' })] },
    {},
    'unexplained',
  ],
  [
    'another value was written',
    { lead: won, actions: [action('update-row', 'done', { stage: 'lost' })] },
    {},
    'unexplained',
  ],
  [
    'equal sides were made to differ',
    { actions: [action('update-row', 'done', { stage: 'won' })] },
    {},
    'unexplained',
  ],
  [
    'the service stored it otherwise, and the row got that',
    {
      cells: { ...base, stage: ' won' },
      actions: [
        action('update-lead', 'done', { stage: ' won' }),
        action('update-row', 'done', { stage: 'won' }, { reason: 'stored-otherwise' }),
      ],
    },
    {},
    'nothing',
  ],
  [
    'the service stored it otherwise, and the row gets that later',
    {
      cells: { ...base, stage: ' won' },
      moved: new Set(['stage']),
      actions: [
        action('update-lead', 'done', { stage: ' won' }),
        action('update-row', 'deferred', { stage: 'won' }, { reason: 'stored-otherwise' }),
      ],
    },
    {},
    'put-off',
  ],
  ['the row is put off', toRow('deferred'), {}, 'put-off'],
  [
    'the row is put off, and the baseline has moved',
    { ...toRow('deferred'), moved: new Set(['stage']) },
    {},
    'unexplained',
  ],
  [
    'the row is put off, and the baseline was another column’s',
    { ...toRow('deferred'), base: voided, moved: new Set(['stage']) },
    {},
    'put-off',
  ],
  [
    'the row was written, and shows something else',
    { lead: won, actions: [action('update-row', 'done', { stage: 'lost' }, { isDoubted: true })] },
    {},
    'put-off',
  ],
  ['the row was forgotten', toRow('planned'), {}, 'unexplained'],
  ['a plan', toRow('planned'), { isPlan: true }, 'planned'],
  [
    'a plan that holds the field',
    { lead: won, actions: [action('hold', 'planned', { stage: 'lost' })] },
    { isPlan: true },
    'held',
  ],
  [
    'a plan that holds the record',
    { lead: won, actions: [action('hold', 'planned')] },
    { isPlan: true },
    'held',
  ],
  ['no line of the reviewed plan', toRow('left-out'), {}, 'left-out'],
  ['held and listed', { lead: won, cells: lost, ...held('stage') }, {}, 'held'],
  ['held as a whole and listed', { lead: won, cells: lost, ...held('') }, {}, 'held'],
  ['another field is held', { lead: won, cells: lost, ...held('city') }, {}, 'unexplained'],
  [
    'held, and listed nowhere',
    { lead: won, cells: lost, actions: [action('hold', 'planned', { stage: 'lost' })] },
    {},
    'unexplained',
  ],
  [
    'the service took one field and refused another',
    {
      cells: { ...won, city: 'Bonn' },
      ...held('city'),
      actions: [action('update-lead', 'done', { stage: 'won', city: 'Bonn' })],
    },
    {},
    'held',
  ],
  [
    'the column is missing',
    { lead: won, cells: { companyName: 'Acme', city: 'Berlin' } },
    { unseen: new Set(['stage']) },
    'column-unseen',
  ],
  [
    'a short row, which an action was to fill',
    { cells: { companyName: 'Acme', stage: 'new' } },
    {},
    'unexplained',
  ],
  [
    'a short row, and the lead has nothing there',
    { lead: { ...base, city: null }, cells: { companyName: 'Acme', stage: 'new' } },
    {},
    'no-cell',
  ],
  [
    'a short row, and rows are not written',
    { cells: { companyName: 'Acme', stage: 'new' } },
    { direction: 'to-leads' },
    'no-cell',
  ],
  ['an edit of a one-way row stays', { cells: won }, { direction: 'to-target' }, 'unexplained'],
  ['a new lead without a row', { base: null, ...noRow }, {}, 'unexplained'],
  [
    'a new lead, and its row',
    { base: null, ...noRow, actions: [action('create-row', 'done', base)] },
    {},
    'nothing',
  ],
  ['a new lead, rows are not written', { base: null, ...noRow }, { direction: 'to-leads' }, 'one-way'],
  [
    'a new lead that a create may have made',
    { base: null, ...noRow },
    { isInDoubt: true },
    'create-in-doubt',
  ],
  [
    'a new lead with a typed id that a create may have made',
    { base: null, cells: won },
    { isInDoubt: true },
    'create-in-doubt',
  ],
  ['a known lead is none of a create', { ...noRow }, { isInDoubt: true }, 'unexplained'],
  ['a row is gone, and was not written again', noRow, {}, 'unexplained'],
  ['a row is gone, and may be one without a readable id', noRow, { holdsStrays: true }, 'maybe-its-row'],
  ['a row is gone, and none is written without a column', noRow, { holdsNew: true }, 'column-unseen'],
  ['a row is gone, and that is ignored', noRow, { onRowDeleted: 'ignore' }, 'row-deletion-ignored'],
  [
    'a row is gone, in what may be an older copy',
    noRow,
    { onRowDeleted: 'delete-lead', holdsOldRows: true },
    'maybe-older-copy',
  ],
  ['a row is gone, and is to be written again', noRow, { holdsOldRows: true }, 'unexplained'],
  [
    'a row is gone, and its lead was edited',
    { ...noRow, lead: won },
    { onRowDeleted: 'ignore' },
    'unexplained',
  ],
  [
    'a row is gone, and its lead waits to be deleted',
    { ...noRow, actions: [action('report', 'planned', {}, { reason: 'delete.waiting' })] },
    { onRowDeleted: 'delete-lead' },
    'reported',
  ],
  [
    'a row is gone, and its lead was deleted',
    { ...noRow, actions: [action('delete-lead', 'done')] },
    { onRowDeleted: 'delete-lead' },
    'nothing',
  ],
  [
    'a row is gone, and its lead is still there',
    { ...noRow, actions: [action('delete-lead', 'deferred')] },
    { onRowDeleted: 'delete-lead' },
    'put-off',
  ],
  ['the list lacks the lead', noLead, {}, 'not-listed'],
  ['the list lacks the lead of an edited row', { ...noLead, cells: won }, {}, 'unexplained'],
  [
    'the list lacks the lead of an edited row, and the edit waits',
    { ...noLead, cells: won, actions: [action('report', 'deferred')] },
    {},
    'put-off',
  ],
  ['the lead is gone', { ...noLead, isLeadGone: true }, {}, 'unexplained'],
  [
    'the lead is gone, and that is kept',
    { ...noLead, isLeadGone: true },
    { onLeadDeleted: 'keep' },
    'lead-deletion-kept',
  ],
  [
    'the lead is gone, rows are not written',
    { ...noLead, isLeadGone: true },
    { direction: 'to-leads' },
    'one-way',
  ],
  [
    'the lead is gone, and its row is marked',
    { ...noLead, isLeadGone: true, actions: [action('mark-row', 'done')] },
    {},
    'lead-deletion-done',
  ],
  [
    'the lead is gone, and its row was marked before',
    { ...noLead, isLeadGone: true, isDeletionDone: true },
    {},
    'lead-deletion-done',
  ],
  [
    'the lead is gone, and its row was marked before and edited since',
    { ...noLead, cells: won, isLeadGone: true, isDeletionDone: true },
    {},
    'unexplained',
  ],
  [
    'the lead is gone, and its row is removed',
    { ...noLead, isLeadGone: true, actions: [action('remove-row', 'done')] },
    {},
    'nothing',
  ],
  ['an id that nobody knows', { ...noLead, base: null }, {}, 'unexplained'],
  ['an id that nobody knows, held', { ...noLead, base: null, ...held('') }, {}, 'held'],
  ['a new row', newRow, {}, 'unexplained'],
  [
    'a new row, and its lead',
    { ...newRow, actions: [action('create-lead', 'done', base), action('link', 'done')] },
    {},
    'nothing',
  ],
  [
    'a new row whose lead is not made yet',
    { ...newRow, actions: [action('create-lead', 'deferred', base)] },
    {},
    'put-off',
  ],
  [
    'a new row that the service refused',
    { ...newRow, actions: [action('create-lead', 'held', base)], ...held('') },
    {},
    'held',
  ],
  [
    'a new row, leads are not written',
    { ...newRow, actions: [action('report', 'planned', {}, { reason: 'row.without-id' })] },
    { direction: 'to-target' },
    'reported',
  ],
  ['a row apart from the table', { ...newRow, isApart: true }, {}, 'apart'],
  ['a row of a create in doubt', newRow, { isInDoubt: true }, 'create-in-doubt'],
  ['a row of which no lead is made without a column', newRow, { holdsNew: true }, 'column-unseen'],
  ['a row that may be one of several leads', newRow, { holdsMatches: true }, 'maybe-its-lead'],
  [
    'a row got its id back',
    { ...noRow, actions: [action('link', 'done', {}, { expect: base })] },
    {},
    'nothing',
  ],
  [
    'a row got its id back, and shows another value',
    { ...noRow, actions: [action('link', 'done', {}, { expect: won })] },
    {},
    'unexplained',
  ],
  [
    'two unreadable cells',
    { lead: { ...base, stage: { unreadable: 'a' } }, cells: { ...base, stage: { unreadable: 'b' } } },
    {},
    'unexplained',
  ],
];

describe('why two sides differ at the end of a run', () => {
  test.for(table)('%s', ([, record, given, found]) => {
    const audit = auditRecord({ ...inStep, ...record }, { ...settings, ...given }, { ...plain, ...given });
    expect(audit.unexplained.length > 0).toBe(found === 'unexplained');
    expect([...audit.reasons]).toEqual(found === 'unexplained' || found === 'nothing' ? [] : [found]);
  });

  test('each reason is in the table', () => {
    const tried = new Set(table.map(([, , , found]) => found));
    const reasons: readonly Reason[] = [
      'held',
      'put-off',
      'create-in-doubt',
      'column-unseen',
      'maybe-its-row',
      'maybe-its-lead',
      'maybe-older-copy',
    ];
    expect(reasons.every((reason) => tried.has(reason) && waits(reason))).toBe(true);
    const settled = [...tried].filter(
      (found): found is Reason => found !== 'nothing' && found !== 'unexplained',
    );
    expect(settled.filter((reason) => !waits(reason)).toSorted()).toEqual([
      'apart',
      'lead-deletion-done',
      'lead-deletion-kept',
      'left-out',
      'no-cell',
      'not-listed',
      'one-way',
      'planned',
      'reported',
      'row-deletion-ignored',
    ]);
  });

  test('an unexplained difference names the lead, the row, the field and both values', () => {
    const { unexplained } = auditRecord({ ...inStep, lead: won }, settings, plain);
    expect(unexplained).toEqual([
      { leadId: 'acme', row: 2, name: 'Acme', field: 'stage', lead: 'won', cell: 'new' },
    ]);
  });
});

test('of a run the first differences are kept, all are counted, and what waits is noted', async () => {
  const records = async function* () {
    for (let nth = 0; nth < 5; nth++) yield { ...inStep, row: nth, lead: won };
    yield { ...inStep, ...toRow('deferred') };
  };
  const { unexplained, count, isUnfinished } = await auditRun(records(), settings, plain, 2);
  expect({ rows: unexplained.map(({ row }) => row), count, isUnfinished }).toEqual({
    rows: [0, 1],
    count: 5,
    isUnfinished: true,
  });
});

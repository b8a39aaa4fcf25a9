import { describe, expect, test } from 'vitest';
import { inStep, type RowFacts, rowStatus } from '../../src/core/merge/row-status.ts';

const headings = new Map([
  ['companyName', 'Company'],
  ['stage', 'Stage'],
  ['nextFollowUpAt', 'Next\n follow-up'],
]);
const facts: RowFacts = {
  isCopy: false,
  conflicts: [],
  waiting: null,
  isListed: true,
  isOutside: false,
  deletedOn: null,
  shown: '',
};
const stage = { field: 'stage', code: 'conflict.both-edited' };
const date = { field: 'nextFollowUpAt', code: 'row.unreadable' };
const row = (code: string) => ({ conflicts: [{ field: '', code }] });

const table: readonly (readonly [Partial<RowFacts>, string | null])[] = [
  [{}, inStep],
  [{ shown: 'mine' }, inStep],
  [{ shown: 'in step\r\n018cd95e-0000-7000-8000-000000000001,Acme' }, null],
  [{ shown: 'in step\n,Acme', conflicts: [stage] }, null],
  [{ conflicts: [stage] }, 'held: Stage was changed here and in the service'],
  [{ conflicts: [{ ...stage, code: 'conflict.first-sight' }] }, 'held: Stage is different in the service'],
  [{ conflicts: [{ ...stage, code: 'lead.field-refused' }] }, 'held: the service refused this Stage'],
  [{ conflicts: [date] }, 'held: Next follow-up cannot be read'],
  [
    { conflicts: [{ ...date, code: 'lead.unreadable' }] },
    'held: Next follow-up cannot be read in the service',
  ],
  [{ conflicts: [{ field: 'companyName', code: 'row.company-name-empty' }] }, 'held: Company is empty'],
  [row('row.company-name-empty'), 'held: Company is empty'],
  [row('row.unreadable'), 'held: Company cannot be read'],
  // The first of the mapping, in whatever order they were held, and how many more.
  [{ conflicts: [date, stage] }, 'held: Stage was changed here and in the service (and 1 more)'],
  [{ conflicts: [stage, date] }, 'held: Stage was changed here and in the service (and 1 more)'],
  // A record that is held as a whole, also when each field says so.
  [row('row.orphan'), 'held: no lead has this id'],
  [row('row.too-large'), 'held: this row has too much text'],
  [row('row.without-id'), 'held: new rows do not become leads here'],
  [row('lead.create-refused'), 'held: the service refused this row as a lead'],
  [row('create.in-doubt'), 'held: could not tell which lead was created from this row'],
  [row('leads.forbidden'), 'held: leadsync is not allowed to change this in the service'],
  [{ conflicts: [stage, ...row('row.orphan').conflicts] }, 'held: no lead has this id'],
  [
    {
      conflicts: [stage, date].map((item) => ({ ...item, code: 'conflict.edit-meets-delete' })),
      isListed: false,
    },
    'held: the lead was deleted, but this row was changed',
  ],
  [row('something.new'), 'held: a person has to look at it (leadsync conflicts)'],
  // What is held counts more than what waits, and both more than a mark.
  [{ conflicts: [stage], waiting: 'lead.changed' }, 'held: Stage was changed here and in the service'],
  [{ waiting: 'lead.changed' }, 'waiting: the lead was changed during the sync'],
  [{ waiting: 'leads.unavailable' }, 'waiting: the service did not answer'],
  [{ waiting: 'create.in-doubt', isListed: false }, 'waiting: a lead is being created from this row'],
  [{ waiting: 'something.new' }, 'waiting: the next sync tries again'],
  [{ isListed: false }, 'waiting: the service does not list this lead'],
  [{ isListed: false, isOutside: true }, "outside: this table's filter does not show this lead any more"],
  [{ isOutside: true }, "outside: this table's filter does not show this lead any more"],
  [{ isOutside: true, conflicts: [stage] }, 'held: Stage was changed here and in the service'],
  [{ isListed: false, isOutside: true, deletedOn: '2026-11-21', shown: 'x' }, 'deleted 2026-11-21'],
  [{ isListed: false, deletedOn: '2026-11-21', shown: inStep }, 'deleted 2026-11-21'],
  [{ isListed: false, deletedOn: '2026-11-21', shown: 'deleted 2026-11-21' }, 'deleted 2026-11-21'],
  [
    { isListed: false, deletedOn: '2026-11-21', shown: inStep, conflicts: [stage] },
    'held: Stage was changed here and in the service',
  ],
  [
    { conflicts: [{ field: '', code: 'row.unmapped' }] },
    'held: a word of this row is not known to the service',
  ],
  // An undo has taken the mark out.
  [{ isListed: false, deletedOn: '2026-11-21', shown: '' }, null],
  [{ isCopy: true, conflicts: [stage] }, 'held: an earlier row has this id'],
];

/** Every code that a cell has words for; of a field as 'Stage'. */
const words: Readonly<Record<string, string>> = {
  'conflict.both-edited': 'held: Stage was changed here and in the service',
  'conflict.first-sight': 'held: Stage is different in the service',
  'row.unreadable': 'held: Stage cannot be read',
  'lead.unreadable': 'held: Stage cannot be read in the service',
  'row.unmapped': 'held: Stage has a word that the service does not know',
  'lead.unmapped': 'held: Stage has a word in the service that this table does not know',
  'row.company-name-empty': 'held: Stage is empty',
  'row.garbled': 'held: Stage has letters of another encoding',
  'lead.field-refused': 'held: the service refused this Stage',
  'row.put-back': 'held: Stage shows an earlier value again',
  'lead.put-back': 'held: Stage shows an earlier value again in the service',
  'conflict.edit-meets-delete': 'held: the lead was deleted, but this row was changed',
  'row.orphan': 'held: no lead has this id',
  'row.too-large': 'held: this row has too much text',
  'lead.too-large': 'held: its lead has too much text',
  'lead.unasked': 'held: the service did not say whether its lead is there',
  'row.moved': 'held: it belongs to the table of another connection',
  'row.duplicate-id': 'held: an earlier row has this id',
  'row.id-lost': 'held: its id is missing; it may belong to a lead',
  'match.proposed': 'held: it may be an existing lead (leadsync conflicts)',
  'match.ambiguous': 'held: it may be one of several leads (leadsync conflicts)',
  'row.twin': 'held: another row shows the same company',
  'row.id-moved': 'held: it shows the values of another lead',
  'row.column-missing': 'held: a column is missing or duplicated',
  'row.id-closed': 'held: no id can be written into this row',
  'row.id-unreadable': 'held: its id cannot be read',
  'row.without-id': 'held: new rows do not become leads here',
  'lead.create-refused': 'held: the service refused this row as a lead',
  'lead.exists': 'held: the service has this lead already',
  'row.undone': 'held: an undo deleted the lead of this row',
  'create.in-doubt': 'held: could not tell which lead was created from this row',
  'leads.forbidden': 'held: leadsync is not allowed to change this in the service',
  'target.value-not-storable': 'held: a value of the lead does not fit into this table',
  'target.cell-not-writable': 'held: a cell of this row cannot be written to',
};
const waits: Readonly<Record<string, string>> = {
  'create.in-doubt': 'a lead is being created from this row',
  'lead.changed': 'the lead was changed during the sync',
  'lead.gone': 'the service does not list this lead',
  'lead.still-there': 'the service does not list this lead',
  'leads.rejected': 'the service refused the change',
  'leads.too-large': 'the service did not answer',
  'leads.unavailable': 'the service did not answer',
  'leads.unreachable': 'the service did not answer',
  'leads.not-json': 'the service did not answer',
  'row.changed': 'it was changed during the sync',
  'row.gone': 'it was changed during the sync',
  'row.exists': 'it was changed during the sync',
  'row.duplicated': 'it was changed during the sync',
  'target.column-missing': 'a column is missing or duplicated',
};

test.each(Object.entries(words))('held for %s: %s', (code, text) => {
  expect(rowStatus({ ...facts, conflicts: [{ field: 'stage', code }] }, headings)).toBe(text);
});

test.each(Object.entries(waits))('waiting for %s: %s', (waiting, text) => {
  expect(rowStatus({ ...facts, waiting }, headings)).toBe(`waiting: ${text}`);
});

test('a field of no mapping goes by its own name', () => {
  const conflicts = [{ field: 'fax', code: 'row.unreadable' }];
  expect(rowStatus({ ...facts, conflicts }, headings)).toBe('held: fax cannot be read');
});

describe('how a row stands', () => {
  test.each(table)('%j: %s', (given, text) => {
    expect(rowStatus({ ...facts, ...given }, headings)).toBe(text);
  });

  test('the same text whatever the cell shows', () => {
    for (const [given, text] of table) {
      if (given.deletedOn !== undefined || text === null) continue;
      for (const shown of ['', text, 'mine'])
        expect(rowStatus({ ...facts, ...given, shown }, headings)).toBe(text);
    }
  });
});

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
  // An undo has taken the mark out.
  [{ isListed: false, deletedOn: '2026-11-21', shown: '' }, null],
  [{ isCopy: true, conflicts: [stage] }, 'held: an earlier row has this id'],
];

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

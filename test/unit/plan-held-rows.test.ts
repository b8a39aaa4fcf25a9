import { describe, expect, test } from 'vitest';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import { withinSize } from '../../src/core/lead/text-size.ts';
import type { PlannedAction } from '../../src/core/merge/action.ts';
import {
  idAdvice,
  planAmbiguousLead,
  planAmbiguousRow,
  planClosedId,
  planDuplicateRow,
  planLostRow,
  planMissed,
  planMissing,
  planMovedRow,
  planProposed,
  planTooLarge,
  planTwinRow,
  planUnreadableId,
} from '../../src/core/merge/plan-rows.ts';
import { policy as policyOf } from './pair-state.ts';

const mapped = (field: string, column: string): FieldMapping => ({
  field,
  column,
  type: 'text',
  direction: 'two-way',
});
const [company, city] = [mapped('companyName', 'Company'), mapped('city', 'City')];
const policy = policyOf({ fields: [company, city] });
const cells = { companyName: 'Acme', city: 'Bonn' };
const contentHash = hashContent(cells, policy.fields);
const nothing = { kind: 'hold', leadId: null, row: null, contentHash: '', changes: {}, expect: {} };
/** A row without id is found again by all that it shows. */
const ofRow = { ...nothing, row: 7, contentHash, expect: cells };
const help = 'leadsync conflicts shows both, and you decide';
const pair = {
  leadId: 'l1',
  lead: { companyName: 'ACME' },
  row: 7,
  contentHash,
  cells,
  why: 'City is the same',
};

describe('a row that is held writes nothing, says why, and is known again', () => {
  test.each<[string, PlannedAction, object]>([
    [
      'a further row of an id',
      planDuplicateRow('l1', 7),
      {
        ...nothing,
        leadId: 'l1',
        row: 7,
        contentHash: 'duplicate:7',
        reason: 'row.duplicate-id',
        message:
          'row 7 repeats the id of a row above it: only the first is synced. Clear the id to make a new lead of this row, or delete the row',
      },
    ],
    [
      'a further row that may be of another lead',
      planDuplicateRow('l1', 7, ['l2']),
      {
        message: expect.stringContaining(
          'only the first is synced. It may be the row of lead l2, whose row is gone',
        ),
      },
    ],
    [
      'a row that lost its id',
      planLostRow(7, cells, ['l1'], policy),
      {
        ...ofRow,
        reason: 'row.id-lost',
        message:
          'row 7 ("Acme") has no id: no lead was created. It may be the row of lead l1, whose row is gone and was not written again: type this id into its id cell. If it is a new row, delete it, sync, and add it again',
      },
    ],
    [
      'a row without a name that lost its id',
      planLostRow(7, { city: 'Bonn' }, ['l1'], policy),
      { message: expect.stringMatching(/^row 7 has no id: /) },
    ],
    [
      'an id that is none',
      planUnreadableId(7, cells, '#REF!', undefined, policy),
      {
        ...ofRow,
        reason: 'row.id-unreadable',
        message:
          'row 7 ("Acme") has "#REF!" in its id cell, which is not an id: nothing was changed, no lead was created, and until this is fixed no row counts as deleted. Type the id there as plain text, or empty the cell',
      },
    ],
    [
      'an id that is none, of a row that may be known',
      planUnreadableId(7, cells, '#REF!', ['l1', 'l2', 'l3', 'l4', 'l5'], policy),
      {
        message: expect.stringContaining(
          'counts as deleted. It may be the row of lead l1, l2, l3 and 2 more. Type the id there',
        ),
      },
    ],
    [
      'an id cell that takes no id',
      planClosedId(7, cells, 'the cell is locked.', policy),
      {
        ...ofRow,
        reason: 'row.id-closed',
        message:
          'row 7 ("Acme") is new, but no id can be written into it: the cell is locked. No lead was created',
      },
    ],
    [
      'an id beside the values of other leads',
      planMovedRow({ leadId: 'l1', row: { row: 7, cells } }, ['l2', 'l3', 'l4']),
      {
        ...nothing,
        leadId: 'l1',
        row: 7,
        reason: 'row.id-moved',
        message:
          'row 7 carries the id of lead l1 and shows what lead l2, l3, l4 had: nothing was changed. Were ids or rows shifted against each other? Put each id back beside its values; if this is intended, run leadsync sync --allow rows-shuffled',
      },
    ],
    [
      'an id beside values of nobody',
      planMovedRow({ leadId: 'l1', row: null }, []),
      {
        row: null,
        message: expect.stringContaining(
          'row ? carries the id of lead l1 and shows values that differ from before, while another row shows the earlier ones: nothing',
        ),
      },
    ],
    [
      'a company that is there twice',
      planTwinRow(7, cells, 3, policy),
      {
        ...ofRow,
        reason: 'row.twin',
        message:
          'row 7 ("Acme") is new, and shows the same company as row 3: no second lead was created. Delete one of the two rows, or decide for a second lead: leadsync conflicts shows the number for leadsync resolve NUMBER --use row',
      },
    ],
    [
      'a likely match',
      planProposed(pair),
      {
        ...nothing,
        leadId: 'l1',
        row: 7,
        contentHash,
        reason: 'match.proposed',
        message: `row 7 ("Acme") has no id and may be the lead "ACME": City is the same. Until you decide, no lead is made of it. ${help}`,
      },
    ],
    [
      'a lead that may be one row',
      planAmbiguousLead('l1', {}, [7]),
      {
        ...nothing,
        leadId: 'l1',
        reason: 'match.ambiguous',
        message: `the lead l1 may be row 7; none is certain. No row was written for it. ${help}`,
      },
    ],
    [
      'a lead that may be many rows',
      planAmbiguousLead('l1', { companyName: 'ACME' }, [7, 8, 9, 10]),
      { message: expect.stringContaining('the lead "ACME" may be one of the rows 7, 8, 9 and 1 more; none') },
    ],
    [
      'a row that may be two leads',
      planAmbiguousRow(pair, [pair, { leadId: 'l2', lead: {} }]),
      {
        ...ofRow,
        reason: 'match.ambiguous',
        message: `row 7 ("Acme") has no id and may be one of the leads "ACME", l2; none is certain. No lead was created. ${help}`,
      },
    ],
    [
      'a new record while a column is missing',
      planMissing({ leadId: 'l1', row: 7 }),
      { ...nothing, leadId: 'l1', row: 7, reason: 'row.column-missing' },
    ],
  ])('%s', (_what, action, expected) => {
    expect(action).toMatchObject(expected);
  });
});

test.each<[readonly string[] | undefined, string]>([
  [undefined, 'Clear the id to make a new lead of this row, or delete the row'],
  [
    ['l1'],
    'It may be the row of lead l1, whose row is gone and was not written again: type this id into its id cell.',
  ],
  [
    ['l1', 'l2'],
    'It may be the row of one of the leads l1, l2, whose rows are gone and were not written again: type the right id into its id cell.',
  ],
])('what to do with an id that is not the own one: %j', (mayBe, advice) => {
  expect(idAdvice(mayBe)).toContain(advice);
});

describe('a record with too much text', () => {
  const large = withinSize({ companyName: 'Acme', city: 'x'.repeat(1_000_001) });
  const message = (who: string): string =>
    `${who} has 1,000,005 characters, 1,000,001 of them in "City", and leadsync takes 1,000,000 of one: nothing was changed on either side. Shorten its longest texts, or take the column out of \`fields\``;

  test('of a row with an id', () => {
    expect(planTooLarge({ leadId: 'l1', lead: null, row: { row: 7, cells: large } }, policy)).toEqual({
      ...nothing,
      leadId: 'l1',
      row: 7,
      reason: 'row.too-large',
      message: message('row 7'),
    });
  });

  test('of a row without one', () => {
    expect(planTooLarge({ leadId: null, lead: null, row: { row: 7, cells: large } }, policy)).toEqual({
      ...nothing,
      row: 7,
      contentHash: hashContent(large, policy.fields),
      expect: large,
      reason: 'row.too-large',
      message: message('row 7'),
    });
  });

  test('of a lead, whose row is not', () => {
    expect(planTooLarge({ leadId: 'l1', lead: large, row: { row: 7, cells } }, policy)).toMatchObject({
      leadId: 'l1',
      row: 7,
      reason: 'lead.too-large',
      message: message('the lead l1'),
    });
    expect(planTooLarge({ leadId: 'l1', lead: large, row: null }, policy)).toMatchObject({ row: null });
  });

  test('none', () => {
    expect(planTooLarge({ leadId: 'l1', lead: cells, row: { row: 7, cells } }, policy)).toBeNull();
    expect(planTooLarge({ leadId: 'l1', lead: null, row: null }, policy)).toBeNull();
  });
});

test.each<[{ leads: number; rows: number }, string]>([
  [{ leads: 1, rows: 0 }, 'no row of 1 lead was made'],
  [{ leads: 0, rows: 2 }, 'no lead of 2 new rows was made'],
  [{ leads: 1_000, rows: 1 }, 'no lead of 1 new row and no row of 1,000 leads was made'],
])('a missing column keeps back what is new, and is one line: %j', (made, what) => {
  const message = `the table has no column, or two, headed "Stage", "City", so ${what}: each would lack it. Edits of known leads go on. Put the heading right, or name the column in the configuration (fields: stage, city), then run leadsync sync`;
  const missing = { ...policy, fields: [company], unseen: [mapped('stage', 'Stage'), city] };
  expect(planMissed(made, missing)).toEqual({
    ...nothing,
    contentHash: 'row.column-missing',
    reason: 'row.column-missing',
    message,
  });
});

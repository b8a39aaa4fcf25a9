import { expect, test } from 'vitest';
import { plannedAction } from '../../src/core/merge/action.ts';
import type { PairState } from '../../src/core/merge/plan.ts';
import {
  type Home,
  misreadCells,
  placesInCells,
  planMissingRow,
  planRowOfOther,
} from '../../src/core/merge/row-elsewhere.ts';

const values = { companyName: 'Acme' };
const state = (given: Partial<PairState>): PairState => ({
  leadId: 'a',
  base: values,
  lead: values,
  row: null,
  memo: {},
  leadAbsences: 0,
  rowAbsences: 1,
  deletionDone: false,
  ...given,
});
const table = { connection: 'north', address: './north.csv', row: 7 };
const restore = plannedAction('create-row', { leadId: 'a', reason: 'row-deleted' });
const remove = plannedAction('delete-lead', { leadId: 'a', reason: 'row-deleted' });
const forget = plannedAction('forget', { leadId: 'a', reason: 'gone-on-both-sides' });

test.each([
  ['nowhere else', {}, [remove], undefined, ['delete-lead row-deleted']],
  ['in a cell', {}, [remove], 'F7', ['hold row.in-cell']],
  ['in a cell, restored otherwise', {}, [restore], 'F7', ['hold row.in-cell']],
  ['in another table', {}, [remove], table, ['hold row.moved']],
  ['in another table, restored otherwise', {}, [restore], table, ['hold row.moved']],
  ['in another table, and nothing was to be done', {}, [], table, []],
  ['in another table, and the lead is gone too', { lead: null }, [forget], table, []],
])('the row of a lead that is missed stands %s', (_, given, actions, where, planned) => {
  const told = planMissingRow(state(given), actions, where);
  expect(told.map(({ kind, reason }) => `${kind} ${reason}`)).toEqual(planned);
});

const row = { row: 3, cells: values };
const home = (isThere: boolean): Home => ({ ...table, isThere });

test.each([
  ['of no other connection', { lead: null, base: null, row }, undefined, null],
  ['of a lead that is listed here', { base: null, row }, home(false), null],
  ['whose own row is gone', { lead: null, base: null, row }, home(false), 'row.moved'],
  ['whose own row is there too', { lead: null, base: null, row }, home(true), 'row.moved'],
  ['that was in step here, its lead in the other list now', { lead: null, row }, home(true), null],
  ['that was in step here, and moved back', { lead: null, row }, home(false), 'row.moved'],
])('a row with an id %s', (_, given, where, reason) => {
  expect(planRowOfOther(state(given), where)?.reason ?? null).toBe(reason);
});

test('both messages say where, and which command helps', () => {
  const [missing] = planMissingRow(state({}), [remove], table);
  expect(missing?.message).toMatch(/north\.csv of the connection north \(row 7.*--connection north/);
  const moved = planRowOfOther(state({ lead: null, base: null, row }), home(false));
  expect(moved).toMatchObject({ row: 3, message: expect.stringMatching(/^row 3 .*north\.csv/) as unknown });
});

const aside = (leadId: string, kind: 'note' | 'record' | 'table', place: string, hadRow = true) => ({
  leadId,
  kind,
  place,
  hadRow,
});

test('which cells hold whole rows, and whose rows stand in cells', () => {
  const missing = [
    aside('a', 'note', 'F7'),
    aside('b', 'note', 'F8', false),
    aside('c', 'record', 'lines 5 to 7', false),
    aside('c', 'note', 'lines 5 to 7', false),
    aside('d', 'table', 'lines 5 to 7'),
    aside('', 'table', 'lines 9 to 12', false),
  ];
  expect(misreadCells(missing)).toEqual([
    { place: 'lines 5 to 7', leadIds: ['c', 'd'], bare: false },
    { place: 'lines 9 to 12', leadIds: [], bare: true },
  ]);
  expect([...placesInCells(missing).keys()]).toEqual(['a', 'c', 'd']);
});

test('the messages say where the row stands, and how to put it right', () => {
  const missing = (where: string | typeof table) => planMissingRow(state({}), [remove], where)[0]?.message;
  expect(missing('F7')).toBe(
    'the lead has no row, but its id stands in another cell (F7): no row was written, and no lead deleted. Put the row back, or take the id out of that cell',
  );
  expect(missing(table)).toContain(
    'the row of this lead stands in ./north.csv of the connection north (row 7 when it was last synced): no row was written',
  );
  const here = state({ lead: null, row: { row: 3, cells: values } });
  const home = { ...table, address: null, row: null };
  expect(planRowOfOther({ ...here, base: null }, { ...home, isThere: true })?.message).toContain(
    'row 3 carries the id of a lead whose row stands in the table of the connection north too: this one was not synced',
  );
  expect(planRowOfOther(here, { ...table, isThere: false })?.message).toContain(
    'that belongs to ./north.csv of the connection north, where its row is gone',
  );
  expect(planRowOfOther(state({ lead: null }), { ...home, isThere: false })).toBeNull();
});

test('a cell with rows of which one has an id holds bare ones as well', () => {
  const aside = { place: 'F7', kind: 'record' } as const;
  const found = misreadCells([
    { ...aside, leadId: 'a' },
    { ...aside, leadId: '' },
  ]);
  expect(found).toEqual([{ place: 'F7', leadIds: ['a'], bare: true }]);
});

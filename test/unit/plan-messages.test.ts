import { expect, test } from 'vitest';
import type { Values } from '../../src/core/lead/value.ts';
import { orphan, type PairState, planPair } from '../../src/core/merge/plan.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { pair, policy } from './pair-state.ts';

const known: Values = { companyName: 'Acme', stage: 'new', nextFollowUpAt: null };
const row = { row: 7, cells: known };
const provenFrom = Date.UTC(2026, 10, 21, 14, 30);
const [noRow, noLead] = [
  { base: known, lead: known },
  { base: known, row },
];
const why = 'it answered with status 500';
const asked = (side: string) =>
  `the list does not show the lead of row 7 (${side}), and the service did not say whether it is there: ${why}. Nothing was changed; the next sync asks again`;

test.each<[what: string, Partial<PairState>, Partial<Policy>, message: string]>([
  [
    'a lead that was missed once, whose row would be deleted',
    { ...noLead, leadAbsences: 1 },
    { onLeadDeleted: 'remove' },
    'the lead of "Acme" is missing in the list; if the next complete scan lacks it too, and the service has none with its id, the next sync deletes the row. Nothing was deleted so far. To keep it, put the lead back',
  ],
  [
    'a lead that was missed once, about which a person would be asked',
    { ...noLead, leadAbsences: 1 },
    { onLeadDeleted: 'ask' },
    'the lead of "Acme" is missing in the list; if the next complete scan lacks it too, and the service has none with its id, the next sync asks whether that was meant. Nothing was deleted so far. To keep it, put the lead back',
  ],
  [
    'a row that was missed once, whose lead would be deleted',
    { ...noRow, rowAbsences: 1, provenFrom },
    { onRowDeleted: 'delete-lead' },
    'the row of "Acme" is missing; if a complete scan from 2026-11-21 14:30 UTC on lacks it too, that sync deletes the lead. Nothing was deleted so far. To keep it, put the row back',
  ],
  [
    'a row that may be on the clipboard',
    { ...noRow, rowAbsences: 1, provenFrom },
    { onRowDeleted: 'restore' },
    'the row of "Acme" is missing; if a complete scan from 2026-11-21 14:30 UTC on lacks it too, that sync writes the row again. Nothing was deleted so far. To keep it, put the row back',
  ],
  [
    'a row without a name, about which a person would be asked',
    { base: {}, lead: known, rowAbsences: 1 },
    { onRowDeleted: 'ask' },
    'the row of (empty) is missing; if the next complete scan lacks it too, the next sync asks whether that was meant. Nothing was deleted so far. To keep it, put the row back',
  ],
  [
    'a row that was deleted, about which a person is asked',
    { ...noRow, rowAbsences: 2 },
    { onRowDeleted: 'ask' },
    'the row of "Acme" was deleted: nothing is written before somebody decides. leadsync conflicts shows the number for leadsync resolve NUMBER --use deleted (the lead is deleted too) or --use restore (the row is written again)',
  ],
  [
    'a lead that was deleted, about which a person is asked',
    { ...noLead, leadAbsences: 2 },
    { onLeadDeleted: 'ask' },
    'the lead of "Acme" was deleted in the service: nothing is written before somebody decides. leadsync conflicts shows the number for leadsync resolve NUMBER --use deleted (the row is removed too) or --use restore (the row loses its id, and the sync after that makes a new lead of it)',
  ],
  [
    'a table without rows',
    noRow,
    { onRowDeleted: 'delete-lead' },
    'the row of "Acme" is missing, but a table without rows does not prove that it was deleted: the lead stays, and no row was written. Put the row back, or set onRowDeleted to restore',
  ],
  [
    'an edited row of a lead that was deleted',
    { ...noLead, base: { ...known, stage: 'won' }, leadAbsences: 2 },
    {},
    'the lead was deleted in the service, but this row was edited since: nothing was changed. Delete the row, or clear its id to make a new lead of it',
  ],
  [
    'an edited row of a lead that nobody could be asked about',
    { ...noLead, base: { ...known, stage: 'won' }, unasked: why },
    {},
    asked('lead-1'),
  ],
  [
    'a row of a lead that nobody could be asked about, before a person is',
    { ...noLead, leadAbsences: 2, unasked: why },
    { onLeadDeleted: 'ask' },
    asked('lead-1'),
  ],
  [
    'an id that no lead has',
    { row },
    {},
    'row 7 carries the id lead-1, which no lead has: nothing was changed. Clear the id to make a new lead of this row, or delete the row',
  ],
  ['an id of which it is not known whether a lead has it', { row, unasked: why }, {}, asked('lead-1')],
  [
    'a row that was merged into another',
    { ...noRow, merged: { row: 3, message: 'row 7 was merged into row 3' } },
    {},
    'row 7 was merged into row 3',
  ],
  [
    'a lead whose row an undo took away',
    { lead: known, undone: 'hash' },
    {},
    'an undo removed the row of this lead, so no row is written again. Change the lead, or decide for it: leadsync conflicts shows the number for leadsync resolve NUMBER --use lead',
  ],
])('what is said of %s', (_, state, choices, message) => {
  expect(planPair(pair(state), policy(choices)).map((action) => action.message)).toEqual([message]);
});

test('a row of a known lead that the service does not list may be the row of others', () => {
  expect(orphan(pair({ base: known, unasked: why }), row, ['lead-2']).message).toBe(
    'row 7 carries the id lead-1, which the service does not list: nothing was changed. It may be the row of lead lead-2, whose row is gone and was not written again: type this id into its id cell. If it is a new row, delete it, sync, and add it again',
  );
});

import { expect, test } from 'vitest';
import { asksForLeads, type PlanCounts } from '../../src/core/merge/guard.ts';
import { refusals } from './guard-counts.ts';

const place = { here: 'b.csv', before: 'a.csv', known: 0, recognised: 0, newLeads: 0, differing: 0 };
const cell = { place: 'lines 5 to 7', leadIds: ['a'], bare: false };
const shift = { first: 2, last: 90, by: 1, changed: 60, column: 'Town' };
const foreign = { known: 30, listed: 0, others: 40, asked: 5 };
const misreadEnd =
  'of this table. Was a quotation mark typed at the beginning of a cell, which joins all lines up to the next one, or were rows pasted into a cell? These rows are not gone. Take the quotation marks out (in a text editor), or put the rows back, and sync again';
const allowed = 'Once allowed, the 100 known pairs are compared without baselines, and differences are held';
const foreignEnd =
  'known ones that were asked for by id: is the key that of another organization? Put the right key back. If the service was emptied and filled anew, allow it: the others get rows, and the known leads count as missing from the list';
const shiftEnd =
  'Were cells deleted or inserted there? Undo that in the table, so that each value is beside its id again';

test.each<[what: string, Partial<PlanCounts>, message: string]>([
  [
    'a table that does not look like the one that moved',
    { otherPlace: { ...place, known: 10, recognised: 7 } },
    'a.csv is gone, and b.csv does not look like it: only 7 of 10 rows match. To sync b.csv as a new table, allow it',
  ],
  [
    'another table',
    { otherPlace: { ...place, newLeads: 4, differing: 2 } },
    'b.csv is not a.csv, which this connection synced so far: 4 of its rows would become leads, 2 differ from their leads. To sync b.csv as a new table, allow it. Otherwise change the target back',
  ],
  ['a row in a cell', { misread: [cell] }, `lines 5 to 7: a cell holds 1 row (a) ${misreadEnd}`],
  [
    'three rows in a cell',
    { misread: [{ ...cell, leadIds: ['a', 'b', 'c'] }] },
    `lines 5 to 7: a cell holds 3 rows (a, b, c) ${misreadEnd}`,
  ],
  [
    'many rows, some without an id, and other cells',
    { misread: [{ ...cell, leadIds: ['a', 'b', 'c', 'd', 'e'], bare: true }, cell, cell] },
    `lines 5 to 7 (the same in 2 other places): a cell holds 5 rows (a, b, c and 2 more) and rows without an id ${misreadEnd}`,
  ],
  [
    'rows without an id',
    { misread: [{ ...cell, leadIds: [], bare: true }] },
    `lines 5 to 7: a cell holds rows without an id ${misreadEnd}`,
  ],
  [
    'ids of its own',
    { knownPairs: 0, firstIds: { column: 'Kd-Nr.', ids: 40, unknown: 40, row: 4, id: '10023' } },
    'none of the 40 ids in the column "Kd-Nr." is an id of the service (row 4 has "10023"): are they numbers of your own? Nothing was changed. Leave them as they are, and name another heading for the ids (idColumn): an empty column with that heading, which the sync fills',
  ],
  [
    'no rows',
    { rows: 0 },
    'the target has no rows, but 100 were in step: nothing was written. Put the rows back, or allow this to write them again',
  ],
  [
    'a mark of a newer state',
    { mark: { kind: 'older-state', by: 'main' } },
    `a newer or another copy of this state wrote the table (its mark is unknown here): was the state restored from a backup, or does a copy, perhaps for tests, sync the same table? Give the copy its own table and its own database. ${allowed}`,
  ],
  [
    'a state that was restored',
    { mark: { kind: 'older-state', by: 'main', backedUpAt: new Date('2026-11-26T08:00:00Z') } },
    `the state was restored from a backup of 2026-11-26T08:00:00.000Z and lacks every baseline since: what looks like an edit may be an older value. ${allowed}`,
  ],
  [
    'a mark of another leadsync',
    { mark: { kind: 'other-keeper', by: 'main' } },
    `another leadsync wrote to this table since the last sync (its connection: main): two that sync one table undo each other's work. Stop the other one, or give one of them another table. ${allowed}`,
  ],
  [
    'a mark of another table',
    { mark: { kind: 'other-target', by: 'main' } },
    `the table is a copy of one that the connection main writes elsewhere. Put the right table back, or set the right target. ${allowed}`,
  ],
  [
    'another service',
    { otherService: 'http://old' },
    'the baselines of 100 leads belong to http://old, but this run reads another service. Give it its own DATA_DIR and its own table, unless it is the same service at a new address',
  ],
  [
    'the leads of another organization, of which none is known',
    { foreign },
    `the service lists none of 30 known leads, but 40 others, and it has none of 5 ${foreignEnd}`,
  ],
  [
    'the leads of another organization, of which one is known',
    { foreign: { ...foreign, listed: 1, others: 1 } },
    `the service lists only 1 of 30 known leads, but 1 other, and it has none of 5 ${foreignEnd}`,
  ],
  ['no leads', { leads: 0 }, 'the service returned no lead at all, but 100 are known'],
  [
    'many deletes',
    { byKind: { 'mark-row': 41 } },
    '41 of 100 would be deleted or marked as deleted; the limit is 10',
  ],
  ['many changes', { byKind: { 'update-row': 51 } }, '51 changes for 100 known pairs; the limit is 50'],
  [
    'a missing row',
    { byKind: { 'update-row': 50 }, rewritten: 1 },
    '51 changes for 100 known pairs; the limit is 50; 1 is a missing row that would be written again: is the table truncated or an older copy, or were ids removed?',
  ],
  [
    'missing rows',
    { rewritten: 60 },
    '60 changes for 100 known pairs; the limit is 50; 60 are missing rows that would be written again: is the table truncated or an older copy, or were ids removed?',
  ],
  [
    'a column that changed',
    { byField: { stage: 100 } },
    'every known pair would change in stage: was the column cleared or filled down?',
  ],
  [
    'a column that was emptied',
    { byField: { city: 12 }, emptied: { city: { emptied: 12, filled: 12 } } },
    'city would be emptied in all 12 leads that have a value: was the column cleared or recreated?',
  ],
  [
    'cells that moved by one',
    { shifted: { city: shift } },
    `values moved against their ids: in the column "Town", 60 of the rows 2 to 90 show what the row below had. ${shiftEnd}`,
  ],
  [
    'cells that moved by more, in two columns',
    { shifted: { city: { ...shift, by: -1 }, stage: { ...shift, by: -3, column: 'Stage' } } },
    `values moved against their ids: in the column "Town", 60 of the rows 2 to 90 show what the row above had; in the column "Stage", 60 of the rows 2 to 90 show what the row 3 above had. ${shiftEnd}`,
  ],
  [
    'rows of other leads',
    { strangers: 60 },
    '60 rows changed in every column at once: was part of the table sorted, leaving ids beside the values of other leads? Undo the sorting in the table',
  ],
  [
    'a column that was sorted',
    { permuted: { city: 60 } },
    '60 rows only exchanged their values in city among each other: was part of the table sorted? Undo the sorting in the table',
  ],
  [
    'unknown ids',
    { idsUnknown: 60 },
    '60 rows have unknown ids, and as many of 100 known rows disappeared since the last sync: was the id column changed? Put the ids back. A row with an empty id cell gets its id back if it shows what its lead shows',
  ],
])('what is said of %s', (_, counts, message) => {
  expect(refusals(counts).map((refusal) => refusal.message)).toEqual([message]);
});

test.each<[status: string, codes: readonly string[], asks: boolean]>([
  ['stopped', ['guard.first-leads'], true],
  ['stopped', ['guard.first-leads', 'row.no-name'], true],
  ['stopped', ['guard.first-leads', 'guard.misread'], false],
  ['stopped', ['guard.misread'], false],
  ['stopped', ['target.unreachable'], false],
  ['stopped', [], false],
  ['done', ['guard.first-leads'], false],
])('a run that is %s for %j: it asks for the first leads alone: %s', (status, codes, asks) => {
  expect(asksForLeads({ status, problems: codes.map((code) => ({ code })) })).toBe(asks);
});

import { expect, test } from 'vitest';
import type { LooseRow, Sight } from '../../src/core/merge/difference.ts';
import { Names } from '../../src/core/merge/first-leads.ts';
import { OlderCopies } from '../../src/core/merge/older-copy.ts';
import type { PlanFacts } from '../../src/core/merge/planner.ts';
import { policy } from './pair-state.ts';
import { sight } from './sight.ts';
import {
  found,
  plain,
  plannerOf,
  told,
  edited,
  isNew,
  rowMissed,
  bothMissed,
  leadMissed,
  other,
  held,
  unproven,
  unprovenFacts,
  acme,
  cells,
  missing,
  rowFound,
  matched,
  undone,
  mayBeOthers,
  movedRow,
  noLead,
  forward,
  noStage,
  toldWhole,
  refused,
  wanted,
} from './plan-facts.ts';

test.each<[string, Sight, Partial<PlanFacts>, string[]]>([
  ['an edit', edited, {}, ['update-lead row-edited']],
  ['a new lead', isNew, {}, ['create-row new-lead']],
  ['a row that is gone', rowMissed, {}, ['create-row row-deleted']],
  ['a lead that is gone', leadMissed, {}, ['mark-row lead-deleted']],
  ['a pair that is gone on both sides', bothMissed, {}, ['forget gone-on-both-sides']],
  ['the lead of an unfinished create', isNew, { creates: { leadIds: new Set(['a']), rows: new Set() } }, []],
  [
    'a field whose baseline was of another column',
    edited,
    { moved: new Set(['stage']) },
    ['hold conflict.first-sight'],
  ],
  [
    'a row that may stand in a table that was not read since',
    { ...bothMissed, rowAbsences: 3 },
    { unread: new Set(['a']) },
    [],
  ],
  [
    'a row whose id stands in another cell',
    rowMissed,
    { elsewhere: new Map([['a', 'F7']]) },
    ['hold row.in-cell'],
  ],
  [
    'a row that stands in another table',
    rowMissed,
    { elsewhere: new Map([['a', other]]) },
    ['hold row.moved'],
  ],
  [
    'a row of another table',
    leadMissed,
    { homes: new Map([['a', { ...other, isThere: false }]]) },
    ['hold row.moved'],
  ],
  ['a row that many may be', rowMissed, { found: { ...found, isAnyones: true } }, []],
  ['a new lead that may have a row', isNew, { found: { ...found, mayHaveRow: () => true } }, []],
  [
    'a lead that may be the same as a row',
    isNew,
    { matches: { ...plain.matches, heldLeads: new Map([['a', held]]) } },
    ['hold match.proposed'],
  ],
  ['a row that nothing proves to be gone', unproven, unprovenFacts, ['report delete.unproven']],
  [
    'the same in an older copy that is not decided on',
    unproven,
    { ...unprovenFacts, older: new OlderCopies([], ['row'], []) },
    [],
  ],
])('of a pair: %s', (_name, one, facts, expected) => {
  expect(told(plannerOf(facts).pair(one).actions)).toEqual(expected);
});

test.each<[string, Partial<LooseRow>, Partial<PlanFacts>, string[]]>([
  ['a new row', {}, {}, ['create-lead new-row']],
  ['a second row of an id', { leadId: 'a' }, {}, ['hold row.duplicate-id']],
  ['an id that cannot be read', { unreadableId: '#REF!' }, {}, ['hold row.id-unreadable']],
  ['a row of an unfinished create', {}, { creates: { leadIds: new Set(), rows: new Set([2]) } }, []],
  ['a row that gets its id back', {}, { found: { ...found, links: new Map([[2, 'a']]) } }, []],
  [
    'a row that may be known leads',
    {},
    { found: { ...found, mayBe: new Map([[2, ['a', 'b']]]) } },
    ['hold row.id-lost'],
  ],
  ['a row that a person linked', {}, { matches: { ...plain.matches, linkedRows: new Set([2]) } }, []],
  [
    'a row that may be the same as a lead',
    {},
    { matches: { ...plain.matches, heldRows: new Map([[2, held]]) } },
    ['hold match.proposed'],
  ],
  ['a row apart from the table', { isApart: true }, {}, []],
  ['a row whose id cell is closed', { idClosed: 'is protected' }, {}, ['hold row.id-closed']],
])('of a row that no lead id names: %s', (_name, given, facts, expected) => {
  expect(told(plannerOf(facts).row({ ...acme, ...given }))).toEqual(expected);
});

test('two rows of one company are two leads only where nobody looks', () => {
  const plan = (names: Names | null) => {
    const planner = plannerOf({ names });
    return [2, 3].flatMap((row) => told(planner.row({ ...acme, row, contentHash: `h${row}` })));
  };
  expect(plan(null)).toEqual(['create-lead new-row', 'create-lead new-row']);
  expect(plan(new Names())).toEqual(['create-lead new-row', 'hold row.twin']);
});

test.each<[string, Partial<PlanFacts>, string[]]>([
  ['is linked with a lead', matched('b'), ['hold row.twin']],
  [
    'gets its id back',
    { found: { ...found, rowOf: new Map([['b', { row: 6, cells }]]) } },
    ['hold row.twin'],
  ],
  [
    'is linked with a lead that is another company, says a person',
    { matches: { ...plain.matches, ...matched('b').matches, rejectedRows: new Set([2]) } },
    ['create-lead new-row'],
  ],
])('a new row of one company with a row below that %s', (_name, facts, expected) => {
  expect(told(plannerOf({ ...facts, names: new Names() }).row(acme))).toEqual(expected);
});

test('a new row that shows what a linked lead shows is held, though the linked row spells it otherwise', () => {
  const planner = plannerOf({ ...matched('b'), names: new Names() });
  planner.pair({ ...isNew, leadId: 'b', lead: { companyName: 'Acme GmbH' } });
  expect(told(planner.row({ ...acme, cells: { companyName: 'ACME GmbH' } }))).toEqual(['hold row.twin']);
});

test.each<[string, Sight, Partial<PlanFacts>, string[]]>([
  ['an edit, in its row', edited, {}, ['update-lead, row-edited, row 2']],
  [
    'an edit, in a row without a number',
    { ...edited, rowNumber: null },
    {},
    ['update-lead, row-edited, row 0'],
  ],
  [
    'a first sight, in its row',
    { ...isNew, row: { ...cells, stage: 'won' } },
    {},
    ['agree, in-step, row 2', 'hold, conflict.first-sight, row 2'],
  ],
  ['a row that is found again', rowMissed, rowFound, ['link, id-lost, row 5']],
  [
    'a row that matches',
    missing(false, true, { ...isNew, rowNumber: null }),
    matched('a'),
    ['link, matched, row 6, the same name'],
  ],
  ['a row of another match', { ...isNew, missed: rowMissed.missed }, matched('b'), ['create-row, new-lead']],
  ['an id that is gone', { ...noLead, asked: { answer: 'gone', message: null } }, {}, ['which no lead has']],
  ['an id that was not asked for', noLead, {}, ['asked for other leads first']],
  [
    'an id of which the service says nothing',
    { ...noLead, asked: { answer: 'unknown', message: 'it answered 500' } },
    {},
    ['it answered 500'],
  ],
  [
    'a lead whose row an undo took away',
    { ...isNew, missed: rowMissed.missed },
    undone('a'),
    ['lead.undone'],
  ],
  [
    'the same, when a person wants it',
    {
      ...isNew,
      missed: rowMissed.missed,
      held: [{ field: '', code: 'lead.undone', resolution: 'lead', lead: null, row: null }],
    },
    undone('a'),
    ['create-row, new-lead'],
  ],
  ['a pair that is gone, of an undo', bothMissed, undone('a'), ['forget, gone-on-both-sides']],
  ['a new lead while a column is missing', { ...isNew, missed: rowMissed.missed }, noStage, []],
  [
    'a row that may be another lead’s, of a lead that is gone',
    { ...noLead, asked: { answer: 'gone', message: null } },
    mayBeOthers,
    ['the row of lead b'],
  ],
  ['the same of a lead that is there', edited, mayBeOthers, ['update-lead, row-edited, row 2']],
  ['a row with the content of another lead', edited, movedRow, ['hold, row.id-moved, row 2']],
  [
    'the same at first sight',
    { ...isNew, row: { ...cells, stage: 'won' } },
    movedRow,
    ['agree, in-step, row 2', 'hold, conflict.first-sight, row 2'],
  ],
  ['a lead whose row lost its id, unsurely', rowMissed, { found: { ...found, leadIds: new Set(['a']) } }, []],
  [
    'an id of which nothing is left',
    missing(true, true, { base: null, leadAbsences: 1, rowAbsences: 1 }),
    { found: { ...found, mayHaveRow: ({ companyName }) => companyName === undefined } },
    ['forget, gone-on-both-sides'],
  ],
  [
    'a row that comes back, though nobody would write it again',
    rowMissed,
    { policy: policy({ onRowDeleted: 'ignore' }), ...forward({ missing: new Set(['a']) }) },
    ['create-row, row-deleted'],
  ],
  [
    'a row that does not come back',
    rowMissed,
    { policy: policy({ onRowDeleted: 'ignore' }), ...forward({ side: 'lead', missing: new Set(['a']) }) },
    [],
  ],
  [
    'a row that is there in a copy',
    edited,
    forward({ missing: new Set(['a']) }),
    ['update-lead, row-edited, row 2'],
  ],
  [
    'a lead that comes back',
    leadMissed,
    forward({ side: 'lead', missing: new Set(['a']) }),
    ['unlink, older-copy, row 2'],
  ],
  [
    'a lead that does not',
    leadMissed,
    forward({ missing: new Set(['a']) }),
    ['mark-row, lead-deleted, row 2'],
  ],
  [
    'a lead that is there in a copy',
    edited,
    forward({ side: 'lead', missing: new Set(['a']) }),
    ['update-lead, row-edited, row 2'],
  ],
  [
    'an unknown id in a copy',
    { ...noLead, asked: { answer: 'gone', message: null } },
    forward({ side: 'lead', missing: new Set(['a']) }),
    ['hold, row.orphan, row 2'],
  ],
  [
    'a pair that is gone, in a copy',
    bothMissed,
    forward({ side: 'lead', missing: new Set(['a']) }),
    ['forget, gone-on-both-sides'],
  ],
])('of a pair, where and why: %s', (_name, one, facts, expected) => {
  const said = toldWhole(plannerOf(facts).pair(one).actions);
  expect(said).toEqual(expected.map((part) => expect.stringContaining(part)));
});

test.each<[string, Sight, Partial<PlanFacts>, object | null]>([
  ['in step', { ...sight, isSame: true }, {}, null],
  ['missed once more', rowMissed, {}, { lead: 0, row: 2 }],
  [
    'of an unfinished create',
    rowMissed,
    { creates: { leadIds: new Set(['a']), rows: new Set() } },
    { row: 2 },
  ],
  ['that a row may be: anybody’s', rowMissed, { found: { ...found, isAnyones: true } }, { row: 1 }],
  ['that a row may be: its own', rowMissed, { found: { ...found, leadIds: new Set(['a']) } }, { row: 1 }],
  ['that stands elsewhere', rowMissed, { elsewhere: new Map([['a', 'F7']]) }, { row: 1 }],
  ['in step again', { ...sight, isSame: true, rowAbsences: 1 }, {}, { lead: 0, row: 0 }],
])('the absences of a pair: %s', (_name, one, facts, expected) => {
  const { absences } = plannerOf(facts).pair(one);
  if (expected === null) expect(absences).toBeNull();
  else expect(absences).toMatchObject(expected);
});

const unsure: Partial<PlanFacts> = { found: { ...found, unsure: new Map([[2, 'b']]) } };
const unreadableDate = { ...acme.cells, nextFollowUpAt: { unreadable: 'soon' } };
const nameless = { stage: 'new' };

test.each<[string, Partial<LooseRow>, () => Partial<PlanFacts>, string[]]>([
  ['a row of which an undo took the lead', {}, () => undone(''), ['hold, row.undone']],
  ['the same, when a person wants it', {}, () => ({ ...undone(''), ...wanted() }), ['create-lead, new-row']],
  ['a row that was refused', {}, () => ({ refused: refused() }), ['hold, lead.create-refused']],
  ['the same, sent once more', {}, () => ({ refused: refused(), ...wanted() }), ['create-lead, new-row']],
  [
    'a row whose conflict is its lead’s',
    {},
    () => ({
      matches: { ...plain.matches, heldRows: new Map([[2, null]]) },
    }),
    [],
  ],
  ['a row that may be a known lead, unsurely', {}, () => unsure, ['the row of lead b']],
  ['the same, apart from the table', { isApart: true }, () => unsure, ['the row of lead b']],
  ['the same, while a column is missing', {}, () => ({ ...unsure, ...noStage }), []],
  ['a new row while a column is missing', {}, () => noStage, []],
  [
    'a row without a name, whose id cell is closed',
    { cells: nameless, idClosed: 'it is protected' },
    () => ({}),
    ['hold, row.company-name-empty'],
  ],
  [
    'a row with a date that nobody can read, whose id cell is closed',
    { cells: unreadableDate, idClosed: 'it is protected' },
    () => ({}),
    ['hold, row.id-closed'],
  ],
])('of a row that no lead id names, and why: %s', (_name, given, facts, expected) => {
  const said = toldWhole(plannerOf(facts()).row({ ...acme, ...given }));
  expect(said).toEqual(expected.map((part) => expect.stringContaining(part)));
});

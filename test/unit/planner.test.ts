import { expect, test } from 'vitest';
import type { PlannedAction } from '../../src/core/merge/action.ts';
import { type LooseRow, LooseRows, type Sight } from '../../src/core/merge/difference.ts';
import { Names } from '../../src/core/merge/first-leads.ts';
import { type FoundRows, foundRows } from '../../src/core/merge/lost-rows.ts';
import { OlderCopies } from '../../src/core/merge/older-copy.ts';
import { type PlanFacts, Planner } from '../../src/core/merge/planner.ts';
import { RefusedCreates } from '../../src/core/merge/refused-create.ts';
import { UndoneRecords } from '../../src/core/merge/undone-records.ts';
import { fields, policy } from './pair-state.ts';
import { looseRow, sight } from './sight.ts';

const found: FoundRows = foundRows([], [], fields, policy(), { fresh: 0, newOrphans: 0 });

/** A scan of which nothing is known but its records. */
const plain: PlanFacts = {
  policy: policy(),
  creates: { leadIds: new Set(), rows: new Set() },
  moved: new Set(),
  found,
  older: new OlderCopies([], [], []),
  isProof: { leads: true, rows: true, answers: false, rowsAlone: true },
  matches: { rowOf: new Map(), linkedRows: new Set(), heldLeads: new Map(), heldRows: new Map() },
  undone: new UndoneRecords([], fields),
  refused: new RefusedCreates(new Map()),
  loose: new LooseRows(new Set(), new Set()),
  elsewhere: new Map(),
  homes: new Map(),
  unread: new Set(),
  first: null,
  names: null,
};

const told = (actions: readonly PlannedAction[]): string[] =>
  actions.map(({ kind, reason }) => `${kind} ${reason}`);

const edited: Sight = { ...sight, row: { companyName: 'Acme', stage: 'won' } };
const isNew: Sight = { ...sight, isKnown: false, base: null, lead: { companyName: 'Acme', stage: 'new' } };
const rowMissed: Sight = { ...sight, rowAbsences: 1, missed: { lead: false, row: true } };
const bothMissed: Sight = { ...rowMissed, leadAbsences: 1, missed: { lead: true, row: true } };
const leadMissed: Sight = {
  ...sight,
  row: sight.base,
  leadAbsences: 1,
  missed: { lead: true, row: false },
};
const other = { connection: 'b', address: null, row: null };
const held = { kind: 'hold', reason: 'match.proposed' } as PlannedAction;

const unproven: Sight = { ...rowMissed, rowAbsences: 0 };
const unprovenFacts = {
  policy: policy({ onRowDeleted: 'delete-lead' }),
  isProof: { ...plain.isProof, rows: false },
};

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
  expect(told(new Planner({ ...plain, ...facts }).pair(one).actions)).toEqual(expected);
});

const acme: LooseRow = { ...looseRow, cells: { companyName: 'Acme', stage: 'new' } };

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
  const loose = new LooseRows(new Set(), new Set());
  expect(told(new Planner({ ...plain, loose, ...facts }).row({ ...acme, ...given }))).toEqual(expected);
});

test('two rows of one company are two leads only where nobody looks', () => {
  const plan = (names: Names | null) => {
    const planner = new Planner({ ...plain, loose: new LooseRows(new Set(), new Set()), names });
    return [2, 3].flatMap((row) => told(planner.row({ ...acme, row, contentHash: `h${row}` })));
  };
  expect(plan(null)).toEqual(['create-lead new-row', 'create-lead new-row']);
  expect(plan(new Names())).toEqual(['create-lead new-row', 'hold row.twin']);
});

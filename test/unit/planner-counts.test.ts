import { expect, test } from 'vitest';
import { type LooseRow, LooseRows, type Sight } from '../../src/core/merge/difference.ts';
import { FirstLeadsTally, Names } from '../../src/core/merge/first-leads.ts';
import type { PlanFacts } from '../../src/core/merge/planner.ts';
import { fields, policy } from './pair-state.ts';
import { sight } from './sight.ts';
import {
  plain,
  plannerOf,
  told,
  edited,
  isNew,
  rowMissed,
  bothMissed,
  held,
  acme,
  rowFound,
  undone,
  forward,
  noStage,
  toldWhole,
  key,
  refused,
} from './plan-facts.ts';

test.each<[string, readonly Sight[], Partial<PlanFacts>, object]>([
  ['nothing seen', [], {}, { records: 10, linked: 0, waiting: 0, equal: 0, leftAlone: 0, strangers: 0 }],
  ['a new lead', [isNew], {}, { records: 11 }],
  ['a pair that is gone', [bothMissed], {}, { records: 9 }],
  ['an edit', [edited], {}, { linked: 0, leftAlone: 0, strangers: 0 }],
  ['a row found again', [rowMissed], rowFound, { linked: 1 }],
  [
    'a lead of an unfinished create',
    [isNew],
    { creates: { leadIds: new Set(['a']), rows: new Set() } },
    {
      waiting: 1,
      leftAlone: 0,
    },
  ],
  ['a row that is left alone', [rowMissed], { policy: policy({ onRowDeleted: 'ignore' }) }, { leftAlone: 1 }],
  [
    'new leads while a column is missing',
    [isNew, { ...isNew, leadId: 'b' }],
    noStage,
    {
      waiting: 1,
      leftAlone: 0,
    },
  ],
  [
    'a row that is another',
    [{ ...edited, row: { companyName: 'Zeta', stage: 'won' } }],
    {},
    { strangers: 1 },
  ],
  [
    'the same at first sight',
    [{ ...isNew, row: { companyName: 'Zeta', stage: 'won' } }],
    {},
    { strangers: 0 },
  ],
  [
    'the same where cells are brought forward',
    [{ ...edited, row: { companyName: 'Zeta', stage: 'won' } }],
    forward({ cells: new Map([['a', []]]) }),
    { strangers: 0 },
  ],
])('what is counted of pairs: %s', (_name, sights, facts, expected) => {
  const planner = plannerOf(facts);
  for (const one of sights) planner.pair(one);
  const { tally, shuffled } = planner;
  const { records } = tally.records.counts({ pairs: 10, metLeads: 0, metRows: 0, newRows: 0 });
  const { equal, leftAlone } = tally;
  const { strangers } = shuffled;
  expect({ ...tally.finish([]), records, equal, leftAlone, strangers }).toMatchObject(expected);
});

test('the ids of rows that are not as before: how many, and the first of them', () => {
  const planner = plannerOf();
  expect(planner.ids).toEqual({ ids: 0, row: Infinity, id: '' });
  const rowsOf: readonly (readonly [string, number | null])[] = [
    ['e', null],
    ['a', 5],
    ['b', 3],
    ['c', 4],
    ['d', 3],
  ];
  for (const [leadId, rowNumber] of rowsOf) planner.pair({ ...edited, leadId, rowNumber });
  planner.pair({ ...sight, isSame: true, leadId: 'f', rowNumber: 9 });
  planner.pair({ ...rowMissed, leadId: 'g', rowNumber: 1 });
  expect(planner.ids).toEqual({ ids: 6, row: 3, id: 'b' });
});

test('nothing is planned of a pair in step, nor of the lead of an unfinished create', () => {
  expect(plannerOf().pair({ ...sight, isSame: true })).toEqual({ actions: [], absences: null });
  const creates = { leadIds: new Set(['a']), rows: new Set<number>() };
  expect(plannerOf({ creates }).pair(isNew)).toEqual({ actions: [], absences: null });
  expect(plannerOf(noStage).pair(isNew)).toEqual({ actions: [], absences: null });
});

test.each<[string, readonly Partial<LooseRow>[], Partial<PlanFacts>, object]>([
  ['nothing seen', [], {}, { records: 10, waiting: 0, apart: 0, heldWithLead: 0, twins: 0 }],
  ['new rows', [{}, { row: 3 }], {}, { records: 12, waiting: 0, twins: 0 }],
  [
    'a row of an unfinished create',
    [{}],
    { creates: { leadIds: new Set(), rows: new Set([2]) } },
    {
      waiting: 1,
    },
  ],
  ['rows apart', [{ isApart: true }], {}, { apart: 1 }],
  [
    'a row whose conflict is its lead’s',
    [{}],
    {
      matches: { ...plain.matches, heldRows: new Map([[2, null]]) },
    },
    { heldWithLead: 1 },
  ],
  [
    'a row with a conflict of its own',
    [{}],
    {
      matches: { ...plain.matches, heldRows: new Map([[2, held]]) },
    },
    { heldWithLead: 0 },
  ],
  ['new rows while a column is missing', [{}, { row: 3 }, { row: 4 }], noStage, { waiting: 2 }],
])('what is counted of rows that no lead id names: %s', (_name, rows, facts, expected) => {
  const planner = plannerOf(facts);
  for (const one of rows) planner.row({ ...acme, ...one });
  const { tally, twins } = planner;
  const { records } = tally.records.counts({ pairs: 10, metLeads: 0, metRows: 0, newRows: 0 });
  const { apart, heldWithLead } = tally;
  expect({ ...tally.finish([]), records, apart, heldWithLead, twins }).toMatchObject(expected);
});

test('a row into which another was merged may be the lead of that one', () => {
  const planner = plannerOf();
  planner.pair({ ...rowMissed, merged: { row: 3, message: 'merged' } });
  expect(told(planner.row({ ...acme, row: 3 }))).toEqual(['hold row.id-lost']);
});

test('what was refused, and what an undo took, is noted as met, or as released when a person wants it', () => {
  for (const isWanted of [false, true]) {
    const [known, before] = [refused(), undone('').undone ?? plain.undone];
    const loose = new LooseRows(new Set(isWanted ? ['h'] : []), new Set());
    plannerOf({ loose, refused: known, undone: before }).row(acme);
    expect([[...known.met], [...known.released]]).toEqual(isWanted ? [[], [key]] : [[key], []]);
    expect(before.seen).toHaveLength(isWanted ? 0 : 1);
  }
  const { undone: before = plain.undone } = undone('');
  const matches = { ...plain.matches, heldRows: new Map([[2, held]]) };
  plannerOf({ undone: before, matches }).row(acme);
  expect(before.seen).toHaveLength(1);
});

test('the rows of which a first sync makes leads, and those that look like another', () => {
  const first = new FirstLeadsTally(fields);
  const planner = plannerOf({
    first,
    names: new Names(),
  });
  for (const row of [2, 3, 4]) planner.row({ ...acme, row, cells: { ...acme.cells, stage: `${row}` } });
  expect(first.found()?.count).toBe(1);
  expect(planner.twins).toBe(2);
});

test('while a column is missing one line tells of all that is not made', () => {
  expect(plannerOf().end()).toEqual([]);
  const planner = plannerOf(noStage);
  planner.pair(isNew);
  for (const row of [2, 3]) planner.row({ ...acme, row });
  const [line, ...more] = toldWhole(planner.end());
  expect(more).toEqual([]);
  expect(line).toMatch(/^hold, row\.column-missing, .*no lead of 2 new rows and no row of 1 lead was made/);
});

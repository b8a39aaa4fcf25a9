import { describe, expect, test } from 'vitest';
import {
  type ActOfRow,
  type ConflictFact,
  inStep,
  RowStandings,
  type ScannedRow,
} from '../../src/core/merge/row-status.ts';

const row: ScannedRow = {
  leadId: 'a',
  row: 2,
  cells: {},
  isCopy: false,
  isListed: true,
  isOutside: false,
  deletedOn: null,
  shown: inStep,
};
const act: ActOfRow = {
  kind: 'update-row',
  leadId: 'a',
  row: 2,
  contentHash: '',
  state: 'deferred',
  code: 'row.changed',
};
const stage = { field: 'stage', code: 'conflict.both-edited' };
const loose = { ...row, leadId: null, isListed: false };
const made = { ...act, kind: 'create-lead', leadId: null, contentHash: 'h' } as const;

/** What is reported of a row: what is held of it, and what waits; null: nothing. */
function told(
  given: Partial<ScannedRow>,
  acts: readonly Partial<ActOfRow>[] = [],
  held: Readonly<Record<string, readonly ConflictFact[]>> = {},
  isTorn = false,
): unknown {
  const all = acts.map((one) => ({ ...act, ...one }));
  const standing = new RowStandings(all, new Map(Object.entries(held)), isTorn).of({ ...row, ...given });
  return standing && [standing.conflicts.map(({ code }) => code), standing.waiting];
}

describe('a row with an id', () => {
  test.each<[string, Partial<ScannedRow>, readonly Partial<ActOfRow>[], unknown]>([
    ['is as usual', {}, [], null],
    ['shows another text', { shown: 'mine' }, [], [[], null]],
    ['is a copy', { isCopy: true }, [{}], [[], null]],
    ['is outside', { isOutside: true }, [], [[], null]],
    ['is not listed', { isListed: false }, [], [[], null]],
    ['waits', {}, [{}], [[], 'row.changed']],
    ['waits for the first', {}, [{ code: 'lead.changed' }, {}], [[], 'lead.changed']],
    ['was written', {}, [{ state: 'done' }], null],
    ['waits for nothing that is held', {}, [{ state: 'held' }], null],
    ['waits for no report', {}, [{ kind: 'report' }], null],
    ['waits for no hold', {}, [{ kind: 'hold', state: 'planned' }], null],
    ['was marked', { shown: 'mine' }, [{ kind: 'mark-row', state: 'done' }], null],
    ['was not marked yet', {}, [{ kind: 'mark-row' }], [[], 'row.changed']],
    ['gave its id back', { shown: 'mine' }, [{ kind: 'unlink', state: 'done' }], null],
    [
      'is a copy of one that was removed',
      { isCopy: true },
      [{ kind: 'remove-row', state: 'done' }],
      [[], null],
    ],
    ['has nothing to do with another', {}, [{ leadId: 'b', row: 3 }], null],
  ])('%s', (_, given, acts, expected) => expect(told(given, acts)).toEqual(expected));

  test('tells what is held of its lead, its copy does not', () => {
    const held = { a: [stage] };
    expect(told({}, [{}], held)).toEqual([[stage.code], 'row.changed']);
    expect(told({ isCopy: true }, [], held)).toEqual([[], null]);
  });

  test('keeps what it shows while a torn scan lacks its lead, unless there is something to tell', () => {
    const unlisted = { isListed: false, shown: 'mine' };
    expect(told(unlisted, [], {}, true)).toBe(null);
    expect(told({ ...unlisted, deletedOn: '2026-11-21' }, [], {}, true)).toEqual([[], null]);
    expect(told({ ...unlisted, isCopy: true }, [], {}, true)).toEqual([[], null]);
    expect(told(unlisted, [{}], {}, true)).toEqual([[], 'row.changed']);
    expect(told(unlisted, [], { a: [stage] }, true)).toEqual([[stage.code], null]);
    expect(told({ shown: 'mine' }, [], {}, true)).toEqual([[], null]);
  });

  test('was deleted only while its lead is not listed', () => {
    const of = (isListed: boolean) =>
      new RowStandings([], new Map(), false).of({ ...row, isListed, shown: 'x', deletedOn: '2026-11-21' });
    expect([of(true)?.deletedOn, of(false)?.deletedOn]).toEqual([null, '2026-11-21']);
  });
});

describe('a row without an id', () => {
  test.each<[string, readonly Partial<ActOfRow>[], unknown]>([
    ['is being made a lead of', [], [[], 'create.in-doubt']],
    [
      'cannot be while a column is missing',
      [{ code: 'row.column-missing', row: 9 }],
      [[], 'target.column-missing'],
    ],
    ['waits', [made], [[], 'row.changed']],
    ['is held', [{ ...made, state: 'held' }], [['row.changed'], null]],
    ['is held by the plan', [{ ...made, kind: 'hold' }], [['row.changed'], null]],
    ['is reported', [{ ...made, kind: 'report' }], [['row.changed'], null]],
    ['goes by the last of the round', [made, { ...made, code: 'later' }], [[], 'later']],
    ['got its id', [made, { kind: 'link', state: 'done' }], null],
    ['gets its id later', [{ kind: 'link' }], [[], 'row.changed']],
    ['is found by what it shows', [{ contentHash: 'h' }], [[], 'row.changed']],
    ['is not the row of another lead', [{ row: 2 }], [[], 'create.in-doubt']],
    ['stands elsewhere', [{ ...made, row: 3 }], [[], 'create.in-doubt']],
  ])('%s', (_, acts, expected) => expect(told(loose, acts)).toEqual(expected));

  test('is there whatever a torn scan lacks', () => {
    expect(told({ ...loose, shown: '' }, [made], {}, true)).toEqual([[], 'row.changed']);
  });
});

test('rows are looked at of whose leads there is something to tell', () => {
  const acts = [act, { ...act, leadId: 'b', state: 'done' }];
  expect(new RowStandings(acts, new Map([['c', [stage]]]), false).told).toEqual(['c', 'a']);
});

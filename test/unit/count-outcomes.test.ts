import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Act, countOutcomes, type RecordCounts } from '../../src/core/merge/count-outcomes.ts';
import { lawRuns } from '../support/law-runs.ts';

const none: RecordCounts = { written: 0, left: 0, putOff: 0, held: 0, unexplained: 0 };
const run = { rowsReadEqual: -1, isFinished: false, isUndo: false };
const act: Act = {
  kind: 'update-lead',
  leadId: 'a',
  row: 2,
  contentHash: '',
  state: 'done',
  receipt: null,
  code: null,
  newRows: null,
};
const held = { leadId: null, row: 2, contentHash: 'h' };

describe('what became of a record', () => {
  test.each<[Partial<Act>, Partial<typeof run>, Partial<RecordCounts>]>([
    [{ receipt: 'equal' }, {}, { written: 1 }],
    [{}, {}, { putOff: 1 }],
    // It has ended, and nothing says what is there.
    [{}, { isFinished: true }, {}],
    [{ receipt: 'changed' }, {}, { putOff: 1 }],
    [{ receipt: 'changed', kind: 'report' }, {}, { left: 1 }],
    [{ receipt: 'unexplained' }, {}, { unexplained: 1 }],
    [{ receipt: 'unexplained', state: 'left-out' }, {}, { left: 1 }],
    [{ state: 'held', receipt: 'unexplained' }, {}, { unexplained: 1 }],
    [{ state: 'held' }, {}, { held: 1 }],
    [{ state: 'planned' }, {}, { putOff: 1 }],
    [{ state: 'deferred', kind: 'report' }, {}, { putOff: 1 }],
    [{ kind: 'report' }, {}, { left: 1 }],
    [{ kind: 'mark-row', code: 'target.no-status-column', receipt: 'equal' }, {}, { left: 1 }],
    [{ kind: 'mark-row', code: 'other', receipt: 'equal' }, {}, { written: 1 }],
    [{ kind: 'update-lead', code: 'target.no-status-column', receipt: 'equal' }, {}, { written: 1 }],
    // Rows that were all seen at once have no receipt of their own; leads do.
    [{ kind: 'update-row' }, { rowsReadEqual: 1 }, { written: 1 }],
    [{ kind: 'update-row' }, { rowsReadEqual: 2 }, { putOff: 1 }],
    [{ kind: 'update-row', receipt: 'equal' }, { rowsReadEqual: 1 }, { written: 1 }],
    [{}, { rowsReadEqual: 0 }, { putOff: 1 }],
    [{ receipt: 'changed' }, { isFinished: true }, { putOff: 1 }],
    [{ state: 'deferred' }, { isFinished: true }, { putOff: 1 }],
    // Of an action that was not done, and of one that was read, nothing is unread.
    [{ kind: 'update-row', state: 'held' }, { rowsReadEqual: 0 }, { held: 1 }],
    [{ kind: 'update-row', state: 'deferred' }, { rowsReadEqual: 1 }, { putOff: 1 }],
    [{ kind: 'update-row', receipt: 'changed' }, { rowsReadEqual: 1, isFinished: true }, { putOff: 1 }],
    [{ state: 'planned' }, { isUndo: true }, { putOff: 1 }],
    [{ state: 'deferred', receipt: 'equal' }, { isUndo: true }, { putOff: 1 }],
    [{ state: 'done' }, { isUndo: true }, { putOff: 1 }],
    [{ receipt: 'equal' }, { isUndo: true }, { written: 1 }],
  ])('%j of %j: %j', (given, of, counts) => {
    expect(countOutcomes([{ ...act, ...given }], [], { ...run, ...of })).toEqual({ ...none, ...counts });
  });

  test('rows that were seen at once are those that have no receipt, and no others', () => {
    const acts = [
      { ...act, kind: 'update-row' as const },
      { ...act, leadId: 'b' },
      { ...act, leadId: 'c', kind: 'update-row' as const, receipt: 'changed' as const },
      { ...act, leadId: 'd', kind: 'update-row' as const, state: 'held' },
    ];
    const counts = countOutcomes(acts, [], { ...run, rowsReadEqual: 1 });
    expect(counts).toEqual({ ...none, written: 1, putOff: 2, held: 1 });
  });

  test('an undo counts what it wrote, several of one record too', () => {
    const acts = [
      { ...act, receipt: 'equal' as const },
      { ...act, kind: 'update-row' as const, receipt: 'equal' as const },
    ];
    expect(countOutcomes(acts, [], { ...run, isUndo: true })).toEqual({ ...none, written: 2 });
    expect(countOutcomes(acts, [], run)).toEqual({ ...none, written: 1 });
  });

  test('leads that are held without a row, and a create that made none, are not one record', () => {
    const made = { ...act, kind: 'create-lead' as const, row: null, receipt: 'equal' as const };
    const lone = { leadId: null, row: null, contentHash: 'h' };
    expect(countOutcomes([made], [lone], run)).toEqual({ ...none, held: 1, written: 1 });
    const unmade = { ...made, row: 2, leadId: null, contentHash: 'x' };
    expect(countOutcomes([unmade], [held], run)).toEqual({ ...none, held: 1 });
  });

  test('rows written together count each, as far as they were seen', () => {
    const together = { ...act, kind: 'create-row', leadId: null, row: null } as const;
    const acts: readonly Act[] = [
      { ...together, state: 'planned', newRows: 2 },
      { ...together, receipt: 'equal', newRows: 30 },
      { ...together, newRows: 400 },
    ];
    expect(countOutcomes(acts, [], run)).toEqual({ ...none, written: 30, putOff: 402 });
    // Those that have actions of their own were all seen.
    expect(countOutcomes(acts, [], { ...run, rowsReadEqual: 0 })).toEqual({
      ...none,
      written: 30,
      putOff: 402,
    });
    expect(countOutcomes(acts, [], { ...run, isFinished: true })).toEqual({
      ...none,
      written: 30,
      putOff: 2,
    });
  });

  test('a row that is held and the lead that was made of it are one record', () => {
    const made = { ...act, kind: 'create-lead', receipt: 'equal' } as const;
    expect(countOutcomes([made], [held], run)).toEqual({ ...none, held: 1 });
    expect(countOutcomes([{ ...made, row: 3 }], [held], run)).toEqual({ ...none, held: 1, written: 1 });
    expect(countOutcomes([{ ...made, kind: 'link' }], [held], run)).toEqual({
      ...none,
      held: 1,
      written: 1,
    });
    expect(countOutcomes([{ ...made, leadId: null }], [held], run)).toEqual({ ...none, held: 1 });
  });

  test('a row without an id is known by its number, one without a number by what it shows', () => {
    const loose = { ...act, leadId: null, receipt: 'equal' } as const;
    const counts = (...acts: readonly Partial<Act>[]) =>
      countOutcomes(
        acts.map((one) => ({ ...loose, ...one })),
        [],
        run,
      ).written;
    expect(counts({ row: 2 }, { row: 2, contentHash: 'x' })).toBe(1);
    expect(counts({ row: 2 }, { row: 3 })).toBe(2);
    expect(counts({ row: null, contentHash: 'x' }, { row: null, contentHash: 'y' })).toBe(2);
    expect(counts({ row: null, contentHash: 'x' }, { row: null, contentHash: 'x' })).toBe(1);
  });

  test('law: each record once, as the gravest, in whatever order', () => {
    const states = ['planned', 'left-out', 'done', 'deferred', 'held'];
    const acts = fc.array(
      fc.record<Act>({
        kind: fc.constantFrom('update-lead', 'update-row', 'mark-row', 'report', 'create-lead'),
        leadId: fc.constantFrom('a', 'b', 'c'),
        row: fc.constantFrom(2, 3, null),
        contentHash: fc.constant(''),
        state: fc.constantFrom(...states),
        receipt: fc.constantFrom('equal', 'changed', 'unexplained', null),
        code: fc.constantFrom('target.no-status-column', null),
        newRows: fc.constant(null),
      }),
      { maxLength: 8 },
    );
    const order = ['written', 'left', 'putOff', 'held', 'unexplained'] as const;
    fc.assert(
      fc.property(acts, fc.nat(3), (some, rowsReadEqual) => {
        const counts = countOutcomes(some, [], { ...run, rowsReadEqual });
        const records = Map.groupBy(some, ({ leadId }) => leadId);
        expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(records.size);
        expect(countOutcomes(some.toReversed(), [], { ...run, rowsReadEqual })).toEqual(counts);
        const worst = order.findLast((one) => counts[one] > 0);
        const added = { ...act, leadId: 'a', state: 'held' };
        const more = countOutcomes([...some, added], [], { ...run, rowsReadEqual });
        if (worst !== 'unexplained' || !records.has('a')) expect(more.held).toBeGreaterThan(0);
      }),
      { numRuns: lawRuns(500) },
    );
  });
});

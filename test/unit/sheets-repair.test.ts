import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Alignment } from '../../src/targets/google-sheets/alignment.ts';
import { cellAt, type Grid, sameGridCell } from '../../src/targets/google-sheets/grid.ts';
import { restores } from '../../src/targets/google-sheets/repair.ts';
import { hasArrived, linkedIds, type SentRow } from '../../src/targets/google-sheets/verify.ts';
import {
  carryOut,
  grids,
  gridOf,
  lawColumns,
  type Move,
  move,
  moves,
  rowMoves,
  sentTo,
  type Traced,
  traced,
} from './sheets-moves.ts';

const night = grids.chain((grid) => fc.record({ grid: fc.constant(grid), sent: sentTo(grid) }));

/** Moves, carries out what was sent, moves again, verifies and repairs once. */
function play(grid: Grid, sent: readonly SentRow[], before: readonly Move[], after: readonly Move[] = []) {
  const moved = move(traced(grid), before);
  const written = move(carryOut(moved, sent), after);
  const alignment = new Alignment(grid, gridOf(written), lawColumns, linkedIds(sent, 0));
  const missed = sent.filter((row) => !hasArrived(row, alignment, sent));
  const puts = restores(missed, alignment, sent);
  return { missed, puts, end: carryOut(written, puts) };
}

/** Every cell shows what the look saw in it, or what was meant for it; where nothing was, what was meant for a new row. */
function expectNothingLost(end: Traced, grid: Grid, sent: readonly SentRow[]): void {
  for (const row of end) {
    for (const { from, value } of row) {
      if (from === null) {
        if (value !== null) expect(newValues(sent)).toContain(value);
        continue;
      }
      const [r, c] = from;
      const meant = sent.find((each) => !each.isNew && each.row === r)?.cells;
      const old = cellAt(grid, r, c);
      const isMeant = meant?.has(c) === true && sameGridCell(meant.get(c) ?? null, value);
      if (!sameGridCell(value, old) && !isMeant)
        expect({ at: from, shows: value }).toEqual({ at: from, shows: old });
    }
  }
}

function newValues(sent: readonly SentRow[]) {
  return sent.filter(({ isNew }) => isNew).flatMap(({ cells }) => [...cells.values()]);
}

describe('what people moved between a look and a write', () => {
  test('does not matter when nobody moved anything', () => {
    fc.assert(
      fc.property(night, ({ grid, sent }) => {
        const { missed, puts } = play(grid, sent, []);
        expect({ missed, puts }).toEqual({ missed: [], puts: [] });
      }),
    );
  });

  test('any move before the write: each cell that was not meant shows what it showed', () => {
    fc.assert(
      fc.property(night, moves, ({ grid, sent }, before) => {
        expectNothingLost(play(grid, sent, before).end, grid, sent);
      }),
      { numRuns: 3_000 },
    );
  });

  test('an update of which a cell is missed leaves nothing: what it wrote over would be on no record', () => {
    fc.assert(
      fc.property(night, moves, ({ grid, sent }, before) => {
        const { missed, end } = play(grid, sent, before);
        const updates = missed.filter(({ isNew, cells }) => !isNew && !cells.has(lawColumns.id));
        for (const { row, cells } of updates) {
          for (const { from, value } of end.flat()) {
            if (from?.[0] !== row || !cells.has(from[1])) continue;
            const old = cellAt(grid, row, from[1]);
            expect({ at: from, shows: value }).toEqual({ at: from, shows: old });
          }
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test('any move after the write: what was sent has arrived, nothing is put back', () => {
    const harmless = moves.map((all) =>
      all.filter(({ kind }) => kind !== 'delete-row' && kind !== 'delete-own-column'),
    );
    fc.assert(
      fc.property(night, harmless, ({ grid, sent }, after) => {
        const { missed, puts } = play(grid, sent, [], after);
        expect({ missed, puts }).toEqual({ missed: [], puts: [] });
      }),
      { numRuns: 2_000 },
    );
  });

  test('rows moved before and after the write: texts that landed elsewhere are taken out again', () => {
    const onlyMoved = rowMoves.map((all) =>
      all.filter(({ kind }) => kind !== 'delete-row' && kind !== 'heading-down'),
    );
    const texts = night.map(({ grid, sent }) => ({
      grid,
      sent: sent.filter(({ cells }) => [...cells.values()].every((value) => value !== null)),
    }));
    fc.assert(
      fc.property(texts, onlyMoved, onlyMoved, ({ grid, sent }, before, after) => {
        expectNothingLost(play(grid, sent, before, after).end, grid, sent);
      }),
      { numRuns: 2_000 },
    );
  });

  test('an id that was written over one of two copies of a row comes back', () => {
    const copy = ['id-1', 'Company', 'note', 'City', 'Stage'];
    const grid = [
      ['Lead ID', 'Company', 'Notes', 'City', 'Stage'],
      copy,
      copy,
      [null, 'New', 'mine', null, null],
    ];
    const sent: SentRow[] = [{ row: 3, isNew: false, cells: new Map([[0, 'link']]) }];
    const { end } = play(grid, sent, [{ kind: 'reverse' }]);
    expect(gridOf(end)).toEqual([grid[0], grid[3], copy, copy]);
  });

  test('a row that got its id and was edited at that moment keeps it', () => {
    const grid = [
      ['Lead ID', 'Company', 'Notes', 'City', 'Stage'],
      [null, 'New', 'mine', 'City', 'first'],
      [null, 'Other', null, 'Town', 'first'],
    ];
    const sent: SentRow[] = [{ row: 1, isNew: false, cells: new Map([[0, 'link']]) }];
    const linkedRow = ['link', 'New', 'mine', 'typed', 'first'];
    const edited = [grid[0] ?? [], linkedRow, grid[2] ?? []];
    const alignment = new Alignment(grid, edited, lawColumns, linkedIds(sent, 0));
    expect(sent.filter((row) => !hasArrived(row, alignment, sent))).toEqual([]);

    // Another row, all of which was seen: the id has landed in the wrong place.
    const moved = [grid[0] ?? [], ['link', 'Other', null, 'Town', 'first'], grid[1] ?? []];
    const astray = new Alignment(grid, moved, lawColumns, linkedIds(sent, 0));
    expect(restores(sent, astray, sent)).toEqual([{ row: 1, isNew: false, cells: new Map([[0, null]]) }]);
  });

  test('an id that was written over comes back to a row that was edited at that moment, too', () => {
    const grid = [
      ['Lead ID', 'Company', 'Notes', 'City', 'Stage'],
      ['id-1', 'Company', 'note', 'City', 'first'],
      [null, 'New', 'mine', 'Town', 'first'],
    ];
    const sent: SentRow[] = [{ row: 2, isNew: false, cells: new Map([[0, 'link']]) }];
    const after = [grid[0] ?? [], grid[2] ?? [], ['link', 'Company', 'note', 'typed', 'first']];
    const alignment = new Alignment(grid, after, lawColumns, linkedIds(sent, 0));
    expect(restores(sent, alignment, sent)).toEqual([
      { row: 2, isNew: false, cells: new Map([[0, 'id-1']]) },
    ]);
  });

  test('a request that was never carried out puts nothing back', () => {
    fc.assert(
      fc.property(night, moves, ({ grid, sent }, after) => {
        const now = gridOf(move(traced(grid), after));
        const alignment = new Alignment(grid, now, lawColumns, linkedIds(sent, 0));
        const missed = sent.filter((row) => !hasArrived(row, alignment, sent));
        expect(restores(missed, alignment, sent)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Alignment } from '../../src/targets/google-sheets/alignment.ts';
import { cellAt, type Grid, type GridCell, sameGridCell } from '../../src/targets/google-sheets/grid.ts';
import {
  cellsToPutBack,
  hasArrived,
  linkedIds,
  type SentRow,
} from '../../src/targets/google-sheets/repair.ts';
import {
  grids,
  gridOf,
  lawColumns,
  move,
  moves,
  play,
  rowMoves,
  sentTo,
  type Traced,
  traced,
} from './sheets-moves.ts';
import { cpuMs } from '../support/cpu-ms.ts';

const night = grids.chain((grid) => fc.record({ grid: fc.constant(grid), sent: sentTo(grid) }));

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

describe('moves between a snapshot and a write', () => {
  test('without any move nothing is missed or restored', () => {
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

  test('an incomplete update is undone: no record has what it overwrote', () => {
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

  test('any move after the write: everything sent has arrived, nothing is restored', () => {
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

  test('rows moved before and after the write: texts that landed elsewhere are removed', () => {
    const onlyMoved = rowMoves.map((all) =>
      all.filter(({ kind }) => kind !== 'delete-row' && kind !== 'heading-down'),
    );
    const texts = night.map(({ grid, sent }) => ({
      grid,
      // What other rows show, too, cannot be searched for.
      sent: sent.filter(({ cells }) =>
        [...cells.values()].every((value) => value !== null && !grid.flat().includes(value)),
      ),
    }));
    fc.assert(
      fc.property(texts, onlyMoved, onlyMoved, ({ grid, sent }, before, after) => {
        const { end, written } = play(grid, sent, before, after);
        // Back where it was: nothing tells that it was moved.
        const isBack = sent.some(({ row }) => written[row]?.some(({ from }) => from?.[0] === row));
        fc.pre(before.length === 0 || after.length === 0 || !isBack);
        expectNothingLost(end, grid, sent);
      }),
      { numRuns: 2_000 },
    );
  });

  describe('where nothing moved', () => {
    const grid: Grid = [
      ['Lead ID', 'Company', 'Notes', 'City', 'Stage'],
      ['id-1', 'One', null, 'Rome', 'new'],
      ['id-2', 'Two', null, 'Bonn', 'new'],
      ['id-3', 'Three', null, 'Nice', 'new'],
    ];
    const sent: SentRow[] = [
      {
        row: 1,
        isNew: false,
        cells: new Map([
          [1, 'Uno'],
          [4, 'won'],
        ]),
      },
    ];
    const typed = (cells: readonly (readonly [row: number, column: number, text: string | null])[]): Grid =>
      cells.reduce<Grid>(
        (now, [row, column, text]) => now.map((each, at) => (at === row ? each.with(column, text) : each)),
        grid,
      );
    const putBack = (after: Grid, all: readonly SentRow[] = sent) => {
      const alignment = new Alignment(grid, after, lawColumns, linkedIds(all, 0));
      return cellsToPutBack(
        all.filter((row) => !hasArrived(row, alignment, all)),
        alignment,
        all,
      );
    };

    test.each([
      ['the same elsewhere', [[3, 4, 'won']]],
      ['the same where it was meant, and nothing was carried out', [[1, 4, 'won']]],
      [
        'over one cell, and the same elsewhere',
        [
          [1, 1, 'Uno'],
          [1, 4, 'lost'],
          [3, 4, 'won'],
        ],
      ], // prettier-ignore
      [
        'over the id',
        [
          [1, 0, 'mine'],
          [1, 1, 'Uno'],
          [1, 4, 'won'],
        ],
      ], // prettier-ignore
      [
        'over the id, which is gone',
        [
          [1, 0, null],
          [1, 1, 'Uno'],
          [1, 4, 'won'],
        ],
      ], // prettier-ignore
    ] as [string, [number, number, string | null][]][])('what people type stays: %s', (_, cells) => {
      expect(putBack(typed(cells))).toEqual([]);
    });

    test('moves of other rows do not matter', () => {
      const [headings = [], one = [], two = [], three = []] = typed([[3, 4, 'won']]);
      expect(putBack([headings, one, three, two])).toEqual([]);
    });

    test('a removal that came too late restores nothing', () => {
      const removal: SentRow = {
        row: 1,
        isNew: false,
        cells: new Map([
          [0, null],
          [1, null],
          [3, null],
          [4, null],
        ]),
      };
      expect(putBack(typed([[1, 3, null]]), [removal])).toEqual([]);
    });
  });

  test('a write of unknown outcome is not searched for where it cannot have landed', () => {
    const grid: Grid = [
      ['Lead ID', 'Company', 'Notes', 'City', 'Stage'],
      ['id-1', 'One', null, 'Rome', 'new'],
      ['id-2', 'Two', null, 'Bonn', 'new'],
      ['id-3', 'Three', null, 'Nice', 'new'],
    ];
    const [headings = [], one = [], two = [], three = []] = grid;
    const sent = { row: 1, isNew: false, cells: new Map([[4, 'won']]) };
    const puts = (isDoubtful: boolean, after: Grid) => {
      const alignment = new Alignment(grid, after, lawColumns);
      return cellsToPutBack([{ ...sent, isDoubtful }], alignment, [{ ...sent, isDoubtful }]);
    };
    const typedElsewhere = [headings, two, one, three.with(4, 'won')];
    expect(puts(true, typedElsewhere)).toEqual([]);
    const hit = [headings, two.with(4, 'won'), one, three];
    for (const isDoubtful of [true, false])
      expect(puts(isDoubtful, hit)).toMatchObject([{ row: 1, cells: new Map([[4, 'new']]) }]);
  });

  describe('thousands of rows', () => {
    const stages = ['new', 'won', 'lost', 'open'];
    const headings = ['Lead ID', 'Company', 'Notes', 'City', 'Stage'];
    const rows = Array.from({ length: 10_000 }, (_, n): GridCell[] => [
      `id-${n}`,
      `C${n}`,
      null,
      'y',
      stages[n % 4] ?? null,
    ]);
    const loose = rows.map((row) => row.with(0, null));
    const all = (cells: (n: number) => [number, GridCell][]) =>
      rows.map((_, n): SentRow => ({ row: n + 1, isNew: false, cells: new Map(cells(n)) }));
    const empty: GridCell[] = headings.map(() => null);

    test.each([
      ['that were not carried out', rows, rows, all((n) => [[4, stages[(n + 1) % 4] ?? null]])],
      ['that were moved', rows, [empty, ...rows], all((n) => [[4, stages[(n + 1) % 4] ?? null]])],
      ['that were emptied', rows, rows.map(() => empty), all(() => [0, 1, 3, 4].map((at) => [at, null]))],
      [
        'that got ids of others',
        loose,
        [empty, ...loose].map((row, n) => (n < rows.length ? row.with(0, `link-${n}`) : row)),
        all((n) => [[0, `link-${n}`]]),
      ],
    ])('%s are fast', (_, before, after, sent) => {
      const began = cpuMs();
      const alignment = new Alignment(
        [headings, ...before],
        [headings, ...after],
        lawColumns,
        linkedIds(sent, 0),
      );
      const missed = sent.filter((row) => !hasArrived(row, alignment, sent));
      cellsToPutBack(missed, alignment, sent);
      // Each with each would take a minute.
      expect(cpuMs() - began).toBeLessThan(10_000);
    });

    test('so are thousands of columns', () => {
      const wide = Array.from({ length: 18_000 }, (_, n) => (n % 3 === 0 ? null : `Column ${n}`));
      const began = cpuMs();
      expect(new Alignment([wide], [[null, ...wide]], lawColumns).columnAfter(17_999)).toBe(18_000);
      expect(cpuMs() - began).toBeLessThan(2_000);
    });
  });

  test('a request that was never carried out restores nothing', () => {
    fc.assert(
      fc.property(night, moves, ({ grid, sent }, after) => {
        const now = gridOf(move(traced(grid), after));
        const alignment = new Alignment(grid, now, lawColumns, linkedIds(sent, 0));
        const missed = sent.filter((row) => !hasArrived(row, alignment, sent));
        expect(cellsToPutBack(missed, alignment, sent)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Alignment } from '../../src/targets/google-sheets/alignment.ts';
import { cellAt, type Grid, type GridCell, sameGridCell } from '../../src/targets/google-sheets/grid.ts';
import { cellsToPutBack } from '../../src/targets/google-sheets/repair.ts';
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
  const puts = cellsToPutBack(missed, alignment, sent);
  return { missed, puts, written, end: carryOut(written, puts) };
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

  describe('and where nothing was moved', () => {
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

    test('nor are other rows of any matter that were moved', () => {
      const [headings = [], one = [], two = [], three = []] = typed([[3, 4, 'won']]);
      expect(putBack([headings, one, three, two])).toEqual([]);
    });

    test('a removal that came too late', () => {
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

  test('what was perhaps never carried out is not searched for where it cannot have landed', () => {
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
    ])('%s take no long time', (_, before, after, sent) => {
      const began = performance.now();
      const alignment = new Alignment(
        [headings, ...before],
        [headings, ...after],
        lawColumns,
        linkedIds(sent, 0),
      );
      const missed = sent.filter((row) => !hasArrived(row, alignment, sent));
      cellsToPutBack(missed, alignment, sent);
      // Each with each would take a minute.
      expect(performance.now() - began).toBeLessThan(10_000);
    });

    test('nor do thousands of columns', () => {
      const wide = Array.from({ length: 18_000 }, (_, n) => (n % 3 === 0 ? null : `Column ${n}`));
      const began = performance.now();
      expect(new Alignment([wide], [[null, ...wide]], lawColumns).columnAfter(17_999)).toBe(18_000);
      expect(performance.now() - began).toBeLessThan(2_000);
    });
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
    expect(cellsToPutBack(sent, astray, sent)).toMatchObject([{ row: 1, cells: new Map([[0, null]]) }]);
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
    expect(cellsToPutBack(sent, alignment, sent)).toMatchObject([{ row: 2, cells: new Map([[0, 'id-1']]) }]);
  });

  test('a row that got its id with a value that others show is known again when columns are moved', () => {
    const grid = [
      ['Lead ID', 'Company', 'Notes', 'City', 'Stage'],
      ['id-1', 'One', null, 'Rome', 'new'],
      [null, 'Two', 'mine', ' Bonn ', null],
    ];
    const cells = new Map([
      [0, 'link'],
      [3, 'Bonn'],
      [4, 'new'],
    ]);
    const { end } = play(grid, [{ row: 2, isNew: false, cells }], [{ kind: 'column', from: 2, to: 3 }]);
    expect(gridOf(end)).toEqual([
      ['Lead ID', 'Company', 'City', 'Notes', 'Stage'],
      ['id-1', 'One', 'Rome', null, 'new'],
      ['link', 'Two', ' Bonn ', 'mine', 'new'],
    ]);
  });

  test.each([
    ['the field that was sent', 4],
    ['another field', 1],
  ])(
    'somebody empties %s of the row when columns are moved: the cell that was hit comes back',
    (_, emptied) => {
      const grid: Grid = [
        ['Lead ID', 'Company', 'Notes', 'City', 'Stage'],
        ['id-1', 'One', null, 'Rome', 'new'],
        [null, 'Two', 'mine', 'Bonn', ' won '],
        ['id-3', 'Three', null, null, 'new'],
      ];
      const owned = new Set([0, 1, 2, 3, 4]);
      const sent: SentRow[] = [
        {
          row: 2,
          isNew: false,
          cells: new Map([
            [0, 'link'],
            [4, 'won'],
          ]),
        },
      ];
      const edited = traced(grid).map((row, at) =>
        at === 2 ? row.map((cell, column) => (column === emptied ? { ...cell, value: null } : cell)) : row,
      );
      const written = carryOut(move(edited, [{ kind: 'column', from: 4, to: 2 }]), sent);
      const alignment = new Alignment(grid, gridOf(written), { id: 0, owned }, linkedIds(sent, 0));
      const missed = sent.filter((row) => !hasArrived(row, alignment, sent));
      const end = carryOut(written, cellsToPutBack(missed, alignment, sent));
      const city = end.flat().find(({ from }) => from?.[0] === 2 && from[1] === 3);
      expect(city?.value).toBe('Bonn');
    },
  );

  test('a name that was written into a row without id, of which somebody emptied another cell, comes back after a sort', () => {
    const grid: Grid = [
      ['Lead ID', 'Company', 'Notes', 'City', 'Stage'],
      ['id-1', 'One', null, 'Rome', 'new'],
      [null, 'Two', 'mine', 'Bonn', 'won'],
      ['id-3', 'Three', null, null, 'new'],
    ];
    const [headings = [], one = [], two = [], three = []] = grid;
    const sent: SentRow[] = [{ row: 1, isNew: false, cells: new Map([[1, 'Uno']]) }];
    const after = [headings, two.with(1, 'Uno').with(4, null), three, one];
    const alignment = new Alignment(grid, after, { id: 0, owned: new Set([0, 1, 2, 3, 4]) });
    expect(cellsToPutBack(sent, alignment, sent)).toMatchObject([{ row: 1, cells: new Map([[1, 'Two']]) }]);
  });

  test('a request that was never carried out puts nothing back', () => {
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

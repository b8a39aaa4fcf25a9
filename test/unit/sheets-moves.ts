import * as fc from 'fast-check';
import { Alignment } from '../../src/targets/google-sheets/alignment.ts';
import type { Grid, GridCell } from '../../src/targets/google-sheets/grid.ts';
import {
  cellsToPutBack,
  hasArrived,
  linkedIds,
  type SentRow,
} from '../../src/targets/google-sheets/repair.ts';

/** A cell with where it stood in the look; null: it was not there. */
interface TracedCell {
  readonly from: readonly [row: number, column: number] | null;
  value: GridCell;
}
export type Traced = TracedCell[][];

export const lawColumns = { id: 0, owned: new Set([0, 1, 3, 4]) };

/** What people do to rows (below the headings) or columns. Numbers are taken modulo what is there. */
export type Move =
  | { readonly kind: 'row' | 'column'; readonly from: number; readonly to: number }
  | {
      readonly kind: 'insert-row' | 'delete-row' | 'insert-column' | 'delete-own-column';
      readonly at: number;
    }
  | { readonly kind: 'reverse' | 'heading-down' };

const at = fc.nat({ max: 30 });
const several = <T>(move: fc.Arbitrary<T>) => fc.array(move, { maxLength: 4 });

export const rowMoves: fc.Arbitrary<readonly Move[]> = several(
  fc.oneof(
    fc.record({ kind: fc.constant('row' as const), from: at, to: at }),
    fc.record({ kind: fc.constantFrom('insert-row' as const, 'delete-row' as const), at }),
    fc.record({ kind: fc.constantFrom('reverse' as const, 'heading-down' as const) }),
  ),
);

/** A new column in the place of one that was deleted cannot be told from it, so there is either one or the other. */
const columnMoves: fc.Arbitrary<readonly Move[]> = fc
  .constantFrom('insert-column' as const, 'delete-own-column' as const)
  .chain((kind) =>
    several(
      fc.oneof(
        fc.record({ kind: fc.constant('column' as const), from: at, to: at }),
        fc.record({ kind: fc.constant(kind), at }),
      ),
    ),
  );

/** Within one round trip people move rows or columns; both at once is more than can be told apart. */
export const moves: fc.Arbitrary<readonly Move[]> = fc.oneof(rowMoves, columnMoves);

/** A table of ours with a column of the user's own; rows with and without ids, all cells different, some empty. */
export const grids: fc.Arbitrary<Grid> = fc
  .array(fc.record({ hasId: fc.boolean(), gaps: fc.array(fc.constantFrom(1, 3, 4), { maxLength: 2 }) }), {
    minLength: 1,
    maxLength: 8,
  })
  .map((rows) => [
    ['Lead ID', 'Company', 'Notes', 'City', 'Stage'],
    ...rows.map(({ hasId, gaps }, index) => {
      const row: GridCell[] = Array.from({ length: 5 }, (_, column) => `r${index + 1}c${column}`);
      row[0] = hasId ? `id-${index + 1}` : null;
      for (const gap of gaps) row[gap] = null;
      return row;
    }),
  ]);

/** What may be sent to a table: updates, links, removals, new rows; all values different. */
export function sentTo(grid: Grid): fc.Arbitrary<readonly SentRow[]> {
  const rows = grid.slice(1).map((cells, index) => {
    const row = index + 1;
    const columns = fc.uniqueArray(fc.constantFrom(1, 3, 4), { minLength: 1 });
    const update = columns.map(
      (some) => new Map<number, GridCell>(some.map((each) => [each, `new${row}.${each}`])),
    );
    const filled = [...lawColumns.owned].filter((column) => (cells[column] ?? null) !== null);
    const removal = fc.constant(new Map<number, GridCell>(filled.map((column) => [column, null])));
    const clear = columns.map((some) => {
      const cleared = some.filter((each) => (cells[each] ?? null) !== null);
      return new Map<number, GridCell>(cleared.map((each) => [each, null]));
    });
    const id = [0, `link-${row}`] as const;
    // Rows show the same in a column such as this one.
    const stages = grid.slice(1).flatMap((each): [number, GridCell][] => {
      const stage = each[4] ?? null;
      return stage === null || each === cells ? [] : [[4, stage]];
    });
    const link = fc.tuple(update, fc.constantFrom(null, ...stages)).map(([values, stage]) => {
      // No lead is made of a row without a name, by which it is known again.
      const others = (cells[1] ?? null) === null ? [] : [...values].filter(([column]) => column !== 1);
      return new Map<number, GridCell>([
        id,
        ...others,
        ...(stage === null || others.length === 0 ? [] : [stage]),
      ]);
    });
    const change = (cells[0] ?? null) === null ? link : fc.oneof(update, removal, clear);
    return fc
      .option(change)
      .map((sent): SentRow[] =>
        sent === null || sent.size === 0 ? [] : [{ row, isNew: false, cells: sent }],
      );
  });
  const inserted = fc.nat({ max: 2 }).map((count) =>
    Array.from({ length: count }, (_, index): SentRow => {
      const row = grid.length + index;
      return {
        row,
        isNew: true,
        cells: new Map([
          [0, `id-n${index}`],
          [1, `new${row}.1`],
          [4, `new${row}.4`],
        ]),
      };
    }),
  );
  return fc.tuple(inserted, ...rows).map((all) => all.flat());
}

export function traced(grid: Grid): Traced {
  return grid.map((row, r) => row.map((value, c) => ({ from: [r, c] as const, value })));
}

export function gridOf(cells: Traced): Grid {
  return cells.map((row) => row.map(({ value }) => value));
}

const blank = (): TracedCell => ({ from: null, value: null });

export function move(cells: Traced, moves: readonly Move[]): Traced {
  return moves.reduce((now, each) => moveOnce(now, each), cells);
}

function moveOnce(cells: Traced, move: Move): Traced {
  const width = cells[0]?.length ?? 0;
  const blankRow = () => Array.from({ length: width }, blank);
  const header = cells.findIndex((row) => row.some(({ from }) => from?.[0] === 0));
  const rows = cells.slice(header + 1);
  const head = cells.slice(0, header + 1);
  switch (move.kind) {
    case 'row': {
      const [moved] = rows.length === 0 ? [] : rows.splice(move.from % rows.length, 1);
      if (moved !== undefined) rows.splice(move.to % (rows.length + 1), 0, moved);
      return [...head, ...rows];
    }
    case 'reverse':
      return [...head, ...rows.toReversed()];
    case 'insert-row':
      return [...head, ...rows.toSpliced(move.at % (rows.length + 1), 0, blankRow())];
    case 'delete-row':
      return rows.length === 0 ? cells : [...head, ...rows.toSpliced(move.at % rows.length, 1)];
    case 'heading-down':
      return [blankRow(), ...cells];
    case 'column':
      return cells.map((row) => {
        const rest = row.toSpliced(move.from % width, 1);
        const moved = row[move.from % width];
        return moved === undefined ? rest : rest.toSpliced(move.to % width, 0, moved);
      });
    case 'insert-column':
      return cells.map((row) => row.toSpliced(move.at % (width + 1), 0, blank()));
    case 'delete-own-column': {
      const own = cells[header]?.findIndex(({ from }) => from?.[1] === 2) ?? -1;
      return own < 0 ? cells : cells.map((row) => row.toSpliced(own, 1));
    }
    default:
      return move satisfies never;
  }
}

/** Carries out what was sent by number, as Google does: first the cells, then the new rows. */
export function carryOut(cells: Traced, sent: readonly SentRow[]): Traced {
  const now: Traced = cells.map((row) => row.map((cell) => ({ ...cell })));
  const put = (row: number, column: number, value: GridCell) => {
    while (now.length <= row) now.push([]);
    const line = now[row] ?? [];
    while (line.length <= column) line.push(blank());
    line[column] = { ...(line[column] ?? blank()), value };
  };
  for (const { row, isNew, cells: values } of sent) {
    if (!isNew) for (const [column, value] of values) put(row, column, value);
  }
  const inserts = sent.filter(({ isNew }) => isNew);
  const [first] = inserts;
  if (first === undefined) return now;
  while (now.length < first.row) now.push([]);
  now.splice(first.row, 0, ...inserts.map(() => []));
  for (const { row, cells: values } of inserts) for (const [column, value] of values) put(row, column, value);
  return now;
}

/** Moves, carries out what was sent, moves again, verifies and repairs once. */
export function play(
  grid: Grid,
  sent: readonly SentRow[],
  before: readonly Move[],
  after: readonly Move[] = [],
) {
  const moved = move(traced(grid), before);
  const written = move(carryOut(moved, sent), after);
  const alignment = new Alignment(grid, gridOf(written), lawColumns, linkedIds(sent, 0));
  const missed = sent.filter((row) => !hasArrived(row, alignment, sent));
  const puts = cellsToPutBack(missed, alignment, sent);
  return { missed, puts, written, end: carryOut(written, puts) };
}

import { expect, test } from 'vitest';
import { Alignment } from '../../src/targets/google-sheets/alignment.ts';
import type { Grid } from '../../src/targets/google-sheets/grid.ts';
import {
  cellsToPutBack,
  hasArrived,
  linkedIds,
  type SentRow,
} from '../../src/targets/google-sheets/repair.ts';
import { carryOut, gridOf, lawColumns, move, play, traced } from './sheets-moves.ts';

test('an id overwritten in one of two copies of a row is restored', () => {
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

test('a row that got its id and was edited at that moment keeps the id', () => {
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

test('an overwritten id is restored in a row that was edited at that moment', () => {
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

test('a row that got its id and a value that other rows show is recognised after columns moved', () => {
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
])('somebody empties %s of the row while columns move: the overwritten cell is restored', (_, emptied) => {
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
});

test('a name overwritten in a row without id is restored after a sort, even when somebody emptied another cell', () => {
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

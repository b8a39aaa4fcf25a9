import { expect, test } from 'vitest';
import type { RowStanding } from '../../src/core/lead/table-rows.ts';
import { ApartRows } from '../../src/sync/read-target.ts';

const id = (sign: string): string | null =>
  sign === '-' || sign === '~' ? null : sign === '!' ? 'Total: 2 customers' : `id-${sign}`;

/**
 * Rows from the second on: a letter is an id, `-` a row without one, `!` a row with another text in its id cell, `~` a row of
 * sums, a blank an empty row. In two batches. `bottom`: of the table's range, as the place of its last row.
 */
function split(table: string, bottom?: number, joins?: string): [string, string] {
  const standing = (sign: string, at: number): { standing?: RowStanding } =>
    sign === '~'
      ? { standing: 'note' }
      : bottom === undefined
        ? {}
        : { standing: at <= bottom ? 'within' : 'below' };
  const rows = table.split('').flatMap((sign, at) => {
    if (sign === ' ') return [];
    const cells = { companyName: sign === '!' ? null : 'A' };
    return [{ row: at + 2, leadId: id(sign), cells, ...standing(sign, at) }];
  });
  const apart = new ApartRows<(typeof rows)[number]>(({ row }) => joins?.includes(String(row - 2)) === true);
  const middle = rows.length >> 1;
  const parts = [apart.see(rows.slice(0, middle)), apart.see(rows.slice(middle))];
  const numbers = (some: readonly { row: number }[]) => some.map(({ row }) => row - 2).join('');
  return [
    numbers(parts.flatMap(({ table: shown }) => shown)),
    numbers([...parts.flatMap((part) => part.apart), ...apart.end()]),
  ];
}

test.each([
  ['rows below the table belong to it', 'ab--', '0123', ''],
  ['rows below a gap are apart', 'ab- --', '012', '45'],
  ['leads below a gap are none the less', 'ab  c', '014', ''],
  ['a row beside one with an id belongs to it', 'ab -c', '0134', ''],
  ['a piece without id between others is apart', 'a - b', '04', '2'],
  ['in a table without ids all below a gap are apart', '- -- -', '0', '235'],
  ['also above the first id', '- a -', '02', '4'],
  ['the first piece may follow an empty row', ' -- -', '12', '4'],
  ['where ids are left they tell', '- - a- -', '045', '27'],
  ['a text that is no id is a note, directly below or further down', 'ab!! !', '01', '235'],
  ['a note between rows does not part them', '-!- -', '02', '14'],
  ['sums are apart, and so is what follows them', '--~-- -', '01', '2346'],
  ['leads below the sums are none the less', '-a~b', '013', '2'],
])('%s', (_, table, belongs, apart) => {
  expect(split(table)).toEqual([belongs, apart]);
});

test.each([
  ['everything within it belongs to it, gaps or not', '-- -', 3, '013', ''],
  ['what is below is apart', '---- -', 2, '012', '35'],
  ['leads below are none the less, with the rows beside them', '---a- -', 2, '01234', '6'],
  ['sums within it are apart', '--~', 2, '01', '2'],
])('in a table with a range: %s', (_, table, bottom, belongs, apart) => {
  expect(split(table, bottom)).toEqual([belongs, apart]);
});

test.each([
  ['one that was added directly below', '------', '3', '0123', '45'],
  ['several', '------', '345', '012345', ''],
  ['not below another', '------', '45', '012', '345'],
  ['not below an empty row', '--- --', '45', '012', '45'],
])('rows added below the range: %s', (_, table, joins, belongs, apart) => {
  expect(split(table, 2, joins)).toEqual([belongs, apart]);
});

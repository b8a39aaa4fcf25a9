import { expect, test } from 'vitest';
import { ApartRows } from '../../src/sync/apart-rows.ts';

/** Rows from the second on: a letter is an id, `-` a row without one, a blank an empty row. In two batches. */
function split(table: string, hadIds = false): [string, string] {
  const rows = table
    .split('')
    .flatMap((sign, at) => (sign === ' ' ? [] : [{ row: at + 2, leadId: sign === '-' ? null : sign }]));
  const apart = new ApartRows(hadIds);
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
  ['nothing is apart in a table without ids', '- -- -', '0235', ''],
  ['nor above the first id', '- a -', '02', '4'],
])('%s', (_, table, belongs, apart) => {
  expect(split(table)).toEqual([belongs, apart]);
});

test.each([
  ['where all ids are gone the first piece is the table', '-- -', '01', '3'],
  ['so it is above the first id', '- a -', '02', '4'],
  ['where ids are left they tell', '- - a- -', '045', '27'],
])('in a table whose rows had ids: %s', (_, table, belongs, apart) => {
  expect(split(table, true)).toEqual([belongs, apart]);
});

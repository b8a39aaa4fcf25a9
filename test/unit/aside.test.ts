import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asidesIn, recordsIn } from '../../src/core/lead/aside.ts';

const [a, b, c] = [1, 2, 3].map((nth) => `018cd95e-0000-7000-8000-00000000000${nth}`);
const shape = { width: 4, id: 0 };
const records = (lines: readonly string[], delimiter: string, own: string | null, at = shape): string[] =>
  recordsIn(lines, delimiter, at, own).map(({ leadId, kind }) => `${kind} ${leadId}`);

test.each([
  [
    'a row at the end of which a quotation mark opens',
    [`${a},A,x,"call`, `${b},B,y,`, `${c},C,z,12"`],
    [`table ${b}`, `table ${c}`],
  ],
  ['two lines only', [`${a},A,"x,call`, `${b},B",y,`], [`table ${b}`]],
  ['rows without ids', [`${a},A,x,"call`, ',B,y,12"'], ['table ']],
  [
    'a row without an id, joined to one that has a text of two lines',
    [`${a},"two`, 'lines",x,"call', ',B,y,12"'],
    ['table '],
  ],
  ['a text of two lines in the first cells', [`${a},"two`, 'lines",x,call'], []],
  ['rows without cells at their end', [`${a},A,x,"call`, `${b},B,y`, 'C"'], [`record ${b}`]],
  ['quotation marks in the id column', [`"${a},A,x,`, `${b}",B,y,`], [`table ${b}`]],
  ['doubled quotation marks', [`${a},A,x,"call`, `${b},"",y,12"`], [`table ${b}`]],
  ['ids that are no UUIDs', [`${a},A,x,"call`, 'L-2,B,y,12"'], ['record L-2']],
  ['an ordinary note', [`${a},A,x,"call`, 'Anna"'], []],
  ['prose with as many commas', [`${a},A,x,"call`, 'Anna, Bert, Carl, Dora"'], []],
  ['texts that begin with a blank', [`${a},A,x,"call`, `${b}, B, y,12"`], [`table ${b}`]],
  ['the same in a row of another width', [`${a},A,x,"call`, `${b}, B,"y,y",12"`], [`record ${b}`]],
  ['a list of other leads in a note', [`${a},A,x,"see`, `${b}, ${c}"`], []],
  ['an id alone on its line', [`${a},A,"see`, `${b}",x`], []],
  ['lines of commas', [`${a},A,x,"call`, ',,,"'], []],
])('of the lines of a record: %s', (_, lines, found) => {
  expect(records(lines, ',', a ?? '')).toEqual(found);
});

test('a row without an id and a row that it joins', () => {
  expect(records([',"two', 'lines",x,"call', ',B,y,12"'], ',', null)).toEqual(['table ']);
  expect(records([',"two', 'lines",x,call'], ',', null)).toEqual([]);
  // Its text of two lines comes before the id column, which is empty.
  expect(records(['"two', 'lines",,x,call'], ',', null, { width: 4, id: 1 })).toEqual([]);
  expect(records([',A,x,"call', ',B,y,12"'], ',', null)).toEqual(['table ']);
  expect(records([',A,x,"call', `${b},B,y,12"`], ',', null)).toEqual([`table ${b}`]);
  expect(records([',",,', ',,,', ',B,y,12"'], ',', null)).toEqual(['table ']);
  expect(records(['A;x;"call;', `B;y;12";${b}`], ';', b ?? '', { width: 4, id: 3 })).toEqual(['table ']);
});

const cell = (text: string, own: string | null = a ?? ''): string[] =>
  asidesIn(text, shape, own).map(({ leadId, kind }) => `${kind} ${leadId}`);

test.each([
  ['the id of its own row', `${a}`, []],
  ['its own in capitals, in a link', `https://crm.example/${a?.toUpperCase()}/edit`, []],
  ['that of another', `duplicate of {${b}}`, [`note ${b}`]],
  ['one twice', `${b} ${b}`, [`note ${b}`]],
  ['a longer text of the same letters', `0${b} ${c}0`, []],
  ['a row that was pasted', `${b}\tB\ty\t`, [`note ${b}`, `table ${b}`]],
  ['rows that were pasted', `${b}\tB\ty\t\n\tC\tz\t`, [`note ${b}`, `table ${b}`, 'table ']],
  ['some columns of rows', `${b}\tB\n${c}\tC`, [`note ${b}`, `note ${c}`, `record ${b}`, `record ${c}`]],
  ['text with a tab', 'Tel.\t030 123', ['record Tel.']],
])('of one cell: %s', (_, text, found) => {
  expect(cell(text)).toEqual(found);
});

test('of any rows, a quotation mark at the end of one and of a later one joins, each joined row is found', () => {
  const text = fc.stringMatching(/^[A-Za-zäöü][A-Za-zäöü .-]{0,8}$/);
  const table = fc.record({
    width: fc.integer({ min: 2, max: 6 }),
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    rows: fc.array(fc.array(text, { minLength: 6, maxLength: 6 }), { minLength: 2, maxLength: 6 }),
    id: fc.nat(5),
    from: fc.nat(5),
    to: fc.nat(5),
  });
  fc.assert(
    fc.property(table, ({ width, delimiter, rows, id: at, from, to }) => {
      const id = at % width;
      const ids = rows.map((_, nth) => `018cd95e-0000-7000-8000-0000000001${10 + nth}`);
      const lines = rows.map((cells, nth) => {
        const shown = cells.slice(0, width).with(id, ids[nth] ?? '');
        if (nth === 0) shown[from % width] = `"${shown[from % width]}`;
        if (nth === rows.length - 1) shown[to % width] = `${shown[to % width]}"`;
        return shown.join(delimiter);
      });
      const found = recordsIn(lines, delimiter, { width, id }, ids[0] ?? '').map(({ leadId }) => leadId);
      expect(found).toEqual(ids.slice(1));
    }),
  );
});

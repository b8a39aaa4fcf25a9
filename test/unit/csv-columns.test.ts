import { expect, test } from 'vitest';
import { locateColumns } from '../../src/targets/shared/columns.ts';
import { freeCell } from '../../src/targets/shared/table-range.ts';
import { readRange } from '../../src/targets/xlsx/cell-reference.ts';
import { contractFields } from '../contract/target-harness.ts';

const [name, city] = contractFields;
const mapping = { fields: contractFields, idColumn: 'Lead ID' };
const positions = (headings: string[], fields = contractFields) =>
  Object.fromEntries(
    [...locateColumns(headings, { ...mapping, fields }, 'x.csv').fields].map(([field, { index }]) => [
      field,
      index,
    ]),
  );

test('a column that one heading fits exactly is not given to another that differs only in case', () => {
  const fields = [name, city].flatMap((field, index) =>
    field === undefined ? [] : [{ ...field, column: index === 0 ? 'stage' : 'Stage' }],
  );
  expect(positions(['Lead ID', 'Stage'], fields)).toEqual({ city: 1 });
  expect(positions(['Lead ID', 'Stage', 'stage'], fields)).toEqual({ city: 1, name: 2 });
});

test('the exact heading wins over one that differs in case', () => {
  expect(positions(['city', 'Lead ID', 'City'])).toEqual({ city: 2 });
});

test('headings are equal whatever the form of their accents', () => {
  const umlaut = contractFields.map((field) =>
    Object.assign({}, field, { column: field.column.replace('City', 'Stra\u00dfe \u00fc') }),
  );
  expect(positions(['Lead ID', 'Stra\u00dfe u\u0308'], umlaut)).toEqual({ city: 1 });
});

test.each([
  ['case', 'NEXT FOLLOW-UP'],
  ['blanks of any kind', ' Next\u00a0\u2009follow-up\u200b '],
  ['line breaks', 'Next\r\nfollow-up'],
  ['missing blanks', 'Nextfollow-up'],
])('headings are equal without regard to %s', (_, heading) => {
  const [, , due] = contractFields;
  expect(due?.column).toBe('Next follow-up');
  expect(positions(['Lead ID', heading])).toEqual({ due: 1 });
});

test.each([
  ['Town / City', 'city: { column: "Town / City" }'],
  ['Citi', 'city: { column: "Citi" }'],
  ['Zip', undefined],
])(
  'a missing column names the heading that may be meant, with the line to configure: %s',
  (heading, line) => {
    const { missing } = locateColumns(['Lead ID', 'Name', heading], mapping, 'x.csv');
    const city = missing.find(({ field }) => field === 'city')?.message ?? '';
    expect(/under fields: (.*)$/.exec(city)?.[1]).toBe(line);
  },
);

test.each<[string[], number, number[], string | undefined, string]>([
  [['Company', 'City', ''], 3, [], undefined, 'C3'],
  [Array.from({ length: 27 }, () => 'City'), 1, [], undefined, 'AB1'],
  [['Company', 'City'], 3, [2], 'A3:B9', 'D3 (and let the filter A3:B9 reach it)'],
  [['Company', 'City'], 3, [], 'A3:C9', 'C3'],
  // The filter of another table.
  [['Company', 'City'], 3, [], 'A4:B9', 'C3'],
])('the free cell right of the headings: %s', (headings, row, used, filter, cell) => {
  const range = filter === undefined ? undefined : (readRange(filter) ?? undefined);
  expect(freeCell(headings, row, (column) => used.includes(column), range)).toBe(cell);
});

test('a missing id column names the heading that may be meant', () => {
  expect(() => locateColumns(['Leads ID', 'City'], mapping, 'x.csv')).toThrow(
    expect.objectContaining({
      code: 'target.id-column-missing',
      help: expect.stringMatching(/under target: idColumn: "Leads ID"$/),
    }),
  );
});

test('a doubled status column is none', () => {
  const status = { ...mapping, statusColumn: 'Sync' };
  expect(locateColumns(['Lead ID', 'Sync'], status, 'x.csv').status).toBe(1);
  expect(locateColumns(['Lead ID', 'Sync', 'Sync'], status, 'x.csv').status).toBeNull();
  expect(locateColumns(['Lead ID'], status, 'x.csv').status).toBeNull();
});

test.each([
  [['Anna AG', '', 'anna@example.org'], 'The first row of x.csv has 2 filled cells, none of them'],
  [['Anna AG'], 'The first row of x.csv has 1 filled cell, which is not'],
  [['', ' '], 'The first row of x.csv is empty'],
])('a first row without headings is told of, but not shown: it may be a person: %j', (row, message) => {
  expect(() => locateColumns(row, mapping, 'x.csv')).toThrow(
    expect.objectContaining({
      code: 'target.header-missing',
      message: expect.stringMatching(new RegExp(`^(?!.*(Anna|anna)).*${message}`)),
    }),
  );
});

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CellValues } from '../../src/targets/google-sheets/cell-values.ts';
import { gridCell, sameGridCell } from '../../src/targets/google-sheets/grid.ts';

const berlin = new CellValues({ timeZone: 'Europe/Berlin', locale: 'de_DE' });
const zones = ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns', 'GMT-07:00', 'GMT+05:45'];

test('every moment reads back as it was written, as a number wherever one means it', () => {
  const instant = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  fc.assert(
    fc.property(instant, fc.constantFrom(...zones), fc.boolean(), (value, timeZone, asNumber) => {
      const values = new CellValues({ timeZone, locale: 'en_US' });
      const cell = values.write(value, 'instant', asNumber);
      expect(values.read(cell, 'instant')).toBe(value);
    }),
  );
  expect(berlin.write('2026-11-21T08:30:00.000Z', 'instant', true)).toBeCloseTo(46347.395833, 5);
  // A column that shows no dates would show a number.
  expect(berlin.write('2026-11-21T08:30:00.000Z', 'instant', false)).toBe('2026-11-21T08:30:00.000Z');
});

test.each([
  ['a day number before 1900-03-01', 60, { unreadable: '60' }],
  ['a negative number', -1, { unreadable: '-1' }],
  ['a number after the year 9999', 3e6, { unreadable: '3000000' }],
  ['a truth', true, { unreadable: 'TRUE' }],
  ['blanks', '  ', null],
  ['a text like an error', '#REF!', { unreadable: '#REF!' }],
  [
    'a formula',
    { formula: '=NOW()', shows: 46347.5 },
    { unreadable: 'formula =NOW() (shows 46347.5)', why: 'formula' },
  ],
  ['a German date', '21.11.2026 09:30', '2026-11-21T08:30:00.000Z'],
  ['a date of the locale', '3-4-2026', '2026-04-02T22:00:00.000Z'],
  ['a date of the locale with a time', '3/4/2026 9:30', '2026-04-03T07:30:00.000Z'],
  ['a date with two digits of a year', '3/4/26', { unreadable: '3/4/26' }],
  ['a day that is not there', '31/02/2026', { unreadable: '31/02/2026' }],
] as const)('a cell of moments with %s', (_, cell, read) => {
  expect(berlin.read(cell, 'instant')).toEqual(read);
});

test.each([
  [0, '0'],
  [false, 'FALSE'],
  [1e21, '1E+21'],
  [0.1 + 0.2, '0.3'],
  ['', null],
  [' ', ' '],
  ['Loading...', 'Loading...'],
])('a cell of texts with %j is %j', (cell, read) => {
  expect(berlin.read(cell, 'text')).toEqual(read);
});

test('a number stays a number only when it reads the same', () => {
  const write = (value: string) => berlin.write(value, 'text', true);
  expect(['7', '-7.5', '007', '7.0', '1E+21', 'seven', '', '0x10'].map(write)).toEqual([
    7,
    -7.5,
    '007',
    '7.0',
    1e21,
    'seven',
    null,
    '0x10',
  ]);
  expect(berlin.write('7', 'text', false)).toBe('7');
});

test('a time zone that nobody knows is said', () => {
  const made = () => new CellValues({ timeZone: 'Mars/Olympus', locale: 'en' });
  expect(made).toThrow(expect.objectContaining({ code: 'target.unreadable' }));
});

test('a formula is told from a text that begins as one', () => {
  expect(gridCell('=1+1', 2)).toEqual({ formula: '=1+1', shows: 2 });
  expect(gridCell('=1+1', '=1+1')).toBe('=1+1');
  expect(gridCell('=""', null)).toEqual({ formula: '=""', shows: null });
  expect(sameGridCell('=1+1', { formula: '=1+1', shows: 2 })).toBe(false);
});

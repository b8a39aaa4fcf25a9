import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvCell, guarded, longestCsvText, unguarded } from '../../src/targets/csv/text.ts';
import { notStorable } from '../../src/targets/shared/row-content.ts';

describe('the guard against formulas', () => {
  test.each([
    ['=1+1', "'=1+1"],
    ['+49 171', "'+49 171"],
    ['-5', "'-5"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\rx', "'\rx"],
    ["'=x", "''=x"],
    ["'tis", "'tis"],
    ['0042', '0042'],
    ['', ''],
  ])('%j is written as %j', (text, cell) => {
    expect(guarded(text)).toBe(cell);
    expect(unguarded(cell)).toBe(text);
  });

  test('what a person typed as a formula is read as it stands', () => {
    expect(unguarded('=A1+1')).toBe('=A1+1');
  });

  test('law: nothing that is written starts like a formula, and it is read back the same', () => {
    const text = fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', 'a', '1') });
    fc.assert(
      fc.property(text, (anything) => {
        expect(guarded(anything)).not.toMatch(/^[=+\-@\t\r]/);
        expect(unguarded(guarded(anything))).toBe(anything);
      }),
    );
  });
});

test('a cell is quoted when it must be, or always', () => {
  expect(csvCell('a b', ',', false)).toBe('a b');
  expect(csvCell('a;b', ',', false)).toBe('a;b');
  expect(csvCell('a;b', ';', false)).toBe('"a;b"');
  expect(csvCell('a "b"\nc', ',', false)).toBe('"a ""b""\nc"');
  expect(csvCell('', ',', true)).toBe('""');
});

test('what UTF-8 text cannot hold is told', () => {
  expect(notStorable('a\0b', longestCsvText)).toMatch('NUL');
  expect(notStorable('\ud83d', longestCsvText)).toMatch('surrogate');
  expect(notStorable('x'.repeat(1_000_001), longestCsvText)).toMatch('1000001');
  expect(notStorable('x'.repeat(40_000), longestCsvText)).toBeNull();
});

import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { guarded, unguarded } from '../../src/core/lead/formula-guard.ts';
import { csvCell, longestCsvText } from '../../src/targets/csv/write-plan.ts';
import { notStorable } from '../../src/targets/shared/row-content.ts';

describe('the guard against formulas', () => {
  test.each([
    ['=1+1', "'=1+1"],
    ['+49 171', "'+49 171"],
    ['-5', "'-5"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\rx', "'\rx"],
    ['\nx', "'\nx"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠x', "'＠x"],
    ['Acme;=1+1', "Acme;'=1+1"],
    ['Acme,+1|-2\t@3\r\n=4', "Acme,'+1|'-2\t'@3\r\n'=4"],
    ['Acme;"=1+1"', `Acme;'"=1+1"`],
    ["Acme;'=1+1", "Acme;''=1+1"],
    ['one, - two; = three', 'one, - two; = three'],
    ['one\r\n\r\ntwo', 'one\r\n\r\ntwo'],
    ['a-b=c', 'a-b=c'],
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

  const signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
  const text = fc.string({
    unit: fc.constantFrom("'", '"', ...signs, ',', ';', '\t', '|', '\r', '\n', '\r\n', ' ', 'a', '1'),
  });

  test('law: it is read back the same', () => {
    fc.assert(
      fc.property(text, (anything) => {
        expect(unguarded(guarded(anything))).toBe(anything);
      }),
    );
  });

  test('law: whichever separator a program splits a line at, no cell starts like a formula', () => {
    const separator = fc.constantFrom(',', ';', '\t', '|');
    fc.assert(
      fc.property(text, separator, separator, fc.boolean(), (anything, ours, theirs, always) => {
        const line = ['id', csvCell(guarded(anything), ours, always), 'end'].join(ours);
        const asWritten = parse(line, { delimiter: ours, record_delimiter: '\0', relax_quotes: false });
        expect(asWritten).toEqual([['id', guarded(anything), 'end']]);
        const cells = line.split(/[\r\n]/).flatMap((one) => one.split(theirs));
        for (const cell of cells) expect(cell.replace(/^["\t]+/, '')).not.toMatch(/^[=+\-@＝＋－＠]/);
      }),
      { numRuns: 2_000 },
    );
  });
});

test('a cell is quoted when any program might split it, or always', () => {
  expect(csvCell('a b', ',', false)).toBe('a b');
  for (const mark of [',', ';', '\t', '|', '\r', '\n'])
    expect(csvCell(`a${mark}b`, ':', false)).toBe(`"a${mark}b"`);
  expect(csvCell('a:b', ':', false)).toBe('"a:b"');
  expect(csvCell('a "b"\nc', ',', false)).toBe('"a ""b""\nc"');
  expect(csvCell('', ',', true)).toBe('""');
});

test('what UTF-8 text cannot hold is told', () => {
  expect(notStorable('a\0b', longestCsvText)).toMatch('NUL');
  expect(notStorable('\ud83d', longestCsvText)).toMatch('surrogate');
  expect(notStorable('x'.repeat(1_000_001), longestCsvText)).toMatch('1000001');
  expect(notStorable('x'.repeat(40_000), longestCsvText)).toBeNull();
});

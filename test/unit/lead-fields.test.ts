import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { leadIdTime } from '../../src/core/lead/lead-id.ts';
import { fieldJson, leadCells } from '../../src/core/lead/lead.ts';
import { canonicalJson, type Cell, sameCell } from '../../src/core/lead/value.ts';
import { parseLeadJson } from '../../src/leads-api/read-reply.ts';
import { fields } from './pair-state.ts';

const cellsOf = (json: Record<string, unknown>) => leadCells({ id: 'lead-1', fields: json }, fields);

describe('the cells of a lead', () => {
  test.each<[string, unknown, Cell]>([
    ['a text', 'new', 'new'],
    ['null', null, null],
    ['empty text', '', null],
    ['a number', 17.5, '17.5'],
    ['zero', 0, '0'],
    ['a boolean', false, 'false'],
    ['a list', ['a', 'b'], '["a","b"]'],
    ['an object', { a: 1 }, '{"a":1}'],
    ['a text that looks like a formula', '=1+1', '=1+1'],
    ['spaces and leading zeros', ' 007 ', ' 007 '],
    ['half a surrogate pair', 'a\ud800b', 'a\ufffdb'],
    ['NUL', 'a\0b', 'a\ufffdb'],
  ])('a text field that holds %s', (_, json, expected) => {
    expect(cellsOf({ stage: json })['stage']).toEqual(expected);
  });

  test.each<[string, unknown, Cell]>([
    ['the form of the reference', '2026-11-21T08:30:00Z', '2026-11-21T08:30:00.000Z'],
    ['milliseconds', '2026-11-21T08:30:00.000Z', '2026-11-21T08:30:00.000Z'],
    ['an offset', '2026-11-21T09:30:00+01:00', '2026-11-21T08:30:00.000Z'],
    ['no offset: it is in UTC', '2026-11-21T08:30:00', '2026-11-21T08:30:00.000Z'],
    ['null', null, null],
    ['empty text', '', null],
    ['what is no date', 'next Tuesday', { unreadable: 'next Tuesday' }],
    ['a date that does not exist', '2026-02-30T00:00:00Z', { unreadable: '2026-02-30T00:00:00Z' }],
    ['a number', 1795248000, { unreadable: '1795248000' }],
    ['a boolean', true, { unreadable: 'true' }],
  ])('an instant field that holds %s', (_, json, expected) => {
    expect(cellsOf({ nextFollowUpAt: json })['nextFollowUpAt']).toEqual(expected);
  });

  test('every mapped field has a cell, and no other', () => {
    expect(cellsOf({ companyName: 'Acme', somethingElse: 'x', id: 'y' })).toEqual({
      companyName: 'Acme',
      stage: null,
      nextFollowUpAt: null,
    });
  });

  test('whatever JSON a field holds, the cell is stable: reading it again as text gives the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const cell = cellsOf({ stage: json })['stage'] ?? null;
        expect(sameCell(cellsOf({ stage: cell })['stage'] ?? null, cell)).toBe(true);
      }),
    );
  });
});

describe('numbers that JavaScript does not hold', () => {
  const read = (written: string): Cell =>
    cellsOf(parseLeadJson(`{"stage":${written}}`) as Record<string, unknown>)['stage'] ?? null;

  test.each<[string, Cell]>([
    ['1e400', { unreadable: '1e400' }],
    ['-1E+400', { unreadable: '-1E+400' }],
    ['1e-400', { unreadable: '1e-400' }],
    [`1${'0'.repeat(400)}`, { unreadable: `1${'0'.repeat(400)}` }],
    ['12345678901234567890', '12345678901234567890'],
    ['-9007199254740993', '-9007199254740993'],
    ['[1e400, {"a": 12345678901234567890}]', '[1e400,{"a":12345678901234567890}]'],
    ['9007199254740992', '9007199254740992'],
    ['0.10000000000000001', '0.1'],
    ['1e3', '1000'],
    ['0e999', '0'],
    ['0.000', '0'],
    ['"1e400 of 12345678901234567890"', '1e400 of 12345678901234567890'],
  ])('%s', (written, cell) => {
    expect(read(written)).toEqual(cell);
  });

  test('law: a whole number is shown with its digits, and is none that is null', () => {
    fc.assert(
      fc.property(fc.bigInt(), (number) => {
        expect(read(String(number))).toBe(String(number));
      }),
    );
  });

  test('law: other JSON is read as ever', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const text = JSON.stringify({ json, near: '1e400' });
        expect(JSON.stringify(parseLeadJson(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
    expect(parseLeadJson('{"a": 1e400')).toBeUndefined();
  });
});

describe('the JSON to send', () => {
  test.each<[string, string | null, unknown, unknown]>([
    // what, value, what the field holds now, JSON
    ['text for a text', 'won', 'new', 'won'],
    ['text for none', 'won', null, 'won'],
    ['text for a field that is absent', 'won', undefined, 'won'],
    ['a number as text for a text', '17', 'x', '17'],
    ['none for a text', null, 'new', null],
    ['none for a number', null, 17, null],
    ['none for a list', null, ['a'], null],
    ['a number', '18.5', 17, 18.5],
    ['a number with spaces', ' 18 ', 17, 18],
    ['a negative number', '-1', 17, -1],
    ['text for a number', 'many', 17, undefined],
    ['spaces for a number', ' ', 17, undefined],
    ['a number without end', 'Infinity', 17, undefined],
    ['no number', 'NaN', 17, undefined],
    ['a number out of range', '1e400', 17, undefined],
    ['a number of too many digits', '12345678901234567890', 17, undefined],
    ['a number for one of too many digits', '17', parseLeadJson('12345678901234567890'), 17],
    ['true', 'TRUE', false, true],
    ['false', ' false ', true, false],
    ['text for a boolean', 'yes', true, undefined],
    ['the name of an inherited property for a boolean', 'constructor', true, undefined],
    ['another one', '__proto__', true, undefined],
    ['text for a list', '["a"]', ['a'], undefined],
    ['text for an object', '{"a":1}', { a: 1 }, undefined],
  ])('%s', (_, value, current, expected) => {
    expect(fieldJson(value, current)).toEqual(expected);
  });

  test('what is sent and stored is read back as the same value', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
        (text, current) => {
          const json = fieldJson(text, current);
          if (typeof json === 'string')
            expect(sameCell(cellsOf({ stage: json })['stage'] ?? null, text)).toBe(true);
          if (typeof json === 'boolean') expect(String(json)).toBe(text.trim().toLowerCase());
          if (typeof json === 'number') expect(json).toBe(Number(text));
        },
      ),
    );
  });
});

describe('the time in an id', () => {
  test.each<[string, string, number | null]>([
    ['the example of RFC 9562', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 1645557742000],
    ['upper case', '017F22E2-79B0-7CC3-98C4-DC0C0C07398F', 1645557742000],
    ['version 4', '017f22e2-79b0-4cc3-98c4-dc0c0c07398f', null],
    ['version 1', '017f22e2-79b0-1cc3-98c4-dc0c0c07398f', null],
    ['another variant', '017f22e2-79b0-7cc3-c8c4-dc0c0c07398f', null],
    ['something before it', 'x017f22e2-79b0-7cc3-98c4-dc0c0c07398f', null],
    ['something after it', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f0', null],
    ['without dashes', '017f22e279b07cc398c4dc0c0c07398f', null],
    ['no UUID', 'lead-17', null],
    ['empty', '', null],
  ])('%s', (_, id, expected) => {
    expect(leadIdTime(id)).toBe(expected);
  });
});

test.each<[Cell, string]>([
  [null, 'null'],
  ['', 'null'],
  ['e\u0301\r\n', '"\u00e9\\n"'],
  [{ unreadable: 'soon' }, '["soon"]'],
])('canonicalJson: %j is %s', (cell, expected) => {
  expect(canonicalJson(cell)).toBe(expected);
});

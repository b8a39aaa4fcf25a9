import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { columnIndex, readRange } from '../../src/targets/xlsx/cell-reference.ts';
import { showRange } from '../../src/targets/shared/table-range.ts';
import { columnLetters, generalNumber } from '../../src/targets/shared/cell-name.ts';
import { isDateFormat } from '../../src/targets/xlsx/cell-reader.ts';
import {
  attribute,
  escapeCellText,
  escapeXml,
  readElements,
  unescapeCellText,
  XmlFault,
  XmlScanner,
  xmlText,
} from '../../src/targets/xlsx/xml.ts';

test('law: any text comes back from XML', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('_', 'x', '0', 'D', '5', 'F', '&', '<', '\r', '\n', '\0', 'ü', '😀', '\uffff'),
      }),
      (text) => {
        const raw = Buffer.from(escapeXml(escapeCellText(text))).toString('latin1');
        // oxlint-disable-next-line no-control-regex -- those XML does not hold
        expect(raw).not.toMatch(/[\x00-\x08\x0b-\x1f<]/);
        expect(unescapeCellText(xmlText(raw))).toBe(text);
      },
    ),
    { numRuns: 2_000, examples: [['_xFD05\r']] },
  );
});

test.each([
  ['_x000D_', '\r'],
  ['_x005F_x000D_', '_x000D_'],
  ['_x41_', '_x41_'],
  ['a_x00e4_', 'aä'],
])('the cell text %s means %j', (text, meant) => expect(unescapeCellText(text)).toBe(meant));

test.each(['&nbsp;', '&', '&#x110000;', '&#xD;x&city;', '\xff'])('refuses %j', (raw) => {
  expect(() => xmlText(raw)).toThrow(XmlFault);
});

test('law: columns have one name each', () => {
  fc.assert(
    fc.property(fc.nat(16_383), (column) => {
      expect(columnIndex(columnLetters(column))).toBe(column);
    }),
  );
  expect([columnLetters(0), columnLetters(25), columnLetters(26), columnLetters(16_383)]).toEqual([
    'A',
    'Z',
    'AA',
    'XFD',
  ]);
  expect(showRange(readRange('$B$3:AA20') ?? { left: 0, top: 0, right: 0, bottom: 0 })).toBe('B3:AA20');
  expect(['A', '1', 'A1:', 'a1', 'A1:B2:C3'].map(readRange)).toEqual([null, null, null, null, null]);
});

test.each([
  [42, '42'],
  [0.1 + 0.2, '0.3'],
  [123_456_789_012_345, '123456789012345'],
  [1e21, '1E+21'],
  [1e-7, '1E-07'],
  [-0.5, '-0.5'],
])('the number %d is shown as %s', (number, text) => expect(generalNumber(number)).toBe(text));

test.each([
  ['yyyy\\-mm\\-dd', true],
  ['[$-407]d. mmmm yyyy;@', true],
  ['[h]:mm:ss', true],
  ['General', false],
  ['0.00', false],
  ['#,##0 "days"', false],
  ['0\\d', false],
  ['[Red]0;[Blue]-0', false],
  ['_-* #,##0.00 _d_-', false],
  ['0;"no date"', false],
])('%s is a date format: %s', (code, expected) => expect(isDateFormat(code)).toBe(expected));

/** The names, places and texts that a scanner meets. */
function scanned(xml: string, chunk = xml.length): string[] {
  const seen: string[] = [];
  const scanner = new XmlScanner({
    open: (name, attributes, start, end) => seen.push(`<${name}${attributes}@${start}-${end}`),
    close: (name, start, end) => seen.push(`/${name}@${start}-${end}`),
    text: (raw) => (raw.trim() === '' ? 0 : seen.push(xmlText(raw))),
  });
  const bytes = Buffer.from(xml);
  for (let at = 0; at < bytes.length; at += chunk) scanner.write(bytes.subarray(at, at + chunk));
  scanner.end();
  return seen;
}

describe('scanning XML', () => {
  const xml = `<?xml version="1.0"?>\n<!-- <a> --><a x="1>2" y='"'><ü:b />größe<![CDATA[<&]]></a>\n`;

  test('tells elements with their bytes, however it is cut into chunks', () => {
    const whole = scanned(xml);
    expect(whole).toContain(`<a x="1>2" y='"'@${xml.indexOf('<a x')}-${xml.indexOf('<ü')}`);
    for (let chunk = 1; chunk < 20; chunk++) expect(scanned(xml, chunk)).toEqual(whole);
  });

  test.each([
    '',
    '<a>',
    '<a></b>',
    '<a/><b/>',
    '</a>',
    'x<a/>',
    '<a><b></a></b>',
    '<a b=c/>',
    '<a b="<"/>',
    '<!DOCTYPE a><a/>',
    '<a><!ENTITY x "y"></a>',
    '<?xml version="1.0" encoding="latin1"?><a/>',
    `${'<a>'.repeat(300)}${'</a>'.repeat(300)}`,
  ])('refuses %j', (bad) => {
    expect(() => readElements(Buffer.from(bad))).toThrow(XmlFault);
  });

  test('finds an attribute by its whole name, not in the value of another', () => {
    expect(attribute(` z="a r='9'" x:r='8' r = "&lt;1"`, 'r')).toBe('<1');
    expect(attribute(' rr="1"', 'r')).toBeNull();
  });
});

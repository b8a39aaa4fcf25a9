import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashContent, readableFingerprint } from '../../src/core/lead/content-hash.ts';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import {
  type Cell,
  type Cells,
  canonical,
  folded,
  isUnreadable,
  sameButSpelling,
  sameCell,
  showCell,
} from '../../src/core/lead/value.ts';
import { lawRuns } from '../support/law-runs.ts';
import { fields } from './pair-state.ts';

/** Texts that are likely to differ only in form, among any others. */
const anyText = fc.oneof(
  fc
    .array(fc.constantFrom('e', '\u0301', '\u00e9', '\r', '\n', 'a', ' ', '\u{1f600}', '"', ':', ','), {
      maxLength: 5,
    })
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const anyCell: fc.Arbitrary<Cell> = fc.oneof(
  fc.constant(null),
  anyText,
  anyText.map((unreadable) => ({ unreadable })),
);
const anyCells = fc.record(
  { companyName: anyCell, stage: anyCell, nextFollowUpAt: anyCell },
  { requiredKeys: [] },
);

describe('canonical', () => {
  test.each<[string, string | null, string | null]>([
    ['none', null, null],
    ['empty text', '', null],
    ['a decomposed letter', 'e\u0301', '\u00e9'],
    ['a Hangul syllable', '\u1112\u1161\u11ab', '\ud55c'],
    ['Windows line ends', 'a\r\nb', 'a\nb'],
    ['old Mac line ends', 'a\rb', 'a\nb'],
    ['mixed line ends', '\r\r\n\n', '\n\n\n'],
    ['spaces stay', ' a ', ' a '],
    ['case stays', 'A', 'A'],
    ['compatibility forms stay', 'ﬁ', 'ﬁ'],
    ['leading zeros stay', '007', '007'],
    ['emoji stay', '👩‍👩‍👧', '👩‍👩‍👧'],
  ])('%s', (_, value, expected) => {
    expect(canonical(value)).toBe(expected);
  });

  test('is idempotent', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(canonical(canonical(text))).toBe(canonical(text));
      }),
    );
  });
});

describe('sameCell', () => {
  test.each<[Cell, Cell, boolean]>([
    [null, null, true],
    [null, '', true],
    ['a', 'a', true],
    ['a\r\n', 'a\n', true],
    ['a', 'A', false],
    ['a', null, false],
    [' ', null, false],
    [{ unreadable: 'soon' }, { unreadable: 'soon' }, true],
    [{ unreadable: 'soon' }, { unreadable: 'later' }, false],
    [{ unreadable: 'soon' }, 'soon', false],
    [{ unreadable: '' }, null, false],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(sameCell(a, b)).toBe(expected);
    expect(sameCell(b, a)).toBe(expected);
  });

  test('is an equivalence', () => {
    fc.assert(
      fc.property(anyCell, anyCell, anyCell, (a, b, c) => {
        expect(sameCell(a, a)).toBe(true);
        expect(sameCell(a, b)).toBe(sameCell(b, a));
        if (sameCell(a, b) && sameCell(b, c)) expect(sameCell(a, c)).toBe(true);
      }),
    );
  });
});

describe('differences of spelling alone', () => {
  test.each<[Cell, Cell, boolean]>([
    ['Acme', 'ACME', true],
    ['Acme  Handels\nGmbH ', ' acme handels gmbh', true],
    ['\ufb01ne', 'fine', true],
    [' ', null, true],
    ['2026-12-01T08:00:00.123Z', '2026-12-01T08:00:00.000Z', true],
    ['2026-12-01T08:00:00.000Z', '2026-12-01T08:00:01.000Z', false],
    ['a.123z b', 'a b', false],
    ['Acme', 'Acne', false],
    ['AcmeHandels', 'Acme Handels', false],
    ['Acme', null, false],
    [{ unreadable: 'soon' }, { unreadable: 'soon' }, true],
    [{ unreadable: 'soon' }, { unreadable: 'SOON' }, false],
    [{ unreadable: 'soon' }, 'soon', false],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(sameButSpelling(a, b)).toBe(expected);
    expect(sameButSpelling(b, a)).toBe(expected);
  });

  test.each<[string | null, string]>([
    [null, ''],
    [' A \n B ', 'a b'],
    ['2026-12-01T08:00:00.123Z', '2026-12-01t08:00:00'],
    ['1.5z', '1.5z'],
    ['v.abcz', 'v.abcz'],
    ['1.123z, 2', '1.123z, 2'],
  ])('%j without them is %j', (text, expected) => {
    expect(folded(text)).toBe(expected);
  });
});

describe('fingerprint', () => {
  const same = (a: Cells, b: Cells) =>
    fields.every(({ field }) => sameCell(a[field] ?? null, b[field] ?? null));

  test('is equal exactly when all mapped cells are the same', () => {
    fc.assert(
      fc.property(anyCells, anyCells, (a, b) => {
        expect(hashContent(a, fields) === hashContent(b, fields)).toBe(same(a, b));
      }),
      { numRuns: lawRuns(2000) },
    );
  });

  test('is equal for another form of the same', () => {
    fc.assert(
      fc.property(anyCells, (cells) => {
        const rewritten = Object.entries(cells).map(([field, cell]): [string, Cell] => [
          field,
          typeof cell === 'string' ? cell.normalize('NFD').replaceAll(/\r\n|\r|\n/g, '\r\n') : (cell ?? ''),
        ]);
        expect(hashContent(Object.fromEntries(rewritten), fields)).toBe(hashContent(cells, fields));
      }),
    );
  });

  test('does not depend on the order of the mapping', () => {
    fc.assert(
      fc.property(
        anyCells,
        fc.shuffledSubarray([...fields], { minLength: fields.length }),
        (cells, shuffled) => {
          expect(hashContent(cells, shuffled)).toBe(hashContent(cells, fields));
        },
      ),
    );
  });

  test.each<[string, Cells, Cells, boolean]>([
    ['an absent and an empty cell', { stage: null }, {}, true],
    ['what is not mapped', { stage: 'a', other: 'x' }, { stage: 'a', other: 'y' }, true],
    ['the same text in another field', { stage: 'a' }, { companyName: 'a' }, false],
    [
      'text moved between neighbours',
      { companyName: 'ab', stage: 'c' },
      { companyName: 'a', stage: 'bc' },
      false,
    ],
    [
      'text that looks like the inside',
      { companyName: 'a","stage":"b' },
      { companyName: 'a', stage: 'b' },
      false,
    ],
    ['a text and the same text that cannot be read', { stage: 'a' }, { stage: { unreadable: 'a' } }, false],
    ['a text that looks unreadable', { stage: '["a"]' }, { stage: { unreadable: 'a' } }, false],
  ])('%s: equal %s', (_, a, b, expected) => {
    expect(hashContent(a, fields) === hashContent(b, fields)).toBe(expected);
  });

  test('is none for a record with a mapped cell that cannot be read', () => {
    const soon = { unreadable: 'soon' };
    expect(readableFingerprint({ companyName: 'a', nextFollowUpAt: soon }, fields)).toBeNull();
    expect(readableFingerprint({ companyName: 'a', other: soon }, fields)).toBe(
      hashContent({ companyName: 'a' }, fields),
    );
  });

  test('is short and fit for a key', () => {
    expect(hashContent({ companyName: 'a' }, fields)).toMatch(/^[\w-]{27}$/);
  });
});

test.each<[Cell, string]>([
  [null, '(empty)'],
  ['a "b"\n', String.raw`"a \"b\"\n"`],
  [{ unreadable: 'soon' }, '"soon"'],
])('showCell: %j is shown as %s', (cell, expected) => {
  expect(showCell(cell)).toBe(expected);
});

test.each<[Cell | undefined, boolean]>([
  [{ unreadable: '' }, true],
  ['a', false],
  [null, false],
  [undefined, false],
])('isUnreadable: %j: %s', (cell, expected) => {
  expect(isUnreadable(cell)).toBe(expected);
});

test('the default mapping is the fields of the API reference (section 2) less the id, each with its own heading', () => {
  expect(defaultFields.map(({ field, column, type }) => [field, column, type])).toEqual([
    ['companyName', 'Company', 'text'],
    ['segment', 'Segment', 'text'],
    ['city', 'City', 'text'],
    ['region', 'Region', 'text'],
    ['stage', 'Stage', 'text'],
    ['nextFollowUpAt', 'Next follow-up', 'instant'],
  ]);
  expect(new Set(defaultFields.map(({ direction }) => direction))).toEqual(new Set(['two-way']));
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import type { Cell, Cells, Value, Values } from '../../src/core/lead/value.ts';
import { type Shift, ShiftedRows, ShuffledRows } from '../../src/core/merge/shifted-rows.ts';
import { lawRuns } from '../support/law-runs.ts';

const city: FieldMapping = { field: 'city', column: 'City', type: 'text', direction: 'two-way' };

/** Undefined: the baseline lacks the field; the row does not show it. */
interface Line {
  readonly base: Value | undefined;
  readonly now: Cell | undefined;
  readonly place?: number;
  readonly isGone?: boolean;
}

/** A row as it was and is. */
function shown({ base, now }: Line): readonly [Values, Cells] {
  const name = { companyName: 'Acme' };
  return [
    { ...name, ...(base !== undefined && { city: base }) },
    { ...name, ...(now !== undefined && { city: now }) },
  ];
}

function changesIn(lines: readonly Line[], mapping = city): ShuffledRows {
  const changes = new ShuffledRows([mapping]);
  for (const line of lines) if (line.isGone !== true) changes.see(...shown(line));
  return changes;
}

function found(lines: readonly Line[], mapping = city): Shift | null {
  const rows = new ShiftedRows(changesIn(lines, mapping).suspects());
  for (const [at, line] of lines.entries()) {
    const [{ place = at + 2, isGone }, [base, cells]] = [line, shown(line)];
    rows.see({ place, row: place, base, cells: isGone ? null : cells });
  }
  return rows.found()['city'] ?? null;
}

const lines = (before: readonly Value[], after: readonly Cell[]): readonly Line[] =>
  before.map((base, at) => ({ base, now: at < after.length ? (after[at] ?? null) : null }));

/** "Delete cells, shift up" (`by` above 0) or "insert cells, shift down", from one row on, up to the end or to `to`. */
function shift(before: readonly Value[], from: number, by: number, to = before.length): readonly Value[] {
  const part = before.slice(from, to);
  const none = Array.from({ length: Math.abs(by) }, () => null);
  const moved = by > 0 ? [...part.slice(by), ...none] : [...none, ...part.slice(0, by)];
  return [...before.slice(0, from), ...moved, ...before.slice(to)];
}

const changedOf = (before: readonly Value[], after: readonly Cell[]): number =>
  before.filter((base, at) => base !== after[at]).length;

/** Columns with as many different values as `kinds` says, in any order, sorted, or in turns. */
const column = (kinds: fc.Arbitrary<number>, minLength = 20): fc.Arbitrary<readonly Value[]> =>
  fc
    .record({
      kinds,
      picks: fc.array(fc.nat(9_999), { minLength, maxLength: 120, size: 'max' }),
      order: fc.constantFrom('any', 'sorted', 'in turns'),
      empty: fc.boolean(),
    })
    .map(({ kinds: count, picks, order, empty }) => {
      const drawn = picks.map((pick, at) => (order === 'in turns' ? at % count : pick % count));
      const values = order === 'sorted' ? drawn.toSorted((a, b) => a - b) : drawn;
      return values.map((value) => (empty && value === 0 ? null : `City ${value}`));
    });

const anyColumn = column(fc.oneof(fc.integer({ min: 2, max: 8 }), fc.integer({ min: 9, max: 9_999 })));
const by = fc.constantFrom(1, -1, 2, -2, 3, -3);

describe('law: cells that were shifted are found', () => {
  test('by one to three rows, ten or more of which changed, whatever the values', () => {
    let tried = 0;
    fc.assert(
      fc.property(anyColumn, fc.nat(60), fc.nat(60), by, (before, from, length, distance) => {
        const to = Math.min(before.length, from + 10 + length);
        const after = shift(before, from, distance, to);
        // Rows that got their neighbour's value: not those at the end, which got none.
        const rest = distance > 0 ? [from, to - distance] : [from - distance, to];
        const changed = changedOf(before.slice(...rest), after.slice(...rest));
        fc.pre(changed >= 10);
        tried += 1;
        const shifted = found(lines(before, after));
        expect(shifted).not.toBeNull();
        expect(shifted?.changed).toBeGreaterThanOrEqual(10);
      }),
      { numRuns: lawRuns(400) },
    );
    expect(tried).toBeGreaterThan(0);
  });

  test('with rows in between that were edited as well, and rows that are gone', () => {
    const many = column(fc.integer({ min: 30, max: 9_999 }), 80);
    const others = fc.uniqueArray(fc.nat(50), { maxLength: 3 });
    fc.assert(
      fc.property(many, by, others, fc.boolean(), (before, distance, edited, areGone) => {
        const after = shift(before, 3, distance);
        fc.pre(changedOf(before, after) > 50);
        const all = lines(before, after).map((line, at): Line => {
          if (!edited.includes(at)) return line;
          return areGone ? { ...line, isGone: true } : { ...line, now: `typed ${at}` };
        });
        expect(found(all)).not.toBeNull();
      }),
      { numRuns: lawRuns(150) },
    );
  });
});

describe('law: honest edits of many rows are none', () => {
  type Edit = (values: readonly Value[], from: number, length: number) => readonly Value[];
  const within =
    (change: (value: Value, at: number) => Value): Edit =>
    (values, from, length) =>
      values.map((value, at) => (at >= from && at < from + length ? change(value, at - from) : value));
  const edits: Readonly<Record<string, Edit>> = {
    'one value replaced by another': (values, from) =>
      values.map((value) => (value === values[from] ? (values[from + 1] ?? null) : value)),
    'new values': within((_, at) => `New ${at}`),
    'a value copied down': (values, from, length) => within(() => values[from] ?? null)(values, from, length),
    'a value copied up': (values, from, length) =>
      within(() => values[from + length] ?? null)(values, from, length),
    'all set to one value': within(() => 'City 1'),
    'all cleared': within(() => null),
    'a series filled in': within((_, at) => `City ${at}`),
  };

  test.each(Object.entries(edits))('%s', (name, edit) => {
    // A series over values that are one already is the same as a shift.
    const columns = name === 'a series filled in' ? column(fc.integer({ min: 2, max: 5 })) : anyColumn;
    fc.assert(
      fc.property(columns, fc.nat(60), fc.integer({ min: 10, max: 80 }), (before, from, length) => {
        expect(found(lines(before, edit(before, from, length)))).toBeNull();
      }),
      { numRuns: lawRuns(400) },
    );
  });

  test('two of them in one night', () => {
    const two = fc.tuple(fc.constantFrom(...Object.values(edits)), fc.constantFrom(...Object.values(edits)));
    fc.assert(
      fc.property(
        column(fc.integer({ min: 2, max: 5 })),
        two,
        fc.nat(60),
        fc.nat(60),
        (before, [a, b], x, y) => {
          // Two series, one behind the other, over values that are two already are the same as a shift.
          fc.pre(a !== b || a !== edits['a series filled in']);
          expect(found(lines(before, b(a(before, x, 30), y, 30)))).toBeNull();
        },
      ),
      { numRuns: lawRuns(400) },
    );
  });

  test('rows sorted as a whole', () => {
    fc.assert(
      fc.property(anyColumn, (before) => {
        const sorted = before.toSorted((a, b) => String(a).localeCompare(String(b)));
        expect(found(lines(sorted, sorted))).toBeNull();
      }),
      { numRuns: lawRuns(200) },
    );
  });
});

const towns = ['Berlin', 'Berlin', 'Köln', 'Berlin', 'Ulm', 'Köln', 'Köln', 'Bonn', 'Berlin', 'Ulm', 'Bonn'];
const repeated = [...towns, ...towns, ...towns];

test.each<[string, readonly Line[], Shift | null]>([
  [
    'up by one, with values that repeat',
    lines(repeated, shift(repeated, 2, 1)),
    { first: 4, last: 33, by: 1, changed: 25 },
  ],
  [
    'down by one, to the end',
    lines(repeated, shift(repeated, 10, -1)),
    { first: 13, last: 34, by: -1, changed: 18 },
  ],
  ['nine rows', lines(letters(20), shift(letters(20), 5, 1, 15)), null],
  ['ten rows', lines(letters(20), shift(letters(20), 5, 1, 16)), { first: 7, last: 16, by: 1, changed: 10 }],
  ['by four rows', lines(letters(40), shift(letters(40), 5, 4)), null],
  [
    'a blank row between, which has no baseline',
    lines(letters(40), shift(letters(40), 5, 1)).map((line, at) => ({
      ...line,
      place: at < 20 ? at : at + 1,
    })),
    { first: 5, last: 39, by: 1, changed: 33 },
  ],
  [
    'cells that cannot be read',
    lines(letters(40), shift(letters(40), 5, 1)).map((line, at) =>
      at % 4 === 0 ? { ...line, now: { unreadable: '#REF!' } } : line,
    ),
    { first: 7, last: 40, by: 1, changed: 26 },
  ],
  [
    'cells that are not shown',
    lines(letters(40), shift(letters(40), 5, 1)).map((line, at) =>
      at % 4 === 0 ? { ...line, now: undefined } : line,
    ),
    { first: 7, last: 40, by: 1, changed: 26 },
  ],
  [
    'rows to which the field is new',
    lines(letters(40), shift(letters(40), 5, 1)).map((line, at) =>
      at % 4 === 0 ? { ...line, base: undefined } : line,
    ),
    { first: 7, last: 40, by: 1, changed: 18 },
  ],
  [
    'two that are noted at one place',
    letters(40).map((base, at) => ({
      base,
      now: `City ${at % 2 === 0 ? at + 1 : at - 1}`,
      place: Math.floor(at / 2),
    })),
    null,
  ],
  [
    'a block that was copied over the one three rows above it',
    lines(letters(40), [...letters(40).slice(0, 5), ...letters(18).slice(8), ...letters(40).slice(15)]),
    { first: 7, last: 16, by: 3, changed: 10 },
  ],
  [
    'a longer and a shorter one',
    lines(letters(60), shift(shift(letters(60), 3, 1, 30), 40, -1, 53)),
    { first: 5, last: 30, by: 1, changed: 26 },
  ],
  [
    'two values that alternate, with an edit between, which may be chance',
    lines(turns(30), typed(shift(turns(30), 3, 1, 16), 9)),
    null,
  ],
])('%s', (_, rows, expected) => expect(found(rows)).toEqual(expected));

test('edits alone are no reason to look through all rows', () => {
  const changes = changesIn(lines(letters(40), typed(letters(40), ...letters(40).keys())));
  expect(changes.suspects()).toEqual([]);
});

test('a field that only travels to the rows is put back anyway', () => {
  const shifted = lines(letters(40), shift(letters(40), 5, 1));
  expect(found(shifted, { ...city, direction: 'to-target' })).toBeNull();
});

function letters(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `City ${at}`);
}

/** Two values in turns. */
function turns(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => (at % 2 === 0 ? 'yes' : 'no'));
}

/** Values some of which a person typed over. */
function typed(values: readonly Value[], ...edited: readonly number[]): readonly Value[] {
  return values.map((value, at) => (edited.includes(at) ? `typed ${at}` : value));
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import type { Cells, Value } from '../../src/core/lead/value.ts';
import { ShuffledRows } from '../../src/core/merge/shifted-rows.ts';

describe('rows in which nothing is as it was', () => {
  const base = { companyName: 'Acme', city: 'Bonn', stage: null };
  test.each<[string, Cells, number]>([
    ['as it was', base, 0],
    ['one value is still there', { companyName: 'Acme', city: 'Wien', stage: 'new' }, 0],
    ['a column is not shown, and the other one changed', { city: 'Wien' }, 0],
    ['one value was emptied', { companyName: 'Bolt', city: null, stage: null }, 1],
    ['nothing is as it was', { companyName: 'Bolt', city: 'Wien', stage: 'new' }, 1],
    ['nothing can be read', { companyName: { unreadable: '#REF!' }, city: 'Wien', stage: null }, 1],
  ])('%s', (_, row, strangers) => {
    const rows = new ShuffledRows(defaultFields);
    rows.see(base, row);
    expect(rows.strangers).toBe(strangers);
  });

  test('one column alone tells nothing', () => {
    const rows = new ShuffledRows(defaultFields);
    rows.see({ city: 'Bonn' }, { city: 'Wien' });
    expect(rows.strangers).toBe(0);
  });
});

describe('a column that was sorted by itself', () => {
  const seen = (before: readonly Value[], after: readonly Value[]): Readonly<Record<string, number>> => {
    const rows = new ShuffledRows(defaultFields);
    before.forEach((was, at) =>
      rows.see({ companyName: 'Acme', city: was }, { companyName: 'Acme', city: after[at] ?? null }),
    );
    return rows.permuted();
  };

  test('law: values that only changed places are told, with the number of rows that changed', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 5, maxLength: 30 }), (values) => {
        const turned = [...values.slice(1), values[0] ?? null];
        expect(seen(values, turned)).toEqual({ city: values.length });
      }),
    );
  });

  test('law: with one value that was not there before it is no sort', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 7, maxLength: 30 }),
        ([typed = '', ...values]) => {
          const turned = [...values.slice(1), typed];
          expect(seen(values, turned)).toEqual({});
        },
      ),
    );
  });

  test('as many follow-ups a day later as a day earlier are edits', () => {
    const months = ['01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12'];
    const moved = months.map((month, at) => `2026-${month}-1${at % 2 === 0 ? 6 : 4}`);
    expect(
      seen(
        months.map((month) => `2026-${month}-15`),
        moved,
      ),
    ).toEqual({});
  });

  test('a few kinds of values may balance by themselves', () => {
    expect(seen(['yes', 'no', 'yes', 'no'], ['no', 'yes', 'no', 'yes'])).toEqual({});
  });
});

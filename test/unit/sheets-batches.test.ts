import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LeadsyncError } from '../../src/lib/errors.ts';
import { bisect } from '../../src/targets/google-sheets/write-outcomes.ts';
import {
  inBatches,
  insertedRows,
  valueRanges,
  writtenCells,
} from '../../src/targets/google-sheets/write-plan.ts';
import type { GridCell } from '../../src/targets/google-sheets/grid.ts';
import type { SentRow } from '../../src/targets/google-sheets/repair.ts';

const sent = (row: number, cells: readonly (readonly [number, GridCell])[]): SentRow => ({
  row,
  isNew: false,
  cells: new Map(cells),
});

test('adjacent cells of a row are one range, in any order; an empty text empties', () => {
  const rows = [
    sent(4, [
      [3, null],
      [1, 'b'],
      [2, '=c'],
      [6, 7],
    ]),
  ];
  expect(valueRanges('Leads', rows)).toEqual([
    { range: "'Leads'!B5:D5", values: [['b', '=c', '']] },
    { range: "'Leads'!G5", values: [[7]] },
  ]);
});

test('new rows are inserted and filled in one go, ours alone, texts as texts', () => {
  const rows = [
    new Map<number, GridCell>([
      [0, 'id'],
      [1, '=1'],
    ]),
    new Map<number, GridCell>([
      [0, 'other'],
      [4, 5],
    ]),
  ];
  const text = (stringValue: string) => ({ userEnteredValue: { stringValue } });
  expect(insertedRows(9, 3, rows, false)).toEqual([
    {
      insertDimension: {
        range: { sheetId: 9, dimension: 'ROWS', startIndex: 3, endIndex: 5 },
        inheritFromBefore: true,
      },
    },
    {
      updateCells: {
        start: { sheetId: 9, rowIndex: 3, columnIndex: 0 },
        rows: [{ values: [text('id'), text('=1')] }, { values: [text('other'), {}] }],
        fields: 'userEnteredValue',
      },
    },
    {
      updateCells: {
        start: { sheetId: 9, rowIndex: 3, columnIndex: 4 },
        rows: [{ values: [{}] }, { values: [{ userEnteredValue: { numberValue: 5 } }] }],
        fields: 'userEnteredValue',
      },
    },
  ]);
  expect(insertedRows(9, 1, rows, true)[0]).toMatchObject({ insertDimension: { inheritFromBefore: false } });
});

test('cells are put back as what they were', () => {
  const rows = [
    sent(2, [
      [0, { formula: '=A1', shows: 3 }],
      [1, '=text'],
      [2, 0],
      [3, false],
      [4, null],
    ]),
  ];
  expect(writtenCells(9, rows)).toEqual([
    {
      updateCells: {
        start: { sheetId: 9, rowIndex: 2, columnIndex: 0 },
        rows: [
          {
            values: [
              { userEnteredValue: { formulaValue: '=A1' } },
              { userEnteredValue: { stringValue: '=text' } },
              { userEnteredValue: { numberValue: 0 } },
              { userEnteredValue: { boolValue: false } },
              {},
            ],
          },
        ],
        fields: 'userEnteredValue',
      },
    },
  ]);
});

test('batches keep all rows in order, each under 2 MB as JSON and not over the number that is allowed', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('ü'.repeat(50_000), '"'.repeat(50_000), '\u0001'.repeat(50_000), 'x'.repeat(30_000)),
  );
  const rows = fc.array(fc.array(text, { minLength: 1, maxLength: 5 }), { maxLength: 30 });
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 40 }), (texts, most) => {
      const all = texts.map((row, at) =>
        sent(
          at,
          row.map((cell, column) => [column, cell] as const),
        ),
      );
      const batches = [...inBatches(all, most)];
      expect(batches.flat()).toEqual(all);
      for (const batch of batches) {
        expect(batch.length).toBeLessThanOrEqual(most);
        if (batch.length === 1) continue;
        const bodies = [
          { data: valueRanges('Leads', batch) },
          insertedRows(
            1,
            1,
            batch.map((row) => row.cells),
            false,
          ),
        ];
        for (const body of bodies) expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(2_000_000);
      }
    }),
    { numRuns: 10 },
  );
});

describe('bisect', () => {
  const refused = new LeadsyncError('target.refused', 'no');

  test('finds exactly what is refused, and sends the rest once, in order', async () => {
    const items = fc.uniqueArray(fc.nat({ max: 200 }), { maxLength: 60 });
    const bad = fc.array(fc.nat({ max: 200 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(items, bad, async (all, wrong) => {
        const done: number[] = [];
        let requests = 0;
        const found: { item: number }[] = [];
        const rest = await bisect(
          all,
          (item) => [item],
          async (some) => {
            requests++;
            if (some.some((item) => wrong.includes(item))) throw refused;
            done.push(...some);
            return Promise.resolve();
          },
          { alone: (each) => found.push(each), isEnough: () => false },
        );
        expect(rest).toEqual([]);
        const isBad = (item: number) => wrong.includes(item);
        expect(found.map(({ item }) => item)).toEqual(all.filter(isBad));
        expect(done).toEqual(all.filter((item) => !isBad(item)));
        expect(requests).toBeLessThanOrEqual(1 + 2 * found.length * Math.ceil(Math.log2(all.length + 1)));
      }),
    );
  });

  test('when enough was found, refused groups are given back whole; what is not refused is sent all the same', async () => {
    const items = Array.from({ length: 16 }, (_, n) => n);
    const found: number[] = [];
    const done: number[] = [];
    const rest = await bisect(
      items,
      (item) => [item],
      (some) => {
        if (some.some((item) => item < 3 || item === 9)) return Promise.reject(refused);
        done.push(...some);
        return Promise.resolve();
      },
      { alone: ({ item }) => found.push(item), isEnough: () => found.length >= 2 },
    );
    expect(found).toEqual([0, 1]);
    expect(rest).toEqual([2, 3, 8, 9, 10, 11, 12, 13, 14, 15].map((item) => ({ item, error: refused })));
    expect(done).toEqual([4, 5, 6, 7]);
  });

  test('another fault ends it', async () => {
    const fault = new LeadsyncError('target.unavailable', 'gone', { retry: 'now' });
    const sending = bisect(
      [1, 2],
      (item) => [item],
      () => Promise.reject(fault),
      { alone: () => expect.unreachable(), isEnough: () => false },
    );
    await expect(sending).rejects.toBe(fault);
  });
});

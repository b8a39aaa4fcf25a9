import { describe, expect, test } from 'vitest';
import type { Values } from '../../src/core/lead/value.ts';
import type { RowChange } from '../../src/ports/target.ts';
import {
  anna,
  annaCells,
  append,
  headings,
  link,
  loose,
  looseCells,
  type MakeHarness,
  withRows,
  written,
} from './target-harness.ts';

/** Which rows new leads get: their own, or one that shows them without an id. */
export function describeNewRows(name: string, makeHarness: MakeHarness): void {
  describe(`${name}: new rows`, () => {
    test('appends behind the last row, in the order given, each id once', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        const changes = [
          append('id-2', { name: 'Two' }),
          append('id-1', { name: 'One', due: annaCells['due'] ?? null }),
        ];
        expect(await written(harness, [...changes, append('id-2', { name: 'Second two' })])).toEqual([
          'done',
          'done',
          'row.exists',
        ]);
        expect((await harness.show())?.slice(1)).toEqual([
          anna,
          ['id-2', 'Two', '', '', '', ''],
          ['id-1', 'One', '', '', '2026-11-21T08:30:00.000Z', ''],
        ]);
      }));

    test('a new row that is written again is the row without id that shows exactly it, and nothing but it', () =>
      withRows(makeHarness, [headings, loose, anna], async (harness) => {
        const again = (leadId: string, values: Values): RowChange => {
          const isRepeated = true;
          return { kind: 'append', key: leadId, leadId, values, isRepeated };
        };
        const values = { name: null, city: null, due: null, ...looseCells };
        expect(await written(harness, [again('id-1', values), again('id-2', values)])).toEqual([
          'done',
          'done',
        ]);
        const rows = (await harness.show())?.slice(1) ?? [];
        expect(rows.slice(0, 2)).toEqual([loose.with(0, 'id-1'), anna]);
        expect(rows[2]?.[0]).toBe('id-2');
        expect(rows).toHaveLength(3);
      }));

    test('links rows without id by their content, equal ones one after the other', () =>
      withRows(
        makeHarness,
        [headings, loose, anna, loose.with(2, 'other note'), loose.with(3, 'Lyon')],
        async (harness) => {
          expect(
            await written(harness, [
              link('id-1', looseCells),
              link('id-2', looseCells, { due: '2026-12-01T00:00:00.000Z' }),
              link('id-3', { ...looseCells, name: null }),
            ]),
          ).toEqual(['done', 'done', 'row.changed']);
          expect((await harness.show())?.slice(1)).toEqual([
            loose.with(0, 'id-1'),
            anna,
            loose.with(2, 'other note').with(0, 'id-2').with(4, '2026-12-01T00:00:00.000Z'),
            loose.with(3, 'Lyon'),
          ]);
        },
      ));

    test('gives an id to one row only, though the same link comes twice', () =>
      withRows(makeHarness, [headings, loose, loose], async (harness) => {
        expect(await written(harness, [link('id-1', looseCells), link('id-1', looseCells)])).toEqual([
          'done',
          'done',
        ]);
        expect((await harness.show())?.slice(1)).toEqual([loose.with(0, 'id-1'), loose]);
      }));

    test('links nothing when a row further down has the id already', () =>
      withRows(makeHarness, [headings, loose, loose.with(0, 'id-1')], async (harness) => {
        expect(await written(harness, [link('id-1', looseCells)])).toEqual(['done']);
        expect((await harness.show())?.slice(1)).toEqual([loose, loose.with(0, 'id-1')]);
      }));

    test('a row into which a person put the id back gets the values while it shows what was expected', () =>
      withRows(makeHarness, [headings, loose.with(0, 'id-1'), anna.with(0, 'id-2')], async (harness) => {
        const values = { due: '2026-12-01T00:00:00.000Z' };
        expect(
          await written(harness, [
            link('id-1', looseCells, values),
            link('id-2', { ...annaCells, city: 'Elsewhere' }, values),
          ]),
        ).toEqual(['done', 'row.changed']);
        expect((await harness.show())?.slice(1)).toEqual([
          loose.with(0, 'id-1').with(4, '2026-12-01T00:00:00.000Z'),
          anna.with(0, 'id-2'),
        ]);
      }));
  });
}

import { describe, expect, test } from 'vitest';
import type { Aside } from '../../src/core/lead/aside.ts';
import {
  anna,
  annaCells,
  append,
  bert,
  bertCells,
  headings,
  type Inabilities,
  loose,
  looseCells,
  type MakeHarness,
  never,
  readAll,
  testsFor,
  update,
  withRows,
  written,
} from './target-harness.ts';

/** What rows a target shows, and when it refuses to. */
export function describeReading(name: string, makeHarness: MakeHarness, cannot: Inabilities): void {
  const testUnless = testsFor(cannot);
  const numbered = (row: number): unknown => (cannot.has('row-numbers') ? expect.any(Number) : row);
  const morning = cannot.has('free-text-dates') ? annaCells['due'] : '21.11.2026 09:30';

  describe(`${name}: reading`, () => {
    test('is created with its headings once, and not at all when that is not wanted', async () => {
      await using harness = await makeHarness();
      const without = await harness.target().open({ create: false }, never());
      expect(without).toMatchObject({ created: false, missing: [] });
      expect(await readAll(harness.target())).toEqual([]);
      expect(await harness.show()).toBeNull();

      expect(await harness.target({ statusColumn: 'Sync' }).open({ create: true }, never())).toMatchObject({
        created: true,
        missing: [],
      });
      expect(await harness.show()).toEqual([['Lead ID', 'Company', 'City', 'Next follow-up', 'Sync']]);
      expect(await harness.target({ statusColumn: 'Sync' }).open({ create: true }, never())).toMatchObject({
        created: false,
      });
    });

    test('reads rows with the numbers a person sees, and passes over those without anything of ours', () =>
      withRows(
        makeHarness,
        [headings, anna, ['', '', 'only mine', '', '', 'x'], loose, bert],
        async (harness) => {
          expect(await readAll(harness.target())).toEqual([
            { row: numbered(2), leadId: 'id-a', cells: annaCells, status: null },
            { row: numbered(4), leadId: null, cells: looseCells, status: null },
            { row: numbered(5), leadId: 'id-b', cells: bertCells, status: null },
          ]);
        },
      ));

    testUnless('asides')('tells of ids and rows in other cells, mapped or not, and where they stand', () => {
      const [one, two] = ['018cd95e-0000-7000-8000-00000000000a', '018cd95e-0000-7000-8000-00000000000b'];
      const table = [
        headings,
        anna.with(0, one).with(2, `duplicate of ${two.toUpperCase()}, not of ${one}`),
        ['', '', `${two}\tBert BV\t\tBonn\t\t\n\tNew AG\t\tUlm\t\t`, '', '', ''],
        bert.with(3, two),
      ];
      return withRows(makeHarness, table, async (harness) => {
        const seen: Aside[] = [];
        const onAsides = (asides: readonly Aside[]): void => void seen.push(...asides);
        const { rows } = await harness.target().open({ create: false, onAsides }, never());
        for await (const _ of rows);
        expect(seen.map(({ leadId, kind }) => [leadId, kind])).toEqual([
          [two, 'note'],
          [two, 'note'],
          [two, 'table'],
          ['', 'table'],
          [two, 'note'],
        ]);
        expect(new Set(seen.map(({ place }) => place)).size).toBe(3);
      });
    });

    test('shows what the status column says, apart from the data; null where there is none', () =>
      withRows(makeHarness, [headings, anna.with(5, 'in step'), loose], async (harness) => {
        const statuses = async (statusColumn?: string) =>
          (await readAll(harness.target(statusColumn === undefined ? {} : { statusColumn }))).map(
            (row) => row.status,
          );
        expect(await statuses('Sync')).toEqual(['in step', '']);
        expect(await statuses()).toEqual([null, null]);
        expect(await statuses('Nowhere')).toEqual([null, null]);
      }));

    testUnless('loose-headings')(
      'shows the status column that fits exactly, and none where two fit but for case',
      () =>
        withRows(
          makeHarness,
          [
            [...headings, 'SYNC'],
            [...anna.with(5, 'in step'), 'x'],
          ],
          async (harness) => {
            const statusOf = async (statusColumn: string) =>
              (await readAll(harness.target({ statusColumn })))[0]?.status;
            expect(await statusOf('Sync')).toBe('in step');
            expect(await statusOf('sync')).toBeNull();
          },
        ),
    );

    testUnless('loose-headings')('finds columns by heading, in any order, with other case and blanks', () =>
      withRows(
        makeHarness,
        [
          ['next FOLLOW-UP', ' city ', 'LEAD id', 'Company'],
          [morning ?? '', 'Aachen', ' id-a ', 'Anna AG'],
        ],
        async (harness) => {
          expect(await readAll(harness.target())).toEqual([
            { row: numbered(2), leadId: 'id-a', cells: annaCells, status: null },
          ]);
        },
      ),
    );

    const withoutCity = [
      ['a missing column', ['Lead ID', 'Company'], ['id-a', 'Anna AG'], ['id-m', 'More']],
      [
        'a doubled column',
        ['Lead ID', 'Company', 'City', 'City'],
        ['id-a', 'Anna AG', 'x', 'y'],
        ['id-m', 'More', '', ''],
      ],
    ] as const;
    test.each(withoutCity.filter(([what]) => what !== 'a doubled column' || !cannot.has('double-headings')))(
      'leaves out %s and touches nothing there',
      (_, head, row, added) =>
        withRows(makeHarness, [head, row], async (harness) => {
          const { missing } = await harness.target().open({ create: true }, never());
          expect(missing.map((entry) => entry.field)).toEqual(['city', 'due']);
          expect(await readAll(harness.target())).toEqual([
            { row: numbered(2), leadId: 'id-a', cells: { name: 'Anna AG' }, status: null },
          ]);
          const outcomes = await written(harness, [
            update('id-a', { name: 'Anna AG' }, { name: 'Anna SE', city: 'z' }),
            append('id-n', { name: 'New', city: 'z' }),
            append('id-m', { name: 'More', city: null }),
          ]);
          expect(outcomes).toEqual(['target.column-missing', 'target.column-missing', 'done']);
          expect(await harness.show()).toEqual([head, row, added]);
        }),
    );

    testUnless('new-columns')('makes the column of a new field at the end, once, and fills nothing', () =>
      withRows(
        makeHarness,
        [
          ['Lead ID', 'Company', 'Own'],
          ['id-a', 'Anna AG', 'mine'],
          ['id-b', 'Bert BV', ''],
        ],
        async (harness) => {
          const open = async (create: boolean) =>
            (await harness.target().open({ create, newFields: ['city'] }, never())).missing.map(
              ({ field }) => field,
            );
          expect(await open(false)).toEqual(['city', 'due']);
          for (const _ of [1, 2]) {
            expect(await open(true)).toEqual(['due']);
            expect(await harness.show()).toEqual([
              ['Lead ID', 'Company', 'Own', 'City'],
              ['id-a', 'Anna AG', 'mine', ''],
              ['id-b', 'Bert BV', '', ''],
            ]);
          }
          expect((await readAll(harness.target())).map(({ cells }) => cells)).toEqual([
            { name: 'Anna AG', city: null },
            { name: 'Bert BV', city: null },
          ]);
          const changes = [update('id-b', { city: null }, { city: 'Bonn' })];
          expect(await written(harness, changes)).toEqual(['done']);
          expect((await harness.show())?.at(-1)).toEqual(['id-b', 'Bert BV', '', 'Bonn']);
        },
      ),
    );

    const foreign = [
      ['no known heading', [['1', '2']], 'target.header-missing', 'headings-without-id'],
      ['no id column', [['Company', 'City']], 'target.id-column-missing', 'headings-without-id'],
      ['two id columns', [['Lead ID', 'Company', 'Lead ID']], 'target.id-column-missing', 'double-headings'],
    ] as const;
    const place = cannot.has('row-numbers') ? 'Add the column "Lead ID";' : 'write "Lead ID" into C1,';
    test.each(foreign.filter(([, , , inability]) => !cannot.has(inability)))(
      'refuses %s',
      (what, rows, code) =>
        withRows(makeHarness, rows, async (harness) => {
          await expect(harness.target().open({ create: true }, never())).rejects.toMatchObject({
            code,
            retry: 'never',
            ...(what === 'no id column' && { help: expect.stringContaining(place) }),
          });
          await expect(harness.target().write([append('id-x', {})], never())).rejects.toMatchObject({ code });
          expect(await harness.show()).toEqual(rows);
        }),
    );

    testUnless('free-text-dates')(
      'shows a date that nobody can understand as it is, and compares it by its text',
      () =>
        withRows(
          makeHarness,
          [headings, ['id-a', 'Anna AG', '', '', 'next Tuesday', '']],
          async (harness) => {
            const [row] = await readAll(harness.target());
            expect(row?.cells['due']).toEqual({ unreadable: 'next Tuesday' });
            expect(
              await written(harness, [
                update('id-a', { due: { unreadable: 'next Monday' } }, { city: 'Rome' }),
                update('id-a', { due: { unreadable: 'next Tuesday' } }, { city: 'Aachen' }),
              ]),
            ).toEqual(['row.changed', 'done']);
            expect((await harness.show())?.[1]).toEqual([
              'id-a',
              'Anna AG',
              '',
              'Aachen',
              'next Tuesday',
              '',
            ]);
          },
        ),
    );
  });
}

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sameCell, type Cells, type Values } from '../../src/core/lead/value.ts';
import {
  anna,
  annaCells,
  append,
  bert,
  bertCells,
  headings,
  type Inabilities,
  link,
  loose,
  looseCells,
  type MakeHarness,
  mark,
  never,
  readAll,
  remove,
  testsFor,
  unlink,
  update,
  withRows,
  written,
} from './target-harness.ts';

/** What each change does to the rows, and that it can be repeated. */
export function describeWriting(name: string, makeHarness: MakeHarness, cannot: Inabilities): void {
  const testUnless = testsFor(cannot);

  describe(`${name}: writing`, () => {
    test('updates only the changed cells of the row with the id, wherever it is now', () =>
      withRows(makeHarness, [headings, anna, bert], async (harness) => {
        const target = harness.target();
        await readAll(target);
        await harness.edit(([head = [], ...rows]) => [head, ...rows.toReversed()]);
        const [outcome] = await target.write(
          [update('id-a', annaCells, { ...annaCells, city: 'Rome' })],
          never(),
        );
        expect(outcome).toEqual({ key: 'id-a', status: 'done' });
        expect(await harness.show()).toEqual([headings, bert, anna.with(3, 'Rome')]);
      }));

    testUnless('free-text-dates')('does not write an instant again that the cell already means', () =>
      withRows(makeHarness, [headings, anna.with(4, '21.11.2026 09:30')], async (harness) => {
        expect(await written(harness, [update('id-a', annaCells, { ...annaCells, city: 'Rome' })])).toEqual([
          'done',
        ]);
        expect((await harness.show())?.[1]).toEqual(anna.with(3, 'Rome').with(4, '21.11.2026 09:30'));
      }),
    );

    test('empties a cell', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        expect(await written(harness, [update('id-a', annaCells, { city: null, due: null })])).toEqual([
          'done',
        ]);
        expect((await harness.show())?.[1]).toEqual(['id-a', 'Anna AG', 'mine', '', '', '']);
      }));

    test('puts off what the plan no longer sees', () =>
      withRows(makeHarness, [headings, anna, bert], async (harness) => {
        const other = { ...annaCells, city: 'Elsewhere' };
        expect(
          await written(harness, [
            update('id-a', other, { name: 'X' }),
            update('id-z', annaCells, { name: 'X' }),
            append('id-b', { name: 'Not Bert' }),
            link('id-l', looseCells),
            mark('id-a', other, 'deleted'),
            mark('id-z', other, 'deleted'),
            remove('id-a', other),
          ]),
        ).toEqual([
          'row.changed',
          'row.gone',
          'row.exists',
          'row.changed',
          'row.changed',
          'row.gone',
          'row.changed',
        ]);
        expect(await harness.show()).toEqual([headings, anna, bert]);
      }));

    test('reports as done what is already so', () =>
      withRows(makeHarness, [headings, anna.with(5, 'deleted'), bert], async (harness) => {
        expect(
          await written(harness, [
            update('id-a', bertCells, annaCells),
            append('id-b', bertCells),
            link('id-b', looseCells, { city: 'Leeds' }, undefined, true),
            mark('id-a', annaCells, 'deleted'),
            remove('id-z', annaCells),
          ]),
        ).toEqual(['done', 'done', 'done', 'done', 'done']);
        expect(await harness.show()).toEqual([headings, anna.with(5, 'deleted'), bert]);
      }));

    test('marks in the status column, and holds a mark when there is none', () =>
      withRows(makeHarness, [headings, anna, bert], async (harness) => {
        expect(await written(harness, [mark('id-b', bertCells, 'deleted 2026-11-21')])).toEqual(['done']);
        expect(await harness.show()).toEqual([headings, anna, bert.with(5, 'deleted 2026-11-21')]);
        const [outcome] = await harness.target().write([mark('id-a', annaCells, 'deleted')], never());
        expect(outcome).toMatchObject({ status: 'held', code: 'target.no-status-column' });
      }));

    test('removes a row and nothing else', () =>
      withRows(makeHarness, [headings, loose, bert, anna.with(2, '')], async (harness) => {
        expect(await written(harness, [remove('id-a', annaCells)])).toEqual(['done']);
        expect(await harness.show()).toEqual([headings, loose, bert]);
      }));

    test('leaves or empties a row that has cells of its own, and removes the others', () =>
      withRows(makeHarness, [headings, anna, loose, bert], async (harness) => {
        const isLeft = cannot.has('own-cells-emptied');
        expect(await written(harness, [remove('id-a', annaCells), remove('id-b', bertCells)])).toEqual([
          isLeft ? 'row.has-own-cells' : 'done',
          'done',
        ]);
        const first = isLeft ? anna : ['', '', 'mine', '', '', ''];
        expect(await harness.show()).toEqual([headings, first, loose]);
      }));

    testUnless('own-cells-emptied')('empties all of our cells of a row that keeps cells of its own', () =>
      withRows(makeHarness, [headings, bert, anna.with(5, 'deleted')], async (harness) => {
        expect(await written(harness, [remove('id-a', annaCells), append('id-2', { name: 'Two' })])).toEqual([
          'done',
          'done',
        ]);
        expect((await harness.show())?.slice(0, 3)).toEqual([headings, bert, ['', '', 'mine', '', '', '']]);
        expect((await readAll(harness.target())).map(({ leadId }) => leadId)).toEqual(['id-b', 'id-2']);
      }),
    );

    test('removes a bare row only while it has no cells of its own', () =>
      withRows(makeHarness, [headings, anna, bert.with(5, 'a mark')], async (harness) => {
        expect(
          await written(harness, [remove('id-a', annaCells, true), remove('id-b', bertCells, true)]),
        ).toEqual(['row.has-own-cells', 'done']);
        expect(await harness.show()).toEqual([headings, anna]);
        const [outcome] = await harness.target().write([remove('id-a', annaCells, true)], never());
        expect(outcome).toMatchObject({ status: 'held' });
      }));

    test('takes the id out of a row, and what was filled in with it', () =>
      withRows(makeHarness, [headings, anna, bert], async (harness) => {
        expect(
          await written(harness, [
            unlink('id-a', annaCells, { city: null, due: null }),
            unlink('id-b', bertCells),
            unlink('id-z', bertCells),
          ]),
        ).toEqual(['done', 'done', 'done']);
        expect(await harness.show()).toEqual([
          headings,
          ['', 'Anna AG', 'mine', '', '', ''],
          bert.with(0, ''),
        ]);
      }));

    test('a row that gives up its id for a new lead stays a row', () =>
      withRows(makeHarness, [headings, anna, bert], async (harness) => {
        expect(await written(harness, [unlink('id-b', bertCells, {}, true)])).toEqual(['done']);
        expect((await readAll(harness.target())).map(({ leadId }) => leadId)).toEqual(['id-a', null]);
      }));

    test('leaves the id in a row that shows something else', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        expect(await written(harness, [unlink('id-a', { ...annaCells, city: 'Rome' })])).toEqual([
          'row.changed',
        ]);
        expect(await harness.show()).toEqual([headings, anna]);
      }));

    testUnless('copies')('leaves the id in rows that have it twice', () =>
      withRows(makeHarness, [headings, bert, bert], async (harness) => {
        expect(await written(harness, [unlink('id-b', bertCells)])).toEqual(['row.duplicated']);
        expect(await harness.show()).toEqual([headings, bert, bert]);
      }),
    );

    testUnless('copies')('writes only the first of two rows with one id, and removes neither', () =>
      withRows(makeHarness, [headings, anna, bert, anna], async (harness) => {
        expect((await readAll(harness.target())).map((row) => row.leadId)).toEqual(['id-a', 'id-b', 'id-a']);
        expect(await written(harness, [remove('id-a', annaCells)])).toEqual(['row.duplicated']);
        expect(await written(harness, [update('id-a', annaCells, { city: 'Rome' })])).toEqual(['done']);
        expect(await harness.show()).toEqual([headings, anna.with(3, 'Rome'), bert, anna]);
      }),
    );

    test('reads back the same instant around a change of the clock', () =>
      withRows(makeHarness, [headings], async (harness) => {
        const moments = ['2026-03-29T01:00:00.000Z', '2026-10-25T01:00:00.000Z'].flatMap((change) =>
          [-90, -30, -1, 0, 30, 90, 259_200].map((minutes) =>
            new Date(Date.parse(change) + minutes * 60_000).toISOString(),
          ),
        );
        const changes = moments.map((due) => append(due, { name: due, due }));
        expect(await written(harness, changes)).toEqual(moments.map(() => 'done'));
        expect((await readAll(harness.target())).map(({ cells }) => cells['due'])).toEqual(moments);
      }));

    test('reads back the same text and the same instant that was written', () =>
      withRows(makeHarness, [headings], async (harness) => {
        const target = harness.target();
        let next = 0;
        const text = fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string({
            unit: fc.constantFrom(
              '=',
              '+',
              '-',
              '@',
              "'",
              '"',
              ',',
              ';',
              '\t',
              '\r',
              '\n',
              ' ',
              '0',
              'ü',
              '😀',
            ),
          }),
          fc.constantFrom(
            '0042',
            '12345678901234567890',
            '=1+1',
            "'=1",
            '2026-11-21',
            'x'.repeat(10_000),
            'TRUE',
            '1e5',
          ),
        );
        const instant = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
        const values = fc.record({ name: text, city: text, due: instant });
        await fc.assert(
          fc.asyncProperty(fc.array(values, { minLength: 1, maxLength: 20 }), async (batch) => {
            const first = next;
            next += batch.length;
            const outcomes = await target.write(
              batch.map((row, index) => append(`id-${first + index}`, row)),
              never(),
            );
            const rows = new Map((await readAll(target)).map((row) => [row.leadId, row.cells]));
            outcomes.forEach((outcome, index) => {
              const cells = rows.get(`id-${first + index}`);
              const wanted: Values = batch[index] ?? {};
              if (outcome.status === 'done') expectShown(cells, wanted);
              else
                expect([outcome, cells]).toMatchObject([
                  { status: 'held', code: 'target.value-not-storable' },
                  undefined,
                ]);
            });
          }),
          { numRuns: 30 },
        );
        const ids = (await readAll(target)).map((row) => row.leadId);
        expect(new Set(ids).size).toBe(ids.length);
        expect(await harness.show()).toHaveLength(ids.length + 1);
      }));
  });
}

function expectShown(cells: Cells | undefined, wanted: Values): void {
  for (const [field_, value] of Object.entries(wanted)) {
    const cell = cells?.[field_] ?? null;
    expect(sameCell(cell, value), `${JSON.stringify(value)} came back as ${JSON.stringify(cell)}`).toBe(true);
  }
}

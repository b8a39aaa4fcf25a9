import { describe, expect, test } from 'vitest';
import type { RowChange } from '../../src/ports/target.ts';
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
  looseStatus,
  type MakeHarness,
  mark,
  never,
  readAll,
  remove,
  status,
  type Table,
  type TargetHarness,
  testsFor,
  unlink,
  update,
  verdict,
  withRows,
} from './target-harness.ts';

const [on, off] = ['TRUE', 'FALSE'];
const options = { statusColumn: 'Sync', pauseColumn: 'Paused' };

/** The rows of the suite with a further column. */
const withPauses = (...pauses: readonly (readonly [row: readonly string[], pause: string])[]): Table => [
  [...headings, 'Paused'],
  ...pauses.map(([row, pause]) => [...row, pause]),
];

const said = async (harness: TargetHarness, changes: readonly RowChange[]): Promise<string[]> =>
  (await harness.target(options).write(changes, never())).map(verdict);

/** The column by which people pause rows: it is read, and what it pauses is not written. */
export function describePause(name: string, makeHarness: MakeHarness, cannot: Inabilities): void {
  const testUnless = testsFor(cannot);

  describe(`${name}: the pause column`, () => {
    test('says of each row whether it is paused', () =>
      withRows(
        makeHarness,
        withPauses([anna, on], [bert, off], [bert.with(0, 'id-c'), ''], [loose, 'x']),
        async (harness) => {
          const rows = await readAll(harness.target(options));
          expect(rows.map(({ leadId, paused = false }) => [leadId, paused])).toEqual([
            ['id-a', true],
            ['id-b', false],
            ['id-c', false],
            [null, true],
          ]);
          const plain = await readAll(harness.target({ statusColumn: 'Sync' }));
          expect(plain.some(({ paused }) => paused)).toBe(false);
        },
      ));

    const changes = [
      update('id-a', annaCells, { city: 'Ulm' }),
      mark('id-a', annaCells, 'deleted'),
      remove('id-a', annaCells),
      unlink('id-a', annaCells),
      status('id-a', 'held: City'),
      link('id-l', looseCells),
      looseStatus(looseCells, '', 'held: City'),
      update('id-b', bertCells, { city: 'Ulm' }),
    ];

    test('keeps a row that somebody paused meanwhile as it is, and writes the others', () =>
      withRows(makeHarness, withPauses([anna, on], [loose, on], [bert, off]), async (harness) => {
        expect(await said(harness, changes)).toEqual([
          'row.paused',
          'row.paused',
          'row.paused',
          'row.paused',
          'done',
          'row.changed',
          'done',
          'done',
        ]);
        expect(await harness.show()).toEqual(withPauses([anna, on], [loose, on], [bert.with(3, 'Ulm'), off]));
      }));

    testUnless('copies')('keeps a paused copy of a row as it is', () =>
      withRows(makeHarness, withPauses([anna, ''], [anna, on], [anna, '']), async (harness) => {
        expect(await said(harness, [status('id-a', 'copy', true)])).toEqual(['done']);
        expect(await harness.show()).toEqual(withPauses([anna, ''], [anna, on], [anna.with(5, 'copy'), '']));
      }),
    );

    test('is no cell of its own that would keep a row which is to be removed', () =>
      withRows(makeHarness, withPauses([anna, ''], [bert, off]), async (harness) => {
        expect(await said(harness, [remove('id-b', bertCells)])).toEqual(['done']);
        const rows = await readAll(harness.target(options));
        expect(rows.map(({ leadId }) => leadId)).toEqual(['id-a']);
      }));

    test('is made with a new table', async () => {
      await using harness = await makeHarness();
      const target = harness.target(options);
      const { created } = await target.open({ create: true }, never());
      expect(created).toBe(true);
      await target.write([append('id-n', { name: 'New' })], never());
      const rows = await readAll(harness.target(options));
      expect(rows.map(({ leadId, paused = false }) => [leadId, paused])).toEqual([['id-n', false]]);
    });

    const refused = { code: 'target.pause-column-missing', retry: 'never' };

    test('stops the run when it is missing, and nothing is written', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        await expect(readAll(harness.target(options))).rejects.toMatchObject(refused);
        await expect(said(harness, changes)).rejects.toMatchObject(refused);
        expect(await harness.show()).toEqual([headings, anna]);
      }));

    testUnless('double-headings')('stops the run when it is there twice', () =>
      withRows(
        makeHarness,
        [
          [...headings, 'Paused', 'Paused'],
          [...anna, '', on],
        ],
        async (harness) => {
          await expect(readAll(harness.target(options))).rejects.toMatchObject(refused);
        },
      ),
    );
  });
}

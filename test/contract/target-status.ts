import { describe, expect, test } from 'vitest';
import {
  anna,
  annaCells,
  append,
  bert,
  headings,
  type Inabilities,
  link,
  loose,
  looseCells,
  looseStatus,
  type MakeHarness,
  never,
  status,
  testsFor,
  withRows,
  written,
} from './target-harness.ts';

/** What the status column says, and that nothing else is touched by it. */
export function describeStatus(name: string, makeHarness: MakeHarness, cannot: Inabilities): void {
  const testUnless = testsFor(cannot);

  describe(`${name}: the status column`, () => {
    test('says how a row stands, whatever else it shows by now', () =>
      withRows(makeHarness, [headings, anna, bert.with(5, 'in step')], async (harness) => {
        await harness.edit(([head = [], first = [], second = []]) => [head, second, first.with(3, 'Rome')]);
        expect(
          await written(harness, [status('id-a', 'held: City'), status('id-b', ''), status('id-z', 'x')]),
        ).toEqual(['done', 'done', 'done']);
        expect(await harness.show()).toEqual([headings, bert, anna.with(3, 'Rome').with(5, 'held: City')]);
      }));

    testUnless('copies')('says it of the first of two rows with one id, or of all others', () =>
      withRows(makeHarness, [headings, anna, bert, anna, anna.with(5, 'copy')], async (harness) => {
        expect(
          await written(harness, [
            status('id-a', 'in step'),
            status('id-a', 'copy', true),
            status('id-b', 'copy', true),
            status('id-z', 'copy', true),
          ]),
        ).toEqual(['done', 'done', 'done', 'done']);
        expect((await harness.show())?.slice(1)).toEqual([
          anna.with(5, 'in step'),
          bert,
          anna.with(5, 'copy'),
          anna.with(5, 'copy'),
        ]);
      }),
    );

    test('says it of a row without id that shows the same, in all mapped columns and the status column', () =>
      withRows(
        makeHarness,
        [headings, loose.with(5, 'old'), loose, loose.with(3, 'Lyon'), loose, loose, loose.with(0, 'id-l')],
        async (harness) => {
          const changes = [
            looseStatus(looseCells, '', 'held: one'),
            looseStatus(looseCells, '', 'held: two'),
            looseStatus({ ...looseCells, city: 'Bath' }, '', 'held: none'),
          ];
          const outcomes = await harness.target({ statusColumn: 'Sync' }).write(changes, never());
          expect(outcomes.map((outcome) => outcome.status)).toEqual(['done', 'done', 'done']);
          expect((await harness.show())?.slice(1)).toEqual([
            loose.with(5, 'old'),
            loose.with(5, 'held: one'),
            loose.with(3, 'Lyon'),
            loose.with(5, 'held: two'),
            loose,
            loose.with(0, 'id-l'),
          ]);
        },
      ));

    test('writes nothing where there is no status column', () =>
      withRows(makeHarness, [headings, anna, loose], async (harness) => {
        const changes = [
          status('id-a', 'held: x'),
          status('id-a', 'held: x', true),
          looseStatus(looseCells, '', 'held: x'),
        ];
        const outcomes = await harness.target().write(changes, never());
        expect(outcomes.map((outcome) => outcome.status)).toEqual(['done', 'done', 'done']);
        const more = [append('id-n', { name: 'New' }, 'in step'), link('id-l', looseCells, {}, 'in step')];
        await harness.target().write(more, never());
        expect(await harness.show()).toEqual([
          headings,
          anna,
          loose.with(0, 'id-l'),
          ['id-n', 'New', '', '', '', ''],
        ]);
      }));

    test('says it of a new row, and of one that gets its id, in the same write', () =>
      withRows(makeHarness, [headings, anna, loose, loose.with(3, 'Lyon')], async (harness) => {
        expect(
          await written(harness, [
            append('id-n', { name: 'New' }, 'in step'),
            append('id-a', annaCells, 'held: not written'),
            link('id-l', looseCells, { city: 'York' }, 'held: City'),
            link('id-m', { ...looseCells, city: 'Lyon' }),
          ]),
        ).toEqual(['done', 'done', 'done', 'done']);
        expect((await harness.show())?.slice(1)).toEqual([
          anna,
          loose.with(0, 'id-l').with(3, 'York').with(5, 'held: City'),
          loose.with(0, 'id-m').with(3, 'Lyon'),
          ['id-n', 'New', '', '', '', 'in step'],
        ]);
      }));
  });
}

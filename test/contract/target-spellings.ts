import { describe, expect, test } from 'vitest';
import {
  anna,
  annaCells,
  append,
  bert,
  headings,
  link,
  loose,
  looseCells,
  type MakeHarness,
  mark,
  readAll,
  remove,
  status,
  unlink,
  update,
  withRows,
  written,
} from './target-harness.ts';

const id = '018c2f3a-0000-7000-8000-00000000abcd';

/** As programs and people write it. */
const spellings = [
  ['in capitals', id.toUpperCase()],
  ['in braces', `{${id.toUpperCase()}}`],
  ['as a URN', `urn:uuid:${id}`],
] as const;

/** A UUID is found in whatever spelling the table has, and keeps it. */
export function describeSpellings(name: string, makeHarness: MakeHarness): void {
  describe.each(spellings)(`${name}: an id %s`, (_, spelled) => {
    const row = anna.with(0, spelled);

    test('is one row, which is written and never added again', () =>
      withRows(makeHarness, [headings, bert, row, loose], async (harness) => {
        expect((await readAll(harness.target())).map(({ leadId }) => leadId)).toContain(spelled);
        expect(await written(harness, [update(id, annaCells, { city: 'Ulm' })])).toEqual(['done']);
        expect(await written(harness, [append(id, { name: 'Again' })])).toEqual(['row.exists']);
        expect(await written(harness, [link(id, looseCells)])).toEqual(['done']);
        expect(await written(harness, [status(id, 'in step')])).toEqual(['done']);
        const shown = [...((await harness.show()) ?? [])].slice(1);
        expect(new Set(shown.map(([first]) => first))).toEqual(new Set(['', 'id-b', spelled]));
        expect(shown).toContainEqual(row.with(3, 'Ulm').with(5, 'in step'));
      }));

    test('is marked, taken out and removed', () =>
      withRows(makeHarness, [headings, bert, row.with(2, '')], async (harness) => {
        expect(await written(harness, [mark(id, annaCells, 'deleted')])).toEqual(['done']);
        expect(await written(harness, [remove(id, annaCells)])).toEqual(['done']);
        expect(await harness.show()).toHaveLength(2);
      }));

    test('is taken out of its row', () =>
      withRows(makeHarness, [headings, bert, row], async (harness) => {
        expect(await written(harness, [unlink(id, annaCells)])).toEqual(['done']);
        expect((await harness.show())?.slice(1).map(([first]) => first)).toContain('');
      }));
  });

  test(`${name}: another id is exactly itself`, () =>
    withRows(makeHarness, [headings, anna.with(0, 'ID-A'), bert], async (harness) => {
      expect(await written(harness, [update('id-a', annaCells, { city: 'Ulm' })])).toEqual(['row.gone']);
    }));
}

import { describe, expect, test } from 'vitest';
import { type RowChange } from '../../src/ports/target.ts';
import {
  append,
  contractFields,
  headings,
  link,
  type MakeHarness,
  never,
  readAll,
  update,
  verdict,
  withRows,
} from './target-harness.ts';

const fields = contractFields.map((field) =>
  field.field === 'city'
    ? {
        ...field,
        words: [
          ['Köln', 'cologne'],
          ['Wien', 'vienna'],
        ] as const,
      }
    : field,
);

/** A field whose words the service has others for: the table shows its own, whatever is read and asked of it is the service's. */
export function describeWords(name: string, makeHarness: MakeHarness): void {
  const row = (id: string, company: string, city: string) => [id, company, '', city, '', ''];
  const cells = (company: string, city: string) => ({ name: company, city, due: null });

  describe(`${name}: a field with words of its own`, () => {
    test('is read in the words of the service, however they are spelled; others cannot be read', () =>
      withRows(
        makeHarness,
        [
          headings,
          row('id-a', 'Anna AG', 'Köln'),
          row('id-b', 'Bert BV', 'WIEN'),
          row('id-c', 'Cord KG', 'vienna'),
          row('id-d', 'Dorn SE', ''),
          row('id-e', 'Echo SA', 'Linz'),
        ],
        async (harness) => {
          const rows = await readAll(harness.target({ fields }));
          expect(rows.map((one) => one.cells['city'])).toEqual([
            'cologne',
            'vienna',
            'vienna',
            null,
            { unreadable: 'Linz', why: 'unmapped' },
          ]);
        },
      ));

    test('is written in the words of the table; a value without a word is held, and its row stays', () =>
      withRows(
        makeHarness,
        [
          headings,
          row('id-a', 'Anna AG', 'KÖLN'),
          row('id-b', 'Bert BV', 'Köln'),
          row('id-c', 'Cord KG', 'Linz'),
          row('', 'Loose Ltd', 'Wien'),
        ],
        async (harness) => {
          const changes: readonly RowChange[] = [
            update('id-a', { city: 'cologne' }, { name: 'Anna SE' }),
            update('id-b', { city: 'cologne' }, { city: 'vienna' }),
            update('id-c', { city: { unreadable: 'Linz', why: 'unmapped' } }, { city: 'graz' }),
            link('id-l', cells('Loose Ltd', 'vienna'), { city: 'cologne' }),
            append('id-e', cells('Echo SA', 'vienna')),
            append('id-f', cells('Fuhr OHG', 'graz')),
          ];
          const write = async () => (await harness.target({ fields }).write(changes, never())).map(verdict);
          const expected = [
            'done',
            'done',
            'target.value-not-storable',
            'done',
            'done',
            'target.value-not-storable',
          ];
          expect(await write()).toEqual(expected);
          // What was written reads back as what was meant.
          expect(await write()).toEqual(expected);
          const shown = (await harness.show()) ?? [];
          expect(shown.slice(1).map(([id, company, , city]) => [id, company, city])).toEqual([
            ['id-a', 'Anna SE', 'KÖLN'],
            ['id-b', 'Bert BV', 'Wien'],
            ['id-c', 'Cord KG', 'Linz'],
            ['id-l', 'Loose Ltd', 'Köln'],
            ['id-e', 'Echo SA', 'Wien'],
          ]);
        },
      ));
  });
}

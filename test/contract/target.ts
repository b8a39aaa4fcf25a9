import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FieldMapping } from '../../src/lead/mapping.ts';
import { sameCell, type Cells, type Values } from '../../src/lead/value.ts';
import type { RowChange, RowOutcome, Target, TargetRow } from '../../src/targets/target.ts';

/** Texts as a person sees them, headings first. */
export type Table = readonly (readonly string[])[];

/** One place to keep rows (a file, a sheet), and what the suite must be able to do to it besides using the adapter. */
export interface TargetHarness extends AsyncDisposable {
  /** A new adapter object on the same place, as another process would have it. Zone: Europe/Berlin; id: `Lead ID`. */
  target(options?: { readonly fields?: readonly FieldMapping[]; readonly statusColumn?: string }): Target;
  /** Makes or changes the content as a person does, at once; the function gets the table as it is. */
  edit(change: (table: Table) => Table): void;
  /** What a person sees now; null when there is nothing. */
  show(): Table | null;
}

const field = (name: string, column: string, type: 'text' | 'instant' = 'text'): FieldMapping => ({
  field: name,
  column,
  type,
  direction: 'two-way',
});
export const contractFields: readonly FieldMapping[] = [
  field('name', 'Company'),
  field('city', 'City'),
  field('due', 'Next follow-up', 'instant'),
];

const headings = ['Lead ID', 'Company', 'Notes', 'City', 'Next follow-up', 'Sync'];
const anna = ['id-a', 'Anna AG', 'mine', 'Aachen', '2026-11-21T08:30:00.000Z', ''];
const bert = ['id-b', 'Bert BV', '', 'Bonn', '', ''];
const loose = ['', 'Loose Ltd', 'new one', 'Leeds', '', ''];
const annaCells: Values = { name: 'Anna AG', city: 'Aachen', due: '2026-11-21T08:30:00.000Z' };
const bertCells: Values = { name: 'Bert BV', city: 'Bonn', due: null };
const looseCells: Values = { name: 'Loose Ltd', city: 'Leeds', due: null };

const never = () => new AbortController().signal;

export async function readAll(target: Target): Promise<TargetRow[]> {
  const { rows } = await target.open({ create: false }, never());
  const all: TargetRow[] = [];
  for await (const batch of rows) all.push(...batch);
  return all;
}

export const append = (leadId: string, values: Values): RowChange => ({
  kind: 'append',
  key: leadId,
  leadId,
  values,
});
export const update = (leadId: string, expected: Cells, values: Values): RowChange => ({
  kind: 'update',
  key: leadId,
  leadId,
  expect: expected,
  values,
});
export const link = (leadId: string, expected: Cells, values: Values = {}): RowChange => ({
  kind: 'link',
  key: leadId,
  leadId,
  expect: expected,
  values,
});
export const mark = (leadId: string, expected: Cells, text: string): RowChange => ({
  kind: 'mark',
  key: leadId,
  leadId,
  expect: expected,
  text,
});
export const remove = (leadId: string, expected: Cells): RowChange => ({
  kind: 'remove',
  key: leadId,
  leadId,
  expect: expected,
});

/** A signal at whose `at`-th question something else happens first; `asked` tells how often it was asked. */
function interruptedSignal(at: number, action: () => void): { signal: AbortSignal; asked: () => number } {
  const signal = never();
  let asked = 0;
  signal.throwIfAborted = () => {
    if (++asked === at) action();
  };
  return { signal, asked: () => asked };
}

/** What every adapter must do, whatever it keeps its rows in. */
export function describeTarget(name: string, makeHarness: () => Promise<TargetHarness>): void {
  const status = { statusColumn: 'Sync' };

  async function withRows(rows: Table, body: (harness: TargetHarness) => Promise<void>): Promise<void> {
    await using harness = await makeHarness();
    harness.edit(() => rows);
    await body(harness);
  }

  /** Writes, checks that a second call changes nothing and gives the same outcomes, and gives code or status. */
  async function written(harness: TargetHarness, changes: readonly RowChange[]): Promise<string[]> {
    const outcomes = await harness.target(status).write(changes, never());
    expect(outcomes.map((outcome) => outcome.key)).toEqual(changes.map((change) => change.key));
    const shown = harness.show();
    expect(await harness.target(status).write(changes, never())).toEqual(outcomes);
    expect(harness.show()).toEqual(shown);
    return outcomes.map(verdict);
  }

  describe(`${name}: the target port`, () => {
    test('is created with its headings once, and not at all when that is not wanted', async () => {
      await using harness = await makeHarness();
      const without = await harness.target().open({ create: false }, never());
      expect(without).toMatchObject({ created: false, missing: [] });
      expect(await readAll(harness.target())).toEqual([]);
      expect(harness.show()).toBeNull();

      expect(await harness.target(status).open({ create: true }, never())).toMatchObject({
        created: true,
        missing: [],
      });
      expect(harness.show()).toEqual([['Lead ID', 'Company', 'City', 'Next follow-up', 'Sync']]);
      expect(await harness.target(status).open({ create: true }, never())).toMatchObject({ created: false });
    });

    test('reads rows with the numbers a person sees, and passes over those without anything of ours', () =>
      withRows([headings, anna, ['', '', 'only mine', '', '', 'x'], loose, bert], async (harness) => {
        expect(await readAll(harness.target())).toEqual([
          { row: 2, leadId: 'id-a', cells: annaCells },
          { row: 4, leadId: null, cells: looseCells },
          { row: 5, leadId: 'id-b', cells: bertCells },
        ]);
      }));

    test('finds columns by heading, in any order, with other case and blanks', () =>
      withRows(
        [
          ['next FOLLOW-UP', ' city ', 'LEAD id', 'Company'],
          ['21.11.2026 09:30', 'Aachen', ' id-a ', 'Anna AG'],
        ],
        async (harness) => {
          expect(await readAll(harness.target())).toEqual([{ row: 2, leadId: 'id-a', cells: annaCells }]);
        },
      ));

    test('leaves out a column that is missing or doubled, and touches neither', () =>
      withRows(
        [
          ['Lead ID', 'City', 'City', 'Company'],
          ['id-a', 'x', 'y', 'Anna AG'],
        ],
        async (harness) => {
          const { missing } = await harness.target().open({ create: true }, never());
          expect(missing.map((entry) => entry.field)).toEqual(['city', 'due']);
          expect(await readAll(harness.target())).toEqual([
            { row: 2, leadId: 'id-a', cells: { name: 'Anna AG' } },
          ]);
          const outcomes = await written(harness, [
            update('id-a', { name: 'Anna AG' }, { name: 'Anna SE', city: 'z' }),
            append('id-n', { name: 'New', city: 'z' }),
            append('id-m', { name: 'More', city: null }),
          ]);
          expect(outcomes).toEqual(['target.column-missing', 'target.column-missing', 'done']);
          expect(harness.show()?.slice(1)).toEqual([
            ['id-a', 'x', 'y', 'Anna AG'],
            ['id-m', '', '', 'More'],
          ]);
        },
      ));

    test.each([
      ['no known heading', [['1', '2']], 'target.header-missing'],
      ['an empty first row', [['', ''], headings], 'target.header-missing'],
      ['no id column', [['Company', 'City']], 'target.id-column-missing'],
      ['two id columns', [['Lead ID', 'Company', 'Lead ID']], 'target.id-column-missing'],
    ])('refuses %s', (_, rows, code) =>
      withRows(rows, async (harness) => {
        await expect(harness.target().open({ create: true }, never())).rejects.toMatchObject({
          code,
          retry: 'never',
        });
        await expect(harness.target().write([append('id-x', {})], never())).rejects.toMatchObject({ code });
        expect(harness.show()).toEqual(rows);
      }),
    );

    test('shows a date that nobody can understand as it is, and compares it by its text', () =>
      withRows([headings, ['id-a', 'Anna AG', '', '', 'next Tuesday', '']], async (harness) => {
        const [row] = await readAll(harness.target());
        expect(row?.cells['due']).toEqual({ unreadable: 'next Tuesday' });
        expect(
          await written(harness, [
            update('id-a', { due: { unreadable: 'next Monday' } }, { city: 'Rome' }),
            update('id-a', { due: { unreadable: 'next Tuesday' } }, { city: 'Aachen' }),
          ]),
        ).toEqual(['row.changed', 'done']);
        expect(harness.show()?.[1]).toEqual(['id-a', 'Anna AG', '', 'Aachen', 'next Tuesday', '']);
      }));

    test('updates only the changed cells of the row with the id, wherever it is now', () =>
      withRows([headings, anna, bert], async (harness) => {
        const target = harness.target();
        await readAll(target);
        harness.edit(([head = [], ...rows]) => [head, ...rows.toReversed()]);
        const [outcome] = await target.write(
          [update('id-a', annaCells, { ...annaCells, city: 'Rome' })],
          never(),
        );
        expect(outcome).toEqual({ key: 'id-a', status: 'done' });
        expect(harness.show()).toEqual([headings, bert, anna.with(3, 'Rome')]);
      }));

    test('does not write an instant again that the cell already means', () =>
      withRows([headings, anna.with(4, '21.11.2026 09:30')], async (harness) => {
        expect(await written(harness, [update('id-a', annaCells, { ...annaCells, city: 'Rome' })])).toEqual([
          'done',
        ]);
        expect(harness.show()?.[1]).toEqual(['id-a', 'Anna AG', 'mine', 'Rome', '21.11.2026 09:30', '']);
      }));

    test('empties a cell', () =>
      withRows([headings, anna], async (harness) => {
        expect(await written(harness, [update('id-a', annaCells, { city: null, due: null })])).toEqual([
          'done',
        ]);
        expect(harness.show()?.[1]).toEqual(['id-a', 'Anna AG', 'mine', '', '', '']);
      }));

    test('puts off what the plan no longer sees', () =>
      withRows([headings, anna, bert], async (harness) => {
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
        expect(harness.show()).toEqual([headings, anna, bert]);
      }));

    test('reports as done what is already so', () =>
      withRows([headings, anna.with(5, 'deleted'), bert], async (harness) => {
        expect(
          await written(harness, [
            update('id-a', bertCells, annaCells),
            append('id-b', bertCells),
            link('id-b', looseCells, { city: 'Leeds' }),
            mark('id-a', annaCells, 'deleted'),
            remove('id-z', annaCells),
          ]),
        ).toEqual(['done', 'done', 'done', 'done', 'done']);
        expect(harness.show()).toEqual([headings, anna.with(5, 'deleted'), bert]);
      }));

    test('appends behind the last row, in the order given, each id once', () =>
      withRows([headings, anna], async (harness) => {
        const changes = [
          append('id-2', { name: 'Two' }),
          append('id-1', { name: 'One', due: annaCells['due'] ?? null }),
        ];
        expect(await written(harness, [...changes, append('id-2', { name: 'Second two' })])).toEqual([
          'done',
          'done',
          'row.exists',
        ]);
        expect(harness.show()?.slice(1)).toEqual([
          anna,
          ['id-2', 'Two', '', '', '', ''],
          ['id-1', 'One', '', '', '2026-11-21T08:30:00.000Z', ''],
        ]);
      }));

    test('links rows without id by their content, equal ones one after the other', () =>
      withRows(
        [headings, loose, anna, loose.with(2, 'other note'), loose.with(3, 'Lyon')],
        async (harness) => {
          expect(
            await written(harness, [
              link('id-1', looseCells),
              link('id-2', looseCells, { due: '2026-12-01T00:00:00.000Z' }),
              link('id-3', { ...looseCells, name: null }),
            ]),
          ).toEqual(['done', 'done', 'row.changed']);
          expect(harness.show()?.slice(1)).toEqual([
            loose.with(0, 'id-1'),
            anna,
            loose.with(2, 'other note').with(0, 'id-2').with(4, '2026-12-01T00:00:00.000Z'),
            loose.with(3, 'Lyon'),
          ]);
        },
      ));

    test('gives an id to one row only, though the same link comes twice', () =>
      withRows([headings, loose, loose], async (harness) => {
        expect(await written(harness, [link('id-1', looseCells), link('id-1', looseCells)])).toEqual([
          'done',
          'done',
        ]);
        expect(harness.show()?.slice(1)).toEqual([loose.with(0, 'id-1'), loose]);
      }));

    test('links nothing when a row further down has the id already', () =>
      withRows([headings, loose, loose.with(0, 'id-1')], async (harness) => {
        expect(await written(harness, [link('id-1', looseCells)])).toEqual(['done']);
        expect(harness.show()?.slice(1)).toEqual([loose, loose.with(0, 'id-1')]);
      }));

    test('marks in the status column, and holds a mark when there is none', () =>
      withRows([headings, anna, bert], async (harness) => {
        expect(await written(harness, [mark('id-b', bertCells, 'deleted 2026-11-21')])).toEqual(['done']);
        expect(harness.show()).toEqual([headings, anna, bert.with(5, 'deleted 2026-11-21')]);
        const [outcome] = await harness.target().write([mark('id-a', annaCells, 'deleted')], never());
        expect(outcome).toMatchObject({ status: 'held', code: 'target.no-status-column' });
      }));

    test('removes a row and nothing else', () =>
      withRows([headings, anna, loose, bert], async (harness) => {
        expect(await written(harness, [remove('id-a', annaCells), remove('id-b', bertCells)])).toEqual([
          'done',
          'done',
        ]);
        expect(harness.show()).toEqual([headings, loose]);
      }));

    test('writes only the first of two rows with one id, and removes neither', () =>
      withRows([headings, anna, bert, anna], async (harness) => {
        expect((await readAll(harness.target())).map((row) => row.leadId)).toEqual(['id-a', 'id-b', 'id-a']);
        expect(await written(harness, [remove('id-a', annaCells)])).toEqual(['row.duplicated']);
        expect(await written(harness, [update('id-a', annaCells, { city: 'Rome' })])).toEqual(['done']);
        expect(harness.show()).toEqual([headings, anna.with(3, 'Rome'), bert, anna]);
      }));

    test('reads back the same text and the same instant that was written', () =>
      withRows([headings], async (harness) => {
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
        expect(harness.show()).toHaveLength(ids.length + 1);
      }));
  });

  describe(`${name}: other people at work`, () => {
    const many = Array.from({ length: 3_000 }, (_, n) => [
      `id-${n}`,
      `Company ${n} ${'x'.repeat(50)}`,
      '',
      '',
      '',
      '',
    ]);
    const typed = (harness: TargetHarness) =>
      harness.edit((table) => table.with(1, (table[1] ?? []).with(3, 'typed')));

    test('a change while rows are read is noticed', () =>
      withRows([headings, ...many], async (harness) => {
        const { rows } = await harness.target().open({ create: true }, never());
        const reading = (async () => {
          let edited = false;
          for await (const _ of rows) {
            if (!edited) typed(harness);
            edited = true;
          }
        })();
        await expect(reading).rejects.toMatchObject({ code: 'target.changed', retry: 'now' });
      }));

    test('no row is given of a content that open has not seen', () =>
      withRows([headings, ...many], async (harness) => {
        const { rows } = await harness.target().open({ create: true }, never());
        typed(harness);
        await expect(rows[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'target.changed' });
      }));

    test('a row that is moved while it is looked for is found', async () => {
      let asked = Infinity;
      for (let at = 1; at <= asked; at++) {
        await withRows([headings, ...many.slice(0, 1500)], async (harness) => {
          const interrupted = interruptedSignal(at, () =>
            harness.edit(([head = [], ...rows]) => [head, ...rows.toReversed()]),
          );
          const change = update('id-1400', {}, { name: many[1400]?.[1] ?? '' });
          expect(await harness.target().write([change], interrupted.signal)).toEqual([
            { key: 'id-1400', status: 'done' },
          ]);
          asked = interrupted.asked();
        });
      }
    });

    test('an edit at any moment of a write is there afterwards, and so is what was reported as done', async () => {
      let asked = Infinity;
      for (let at = 1; at <= asked; at++) {
        await withRows([headings, ...many.slice(0, 1500)], async (harness) => {
          const interrupted = interruptedSignal(at, () => typed(harness));
          const change = update('id-1400', { city: null }, { city: 'written' });
          const [outcome] = await harness.target().write([change], interrupted.signal);
          asked = interrupted.asked();
          const shown = harness.show() ?? [];
          if (at <= asked) expect(shown[1]?.[3]).toBe('typed');
          expect(outcome).toEqual({ key: 'id-1400', status: 'done' });
          expect(shown[1401]?.[3]).toBe('written');
          expect(shown).toHaveLength(1501);
        });
      }
    });

    test('an edit of the very row in the middle of a write wins', () =>
      withRows([headings, anna], async (harness) => {
        const interrupted = interruptedSignal(2, () => typed(harness));
        const outcomes = await harness
          .target()
          .write([update('id-a', annaCells, { city: 'Rome' })], interrupted.signal);
        expect(outcomes.map(verdict)).toEqual(['row.changed']);
        expect(harness.show()?.[1]).toEqual(anna.with(3, 'typed'));
      }));

    test('somebody who never stops writing: nothing is written, and the caller is told to try again', () =>
      withRows([headings, anna], async (harness) => {
        const signal = never();
        let edits = 0;
        signal.throwIfAborted = () => harness.edit((table) => table.with(1, anna.with(2, `edit ${++edits}`)));
        const writing = harness.target().write([update('id-a', annaCells, { city: 'Rome' })], signal);
        await expect(writing).rejects.toMatchObject({ code: 'target.changed', retry: 'now' });
        expect(harness.show()?.[1]).toEqual(anna.with(2, `edit ${edits}`));
      }));

    test('an aborted write changes nothing', () =>
      withRows([headings, anna], async (harness) => {
        let aborted = 0;
        for (let wrote = false; !wrote; ) {
          const interrupted = interruptedSignal(aborted + 1, () => {
            throw new DOMException('stop', 'AbortError');
          });
          const writing = harness
            .target()
            .write([update('id-a', annaCells, { city: 'Rome' })], interrupted.signal);
          wrote = await writing.then(
            () => true,
            () => false,
          );
          expect(harness.show()).toEqual([headings, wrote ? anna.with(3, 'Rome') : anna]);
          if (!wrote) aborted++;
        }
        expect(aborted).toBeGreaterThan(0);
      }));

    test('two writers at once lose nothing', () =>
      withRows([headings], async (harness) => {
        const writer = async (prefix: string) => {
          for (let n = 0; n < 10; n++)
            await untilFree(() => harness.target().write([append(`${prefix}${n}`, {})], never()));
        };
        await Promise.all([writer('a'), writer('b'), writer('c')]);
        expect(
          harness
            .show()
            ?.slice(1)
            .map(([id]) => id)
            .toSorted(),
        ).toHaveLength(30);
        expect(new Set(harness.show()?.map(([id]) => id)).size).toBe(31);
      }));
  });
}

/** Again while another writer holds the target: by code, without waiting for a guessed time. */
async function untilFree<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^target\.(busy|changed)$/) });
    }
  }
}

function verdict(outcome: RowOutcome): string {
  return outcome.status === 'done' ? 'done' : outcome.code;
}

function expectShown(cells: Cells | undefined, wanted: Values): void {
  for (const [field_, value] of Object.entries(wanted)) {
    const cell = cells?.[field_] ?? null;
    expect(sameCell(cell, value), `${JSON.stringify(value)} came back as ${JSON.stringify(cell)}`).toBe(true);
  }
}

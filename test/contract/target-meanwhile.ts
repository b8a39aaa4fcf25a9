import { describe, expect, test } from 'vitest';
import type { RowChange } from '../../src/ports/target.ts';
import {
  anna,
  annaCells,
  append,
  headings,
  interruptedSignal,
  type LocalHarness,
  loose,
  looseCells,
  type MakeHarness,
  never,
  readAll,
  status,
  update,
  verdict,
  withRows,
} from './target-harness.ts';

/** A person types into the first row. */
const typed = (harness: LocalHarness) =>
  harness.edit((table) => table.with(1, (table[1] ?? []).with(3, 'typed')));

/** What happens when several writers are at work at the same time. */
export function describeWriters(name: string, makeHarness: MakeHarness): void {
  describe(`${name}: other writers at work`, () => {
    test('two writers at once lose nothing', () =>
      withRows(makeHarness, [headings], async (harness) => {
        const writer = async (prefix: string) => {
          for (let n = 0; n < 10; n++)
            await untilFree(() => harness.target().write([append(`${prefix}${n}`, {})], never()));
        };
        await Promise.all([writer('a'), writer('b'), writer('c')]);
        const [, ...rows] = (await harness.show()) ?? [];
        expect(rows).toHaveLength(30);
        expect(new Set(rows.map(([id]) => id)).size).toBe(30);
      }));
  });
}

const many = Array.from({ length: 3_000 }, (_, n) => [
  `id-${n}`,
  `Company ${n} ${'x'.repeat(50)}`,
  '',
  '',
  '',
  '',
]);

/** What happens when people are at work on something that is only ever replaced as a whole. */
export function describeMeanwhile(name: string, makeHarness: () => Promise<LocalHarness>): void {
  describe(`${name}: other people at work`, () => {
    test('a change while rows are read is noticed', () =>
      withRows(makeHarness, [headings, ...many], async (harness) => {
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
      withRows(makeHarness, [headings, ...many], async (harness) => {
        const { rows } = await harness.target().open({ create: true }, never());
        typed(harness);
        await expect(rows[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'target.changed' });
      }));

    test('an edit of the very row in the middle of a write wins', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        const interrupted = interruptedSignal(2, () => typed(harness));
        const outcomes = await harness
          .target()
          .write([update('id-a', annaCells, { city: 'Rome' })], interrupted.signal);
        expect(outcomes.map(verdict)).toEqual(['row.changed']);
        expect(harness.show()?.[1]).toEqual(anna.with(3, 'typed'));
      }));

    test('somebody who never stops writing: nothing is written, and the caller is told to try again', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        const signal = never();
        let edits = 0;
        signal.throwIfAborted = () => harness.edit((table) => table.with(1, anna.with(2, `edit ${++edits}`)));
        const writing = harness.target().write([update('id-a', annaCells, { city: 'Rome' })], signal);
        await expect(writing).rejects.toMatchObject({ code: 'target.changed', retry: 'now' });
        expect(harness.show()?.[1]).toEqual(anna.with(2, `edit ${edits}`));
      }));

    test('what was written is known to stand, unless anybody else was at it since it was read', () =>
      withRows(makeHarness, [headings, anna, loose, anna.with(0, 'id-b')], async (harness) => {
        const target = harness.target();
        const writes = async (...changes: RowChange[]) => {
          expect((await target.write(changes, never())).map(verdict)).toEqual(changes.map(() => 'done'));
          return target.standingWrites?.(never());
        };
        expect(await writes(append('id-0', {})), 'what stood there before is not known').toBe(0);
        await readAll(target);
        expect(await writes(update('id-a', annaCells, { city: 'Rome' }))).toBe(1);
        expect(await writes(append('id-1', {}), update('id-b', {}, { name: 'Bea' }))).toBe(3);
        expect(await writes(status('id-a', 'in step'))).toBe(3);
        // Written again, as after what became of it was lost: it is one row.
        expect(await writes(append('id-1', {}))).toBe(3);
        // Its row may have been edited since an earlier attempt.
        const again = { key: 'id-2', leadId: 'id-2', expect: looseCells, values: {}, isRepeated: true };
        expect(await writes({ kind: 'link', ...again })).toBe(3);
        typed(harness);
        expect(await target.standingWrites?.(never())).toBe(0);
        expect(await writes(append('id-3', {}))).toBe(0);
        await readAll(target);
        expect(await writes(append('id-4', {}))).toBe(1);
        await target.contentTag?.(never());
        expect(await target.standingWrites?.(never()), 'nothing was written').toBe(0);
        expect(await writes(append('id-5', {}))).toBe(1);
        await target.contentTag?.(never());
        typed(harness);
        expect(await writes(append('id-6', {})), 'somebody wrote before the first write').toBe(0);
      }));

    test('rows are added behind what the same adapter has written, and behind what people have done since', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        const target = harness.target();
        const add = async (...changes: RowChange[]) => (await target.write(changes, never())).map(verdict);
        expect(await add(append('id-1', { name: 'One' }), append('id-2', {}))).toEqual(['done', 'done']);
        expect(await add(append('id-3', {}))).toEqual(['done']);
        expect(await add(append('id-4', {}), append('id-1', { name: 'One' }))).toEqual(['done', 'done']);
        expect(await add(append('id-5', {}), append(' id-3 ', { name: 'Other' }))).toEqual([
          'done',
          'row.exists',
        ]);
        expect(harness.show()?.map(([id]) => id)).toEqual([
          'Lead ID',
          'id-a',
          ...[1, 2, 3, 4, 5].map((n) => `id-${n}`),
        ]);
        harness.edit((table) => [
          ...table.filter(([id]) => id !== 'id-2'),
          ['id-6', 'typed', '', '', '', ''],
        ]);
        expect(await add(append('id-6', { name: 'Six' }), append('id-2', {}))).toEqual([
          'row.exists',
          'done',
        ]);
        harness.edit(([, ...rows]) => [headings.toReversed(), ...rows.map((row) => row.toReversed())]);
        expect(await add(append('id-7', { name: 'Seven' }))).toEqual(['done']);
        expect(harness.show()?.map((row) => row.at(-1))).toEqual([
          'Lead ID',
          'id-a',
          ...[1, 3, 4, 5, 6, 2, 7].map((n) => `id-${n}`),
        ]);
      }));
  });
}

/** The same at each moment at which a write looks whether it is to stop. */
export function describeReplaced(name: string, makeHarness: () => Promise<LocalHarness>): void {
  describeMeanwhile(name, makeHarness);
  describe(`${name}: other people at work at any moment`, () => {
    test('a row that is moved while it is looked for is found', async () => {
      let asked = Infinity;
      for (let at = 1; at <= asked; at++) {
        await withRows(makeHarness, [headings, ...many.slice(0, 1500)], async (harness) => {
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
        await withRows(makeHarness, [headings, ...many.slice(0, 1500)], async (harness) => {
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

    test('an aborted write changes nothing', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
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

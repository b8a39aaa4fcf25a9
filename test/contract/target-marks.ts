import { describe, expect, test } from 'vitest';
import { markText, readMark } from '../../src/core/lead/table-mark.ts';
import type { Target } from '../../src/ports/target.ts';
import {
  anna,
  annaCells,
  append,
  bert,
  bertCells,
  headings,
  type Inabilities,
  type MakeHarness,
  never,
  update,
  withRows,
} from './target-harness.ts';

const first = { keeper: '0d0b4f6f', connection: 'test "<&>"', generation: 7, nonce: 'c0ffee' };
const second = { ...first, generation: 8, nonce: 'decaf' };

/** A mark travels with the content, and touches nothing in it. */
export function describeMarks(name: string, makeHarness: MakeHarness, cannot: Inabilities): void {
  const isWhole = !cannot.has('generations');
  const shown = ({ keeper, connection, ...rest }: typeof first) =>
    isWhole ? { keeper, connection, ...rest } : { keeper, connection };

  describe(`${name}: marks`, () => {
    test('a mark is written with rows, found by whoever reads next, and changes no cell', () =>
      withRows(makeHarness, [headings, anna, bert], async (harness) => {
        const target = harness.target();
        expect(await marked(target)).toBeNull();
        expect(await writeMarked(target, first, 'Rome')).toBe(true);
        expect(await marked(harness.target())).toEqual(shown(first));
        expect(await harness.show()).toEqual([headings, anna.with(3, 'Rome'), bert]);
        expect(await writeMarked(harness.target(), second, 'Oslo', 'Rome')).toBe(true);
        expect(await marked(target)).toEqual(shown(second));
        expect(await harness.show()).toEqual([headings, anna.with(3, 'Oslo'), bert]);
      }));

    test('new rows bring it along, and it stays when rows are written without one', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        let arrived = 0;
        const mark = { text: markText(first), arrived: () => arrived++ };
        const target = harness.target();
        expect(await marked(target)).toBeNull();
        await target.write([append('id-b', bertCells)], never(), mark);
        expect(arrived).toBe(1);
        await harness.target().write([update('id-a', annaCells, { city: 'Rome' })], never());
        expect(await marked(harness.target())).toEqual(shown(first));
      }));

    test('where no row is written, no mark is', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        await writeMarked(harness.target(), first, 'Rome');
        const before = await harness.show();
        expect(await writeMarked(harness.target(), second, 'Rome', 'Rome')).toBe(false);
        expect(await writeMarked(harness.target(), second, 'Oslo', 'Bonn')).toBe(false);
        expect(await marked(harness.target())).toEqual(shown(first));
        expect(await harness.show()).toEqual(before);
      }));
  });
}

/** Without a place for a mark, rows are written all the same. */
export function describeNoMarks(name: string, makeHarness: MakeHarness): void {
  test(`${name}: has no place for a mark, and says so`, () =>
    withRows(makeHarness, [headings, anna], async (harness) => {
      const target = harness.target();
      expect(await marked(target)).toBeUndefined();
      expect(await writeMarked(target, first, 'Rome')).toBe(false);
      expect(await marked(harness.target())).toBeUndefined();
    }));
}

/** Moves the city of a row; gives whether the mark arrived. */
async function writeMarked(
  target: Target,
  mark: typeof first,
  to: string,
  from = annaCells['city'] ?? null,
): Promise<boolean> {
  await marked(target);
  let isThere = false;
  const change = update('id-a', { ...annaCells, city: from }, { city: to });
  await target.write([change], never(), { text: markText(mark), arrived: () => (isThere = true) });
  return isThere;
}

/** As a sync finds it. */
async function marked(target: Target) {
  const { mark } = await target.open({ create: true }, never());
  return mark === undefined ? undefined : readMark(mark);
}

import { expect, test } from 'vitest';
import { markText, readMark } from '../../../src/core/lead/table-mark.ts';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import {
  anna,
  annaCells,
  append,
  bert,
  bertCells,
  headings,
  never,
  update,
  withRows,
} from '../../contract/target-harness.ts';

const first = { keeper: '0d0b4f6f', connection: 'test', generation: 7, nonce: 'c0ffee' };
const inTab = (body: Parameters<typeof withRows<Harness>>[2]) =>
  withRows<Harness>(makeGoogleSheetsHarness, [headings, anna], body);
type Harness = Awaited<ReturnType<typeof makeGoogleSheetsHarness>>;

test.each([
  ['an edit', update('id-a', annaCells, { city: 'Rome' })],
  ['a new row', append('id-b', bertCells)],
])('%s takes as many requests with a mark as without', (_, change) =>
  inTab(async (harness) => {
    const count = async (mark?: { text: string; arrived: () => void }): Promise<number> => {
      harness.edit(() => [headings, anna]);
      const target = harness.target();
      await target.open({ create: true }, never());
      const before = target.requests;
      await target.write([change], never(), mark);
      return target.requests - before;
    };
    await count();
    const without = await count();
    expect(await count({ text: markText(first), arrived: () => undefined })).toBe(without);
    const { mark } = await harness.target().open({ create: false }, never());
    expect(readMark(mark ?? null)).toEqual(first);
  }),
);

test('a mark that Google refuses leaves no row unwritten', () =>
  inTab(async (harness) => {
    const target = harness.target();
    await target.open({ create: true }, never());
    let arrived = 0;
    // More than a sheet may hold of such records.
    const text = markText({ ...first, nonce: 'f'.repeat(40_000) });
    const outcomes = await target.write(
      [update('id-a', annaCells, { city: 'Rome' }), append('id-b', bertCells)],
      never(),
      { text, arrived: () => arrived++ },
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['done', 'done']);
    expect(arrived).toBe(0);
    expect(harness.show()).toMatchObject([headings, anna.with(3, 'Rome'), bert]);
  }));

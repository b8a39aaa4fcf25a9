import { describe, expect, test } from 'vitest';
import { anna, headings, type MakeHarness, never, withRows } from './target-harness.ts';

/** Which place it is, and that none that was filled is made anew. */
export function describePlace(name: string, makeHarness: MakeHarness): void {
  describe(`${name}: its place`, () => {
    test('has one identity for whoever asks, whatever is written there, and an address for people', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        const place = await harness.target().place?.(never());
        expect(place).toMatchObject({
          id: expect.stringMatching(/^[a-z-]+:./),
          address: expect.any(String),
          isThere: true,
        });
        await harness.target().open({ create: true }, never());
        expect(await harness.target({ statusColumn: 'Sync' }).place?.(never())).toEqual(place);
      }));

    test('is told and makes nothing; what was made has the same one from then on', async () => {
      await using harness = await makeHarness();
      const target = harness.target();
      const missing = await target.place?.(never());
      expect(await harness.show()).toBeNull();
      await target.open({ create: true }, never());
      const made = await harness.target().place?.(never());
      expect(made).toMatchObject({ address: missing?.address, isThere: true });
      expect(await target.place?.(never())).toEqual(made);
    });

    test('is not left as long as it is there, nor is one of another kind', () =>
      withRows(makeHarness, [headings, anna], async (harness) => {
        const target = harness.target();
        const place = await target.place?.(never());
        if (target.isLeft === undefined || !place) return;
        expect(await target.isLeft({ ...place, address: 'elsewhere' }, never())).toBe(false);
        expect(await target.isLeft({ id: 'something-else:1', address: 'elsewhere' }, never())).toBe(false);
      }));

    test('that was filled and is missing is not made anew', async () => {
      await using harness = await makeHarness();
      for (const create of [true, false])
        await expect(harness.target().open({ create, wasFilled: true }, never())).rejects.toMatchObject({
          code: 'target.gone',
          retry: 'never',
        });
      expect(await harness.show()).toBeNull();
    });
  });
}

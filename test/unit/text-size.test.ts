import fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchesBySize, charactersIn, mostTogether } from '../../src/core/lead/text-size.ts';

test('a value has the characters of its texts and names, and is counted however deep it is', () => {
  expect(charactersIn({ city: 'Ulm', none: null, many: [1, 'ab', { x: 'y' }] })).toBe(
    4 + 3 + 4 + 4 + 2 + 1 + 1,
  );
  let deep: unknown = 'end';
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  expect(charactersIn(deep)).toBe(3);
});

test('batches have all items in their order, are not larger than allowed, and not smaller than needed', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 2 * mostTogether }));
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 5 }), (items, most) => {
      const sum = (batch: readonly number[]): number => batch.reduce((total, size) => total + size, 0);
      const batches = [
        ...batchesBySize(
          items,
          () => most,
          (size) => size,
        ),
      ];
      expect(batches.flat()).toEqual(items);
      for (const [nth, batch] of batches.entries()) {
        expect(batch.length).toBeGreaterThan(0);
        expect(batch.length <= most && (batch.length === 1 || sum(batch) <= mostTogether)).toBe(true);
        const next = batches[nth + 1]?.[0];
        if (next === undefined) continue;
        expect(batch.length === most || sum(batch) + next > mostTogether).toBe(true);
      }
    }),
  );
});

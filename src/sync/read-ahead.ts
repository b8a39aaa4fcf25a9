import { charactersIn, mostTogether } from '../core/lead/text-size.ts';

/** How long (ms) an item waits for others to be yielded with it. */
const togetherMs = 250;

/**
 * Reads items ahead, and yields together those of a weight of `most` (an item weighs 1 without `weigh`); fewer at the end,
 * and when they come slowly. An error comes after the items before it. Ending early drops the item under way.
 */
export async function* readAhead<T>(
  items: AsyncIterable<T>,
  most: number,
  weigh: (item: T) => number = () => 1,
): AsyncGenerator<readonly T[], void> {
  const now = {
    ready: [] as T[],
    weight: 0,
    isOver: false,
    isLate: false,
    change: Promise.withResolvers<void>(),
  };
  const tell = (): void => {
    now.change.resolve();
    now.change = Promise.withResolvers();
  };
  const end = (): void => {
    now.isOver = true;
    tell();
  };
  const read = async (): Promise<void> => {
    for await (const item of items) {
      now.ready.push(item);
      now.weight += weigh(item);
      tell();
      while (now.weight >= most && !now.isOver) await now.change.promise;
      if (now.isOver) return;
    }
  };
  const reading = read().finally(end);
  // The consumer gets the error where the items end.
  reading.catch(() => {});
  try {
    for (;;) {
      while (now.ready.length === 0 && !now.isOver) await now.change.promise;
      now.isLate = false;
      const timer = setTimeout(() => {
        now.isLate = true;
        tell();
      }, togetherMs);
      while (now.weight < most && !now.isOver && !now.isLate) await now.change.promise;
      clearTimeout(timer);
      const taken = now.ready;
      now.ready = [];
      now.weight = 0;
      tell();
      if (taken.length === 0) break;
      yield taken;
    }
    await reading;
  } finally {
    end();
    await reading.catch(() => {});
  }
}

/** The items of batches that are read ahead, of `together` batches at a time, and of fewer that have many characters. */
export async function* batchesWeighed<T>(
  batches: AsyncIterable<readonly T[]>,
  together: number,
): AsyncGenerator<readonly T[], void> {
  const weigh = (batch: readonly T[]): number => Math.max(1, (together * charactersIn(batch)) / mostTogether);
  for await (const some of readAhead(batches, together, weigh)) yield some.flat();
}

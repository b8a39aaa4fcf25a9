import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '../core/merge/match-lost-creates.ts';
import { charactersIn, mostTogether } from '../core/lead/text-size.ts';

/** Runs a task for each item in order, at most `most()` at once. After an error starts no more, and throws it when those under way have ended. */
export async function inLanes<T>(
  items: Iterable<T>,
  most: () => number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const faults: unknown[] = [];
  for (const item of items) {
    while (underWay.size >= most()) await Promise.race(underWay);
    if (faults.length > 0) break;
    const one = task(item)
      .catch((error: unknown) => void faults.push(error))
      .finally(() => underWay.delete(one));
    underWay.add(one);
  }
  await Promise.all(underWay);
  if (faults.length > 0) throw faults[0];
}

/** How long (ms) work in steps may block the process. */
export const stretchMs = 20;

/** Runs work in steps, and lets timers and other work of the process run in between. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  let since = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - since < stretchMs) continue;
    await nextTurn();
    since = performance.now();
  }
}

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

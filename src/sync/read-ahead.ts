/** How long (ms) an item waits for others to be yielded with it. */
const togetherMs = 250;

/**
 * Takes items before they are needed, and yields those of `most` together at a time, by their weight (each 1 unless told
 * otherwise): fewer at the end, and when they come slowly. A fault comes after the items before it. Ending it early lets an item that is under way end, and drops it.
 */
export async function* readAhead<T>(
  items: AsyncIterable<T>,
  most: number,
  weigh: (item: T) => number = () => 1,
): AsyncGenerator<readonly T[], void> {
  const now: {
    ready: T[];
    weight: number;
    isOver: boolean;
    isLate: boolean;
    change: PromiseWithResolvers<void>;
  } = {
    ready: [],
    weight: 0,
    isOver: false,
    isLate: false,
    change: Promise.withResolvers(),
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

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '../core/merge/match-lost-creates.ts';

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

import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work that may take long; it can be left alone for a while wherever it yields. */
export type Steps<T> = Generator<void, T, void>;

/** For so long (ms) nothing else of the process is kept waiting. */
const stretchMs = 20;

/** Does all of it now. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Does it bit by bit: timers, and what else waits in this process, have their turn meanwhile. */
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

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '../core/merge/match-lost-creates.ts';

/** For so long (ms) work in steps keeps all else of the process waiting. */
const stretchMs = 20;

/** Does work bit by bit: timers, and what else waits in this process, have their turn meanwhile. */
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

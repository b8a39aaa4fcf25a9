import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '../core/merge/match-lost-creates.ts';

/** How long (ms) work in steps may block the process. */
const stretchMs = 20;

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

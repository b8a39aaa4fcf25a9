import { findIntentRows } from '../../src/core/merge/settle-creates.ts';
import { matchLostCreates, type Steps } from '../../src/core/merge/match-lost-creates.ts';

/** Runs work in steps to its end, without a pause. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** `matchLostCreates`, to its end. */
export function matchCreates(...args: Parameters<typeof matchLostCreates>) {
  return runSteps(matchLostCreates(...args));
}

/** `findIntentRows`, to its end. */
export function intentRows<Row extends Parameters<typeof findIntentRows>[1][number]>(
  intents: Parameters<typeof findIntentRows>[0],
  rows: readonly Row[],
) {
  return runSteps(findIntentRows(intents, rows));
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import { fillQueues, haveForgotten, takeUpLeftRuns } from './fill-queues.ts';

/** Ms between two looks. */
const lookEveryMs = 5_000;

/** Ms for which a look that is under way is waited for at the end. */
const graceMs = 2_000;

/**
 * Looks every few seconds whether the queues still know their schedules, and fills them again from the database when they
 * do not (a Redis that was emptied, or came back without its data), or when they could not be asked for a while. Until it
 * is disposed.
 */
export function keepQueuesFilled(app: App): AsyncDisposable {
  const stop = new AbortController();
  const looking = (async () => {
    let wasAway = false;
    while (await sleep(lookEveryMs, true, { signal: stop.signal }).catch(() => false)) {
      try {
        const forgotten = await haveForgotten(app);
        if (forgotten) app.log.warn('the queues have lost their jobs; they are made again from the database');
        if (forgotten || wasAway) await fillQueues(app);
        else await takeUpLeftRuns(app);
        wasAway = false;
      } catch (error) {
        if (!wasAway && !stop.signal.aborted)
          app.log.warn({ err: error }, 'the queues cannot be looked at; it is tried again');
        wasAway = true;
      }
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.race([looking, sleep(graceMs, undefined, { ref: false })]);
    },
  };
}

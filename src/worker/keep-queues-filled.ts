import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import { fillQueues, haveForgotten, takeUpLeftRuns } from './fill-queues.ts';

/** Ms between two checks. */
const checkEveryMs = 5_000;

/** Ms that a check under way has when the process stops. */
const graceMs = 2_000;

/**
 * Checks every few seconds whether the queues still have their schedules, until it is disposed. When they do not (a Redis
 * that was emptied, or came back without its data), or after an outage, it fills them again from the database.
 */
export function keepQueuesFilled(app: App): AsyncDisposable {
  const stop = new AbortController();
  const checking = (async () => {
    let wasAway = false;
    while (await sleep(checkEveryMs, true, { signal: stop.signal }).catch(() => false)) {
      try {
        const forgotten = await haveForgotten(app);
        if (forgotten) app.log.warn('the queues lost their jobs; leadsync adds them again from the database');
        if (forgotten || wasAway) await fillQueues(app);
        else await takeUpLeftRuns(app);
        wasAway = false;
      } catch (error) {
        if (!wasAway && !stop.signal.aborted)
          app.log.warn({ err: error }, 'the queues do not answer; leadsync tries again');
        wasAway = true;
      }
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.race([checking, sleep(graceMs, undefined, { ref: false })]);
    },
  };
}

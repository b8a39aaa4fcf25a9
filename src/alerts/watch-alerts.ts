import { setTimeout as sleep } from 'node:timers/promises';
import type { AlertContext } from './alert-context.ts';
import { checkAlerts } from './check-alerts.ts';

/** Between two looks, ms. */
const usualMs = 60_000;

/** A mail that is under way may take so long (ms) to end when the process stops; afterwards it is told once more. */
const graceMs = 2_000;

/**
 * Looks for problems every `everyMs` until it is disposed. A timer and no job: an alert that the queue is away, or that its
 * workers are, must not wait for that queue. Every worker does it, so that the dead one's connection is seen by another.
 */
export function watchAlerts(context: AlertContext, everyMs = usualMs): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      // First a minute's patience: a worker that has just started makes up for the night that was missed.
      await sleep(everyMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      await checkAlerts(context, signal).catch((error: unknown) => {
        if (!signal.aborted)
          context.log.warn({ err: error }, 'alerts could not be looked for; it is tried again');
      });
    }
  };
  const watching = watch();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.race([watching, sleep(graceMs, undefined, { ref: false })]);
    },
  };
}

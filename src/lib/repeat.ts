import { setTimeout as sleep } from 'node:timers/promises';

/** Ms that work under way has when the process stops. */
const graceMs = 2_000;

/**
 * Works every `everyMs`, for the first time after that pause, until it is disposed: that aborts the signal and waits at most
 * 2 s for work under way. `work` handles its faults itself.
 */
export function repeat(everyMs: number, work: (stop: AbortSignal) => Promise<void>): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const working = (async () => {
    while (await sleep(everyMs, true, { signal }).catch(() => false)) await work(signal);
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.race([working, sleep(graceMs, undefined, { ref: false })]);
    },
  };
}

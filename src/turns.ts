/** Lets tasks run one at a time, in the order in which they came. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Runs the task when all earlier ones have ended. Throws `signal.reason` as soon as it is aborted while waiting. */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    // Waits for both: a task that gave up its turn must not let the next one overtake those before it.
    this.#last = before.then(() => done);
    try {
      signal.throwIfAborted();
      await untilAborted(before, signal);
      return await task();
    } finally {
      release();
    }
  }
}

/** What is waited for; throws `signal.reason` as soon as it is aborted before. What is waited for goes on then, unseen. */
export async function untilAborted<T>(wait: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([aborted, wait]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

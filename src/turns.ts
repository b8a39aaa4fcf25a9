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
      await untilAborted(before, signal);
      return await task();
    } finally {
      release();
    }
  }
}

async function untilAborted(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([wait, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

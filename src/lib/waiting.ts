import { setTimeout as sleep } from 'node:timers/promises';

/** Limits the number of concurrent tasks; the others wait, first come, first served. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  get isCrowded(): boolean {
    return this.#waiting.length > 0;
  }

  /** Waits for a turn; disposing the result ends it. Rejects with the reason of `signal` when that aborts while waiting. */
  async acquire(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    return {
      [Symbol.dispose]: () => {
        const next = this.#waiting.shift();
        if (next === undefined) this.#free++;
        else next();
      },
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal?.reason as Error);
      };
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      this.#waiting.push(begin);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }
}

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

/** Settles as `wait` does, or rejects with the reason of `signal` when that aborts first: then the outcome of `wait` is lost. */
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

/** Of work that nothing ends early. */
export const never = new AbortController().signal;

import { Semaphore } from '../../semaphore.ts';

/** A turn to hand over a mail; dispose at the end. */
export interface TakenTurn extends Disposable {
  /** Counts the turn from now on, as a mail is handed over. */
  used(): void;
}

/**
 * Limits sending: at most `connections` at once, and `rate` per second (absent: unlimited). A rate of 0.2 is one per five
 * seconds.
 *
 * A used turn rests for that time after its mail has ended, so that the limit holds on arrival, however long a mail takes.
 */
export class MailTurns {
  readonly #connections: Semaphore;
  readonly #rate: { readonly slots: Semaphore; readonly restMs: number } | null;

  constructor(connections: number, rate: number | undefined) {
    this.#connections = new Semaphore(connections);
    const mails = Math.max(1, Math.floor(rate ?? 1));
    this.#rate =
      rate === undefined
        ? null
        : { slots: new Semaphore(mails), restMs: Math.ceil((1000 * mails) / rate) + timerSlackMs };
  }

  /** Waits for a turn, first come, first served. Rejects with the reason of `signal` when aborted. */
  async take(signal?: AbortSignal): Promise<TakenTurn> {
    const counted = await this.#rate?.slots.acquire(signal);
    const connection = await this.#connections.acquire(signal).catch((error: unknown) => {
      counted?.[Symbol.dispose]();
      throw error;
    });
    let isUsed = false;
    return {
      used: () => {
        isUsed = true;
      },
      [Symbol.dispose]: () => {
        connection[Symbol.dispose]();
        if (!isUsed || this.#rate === null) return counted?.[Symbol.dispose]();
        setTimeout(() => counted?.[Symbol.dispose](), this.#rate.restMs).unref();
      },
    };
  }
}

/** Timers may be this many ms early, and servers have their own clocks. */
const timerSlackMs = 5;

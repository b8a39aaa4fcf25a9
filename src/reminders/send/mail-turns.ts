import { Semaphore } from '../../semaphore.ts';

/** Of a turn to hand a mail to the server; given back when that has ended. */
export interface TakenTurn extends Disposable {
  /** A mail is handed to the server now: counted from then on. */
  used(): void;
}

/**
 * The turns in which mails are handed to the server: at most `connections` at once, and `rate` in any second (absent: as
 * fast as the server takes them). A rate of 0.2 is one in any five seconds.
 *
 * A turn that was used rests for that time after its mail has ended, so that the limit holds where the mails arrive, however
 * long one is on its way.
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

  /** Waits for a turn, in the order in which they are asked for. Rejects with the reason of `signal` when that aborts. */
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

/** Timers may be early by so many ms, and a server counts by a clock of its own. */
const timerSlackMs = 5;

import { Semaphore } from '../../lib/semaphore.ts';
import { machineNow } from '../../store/database-time.ts';

/** For the connection and the server's greeting, ms. */
export const connectMs = 20_000;

/** Inactivity limit, ms. Short limits cause unknown outcomes: RFC 5321, 4.5.3.2.6 grants the server ten minutes. */
export const silenceMs = 120_000;

/** A mail that was handed over is abandoned after this time (ms), even if data still flows. */
export const longestSendMs = 2 * connectMs + 2 * silenceMs;

/** Elapsed ms. The wall clock covers the machine's sleep, the monotonic one a clock set back: the longer time counts. */
export function stopwatch(): () => number {
  const [date, steady] = [machineNow(), performance.now()];
  return () => Math.max(machineNow() - date, performance.now() - steady);
}

/** A turn to hand over a mail; dispose at the end. */
export interface TakenTurn extends Disposable {
  /** Counts the turn from now on, as a mail is handed over. */
  used(): void;
}

/**
 * At most `connections` at once, and `rate` per second (absent: unlimited). A used turn rests for that time after its mail has ended, so that
 * the limit holds on arrival.
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

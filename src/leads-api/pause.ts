import type { Clock } from '../sync/clock.ts';
import type { Throttle } from '../sync/leads-port.ts';
import { backoffMs, retryAfterMs } from '../retry-after.ts';
import type { ReplyHead } from '../http/exchange.ts';
import { LeadsApiError } from './leads-api-error.ts';

/** Added to every wait: what clocks and timers may differ by, so that no request is early. */
const marginMs = 100;

/** For so long (ms) after its last pause a service counts as one that limits requests. */
const latelyMs = 24 * 3_600_000;

/** Obeys 429 (API reference, sections 7 and 8) through the throttle that all processes with this key share. */
export class Pause {
  readonly #throttle: Throttle;
  readonly #clock: Clock;
  /** As the throttle's, for this object: holds even when the throttle could not be written. */
  #until = 0;
  #consecutive = 0;

  constructor(throttle: Throttle, clock: Clock) {
    this.#throttle = throttle;
    this.#clock = clock;
  }

  /**
   * Throws `leads.rate-limited` when no request may leave yet. Returns whether the service has limited this key lately:
   * then it may do so at any time, and one process at a time should ask.
   */
  async check(): Promise<{ readonly limitedLately: boolean }> {
    const until = Math.max(this.#until, await this.#throttle.notBefore());
    const remaining = until - this.#clock.now();
    if (remaining > 0) {
      throw rateLimited(remaining, 'No request was sent: the Leads service asked to wait', {});
    }
    return { limitedLately: remaining > -latelyMs };
  }

  /**
   * Takes note of a reply; for a 429 the throttle is moved before this returns. The wait counts from the moment the
   * headers were here, which is later than the moment the service meant. Returns null for any other status; a 503 that
   * says when to come back (RFC 9110, section 10.2.3) moves the throttle all the same.
   */
  async note(head: ReplyHead): Promise<{ readonly asked: boolean } | null> {
    const limited = head.status === 429;
    this.#consecutive = limited ? this.#consecutive + 1 : 0;
    if (!limited && head.status !== 503) return null;
    const date = head.headers['date'];
    const asked = retryAfterMs(
      head.headers['retry-after'],
      typeof date === 'string' ? date : undefined,
      head.receivedAt,
    );
    if (!limited && asked === null) return null;
    this.#until =
      head.receivedAt + (asked ?? backoffMs(this.#consecutive, () => this.#clock.random())) + marginMs;
    await this.#throttle.pauseUntil(this.#until);
    return limited ? { asked: asked !== null } : null;
  }

  /** The error for the 429 that was noted last. */
  error(apiCode: string | null): LeadsApiError {
    const remaining = Math.max(0, this.#until - this.#clock.now());
    return rateLimited(remaining, 'The Leads service did not act on the request (429) and asks to wait', {
      status: 429,
      apiCode,
    });
  }
}

function rateLimited(
  retryMs: number,
  sentence: string,
  reply: { readonly status?: number; readonly apiCode?: string | null },
): LeadsApiError {
  return new LeadsApiError('leads.rate-limited', `${sentence}; ${Math.ceil(retryMs / 1000)} s remain.`, {
    ...reply,
    retry: 'later',
    retryAfterMs: Math.ceil(retryMs),
  });
}

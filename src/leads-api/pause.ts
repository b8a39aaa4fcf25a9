import type { Clock } from '../sync/clock.ts';
import type { Outlook, Throttle } from '../sync/leads-port.ts';
import { untilAborted } from '../turns.ts';
import { backoffMs, longestWaitMs, retryAfterMs } from '../retry-after.ts';
import type { ReplyHead } from '../http/exchange.ts';
import { LeadsApiError } from './leads-api-error.ts';
import {
  answered,
  type Burst,
  firstPace,
  longer,
  type Pace,
  rateOf,
  readPace,
  refused,
  sent,
} from './pace.ts';

/** Added to every wait: what clocks and timers may differ by, so that no request is early. */
const marginMs = 100;

/** For so long (ms) after its last pause a service counts as one that limits requests. */
const latelyMs = 24 * 3_600_000;

/**
 * What would have to wait longer (ms) for the pace is put off: whoever asks comes back later, and holds nothing
 * meanwhile. But not a write, which follows a look at what it writes over, nor what follows a write: all of it would be
 * done again, each time.
 */
const longestSleepMs = 2_000;

/** The same while others wait for whoever asks to be done. */
const longestCrowdedSleepMs = 50;

/** What is known before a request. */
interface Permission {
  /** The service has limited this key lately: it may do so at any time, and one process at a time should ask. */
  readonly limitedLately: boolean;
  /** Ms until the pace lets the request leave. */
  readonly waitMs: number;
}

/**
 * Obeys 429 (API reference, sections 7 and 8), and keeps to the pace that was learned from it, through the throttle that all
 * processes with this key share. For each request: `check`, `leave`, `note`.
 */
export class Pause {
  readonly #throttle: Throttle;
  readonly #clock: Clock;
  readonly #isCrowded: () => boolean;
  /** As the throttle's, for this object: holds while the throttle is not written, also when it cannot be. */
  #until = 0;
  /** What was asked for last. */
  #askedUntil = 0;
  #consecutive = 0;
  /** As it was found by the last check. */
  #pace: Pace | null = null;
  #aheadMs = 0;
  /** While there is no pace. */
  #burst: Burst | null = null;
  #lastAt = 0;

  /** `isCrowded`: whether others wait for whoever asks to be done. */
  constructor(throttle: Throttle, clock: Clock, isCrowded: () => boolean) {
    this.#throttle = throttle;
    this.#clock = clock;
    this.#isCrowded = isCrowded;
  }

  /** Throws `leads.rate-limited` when no request may leave yet. `mayPutOff`: see `longestSleepMs`. */
  async check(mayPutOff: boolean): Promise<Permission> {
    const { remaining, limitedLately, pace, aheadMs } = await this.#look();
    if (remaining > 0) {
      throw rateLimited(remaining, 'No request was sent: the Leads service asked to wait', {});
    }
    this.#aheadMs = aheadMs;
    this.#pace = pace;
    const waitMs = this.#pace === null ? 0 : Math.max(0, this.#pace.nextAt - this.#sharedTime());
    if (mayPutOff && waitMs > (this.#isCrowded() ? longestCrowdedSleepMs : longestSleepMs))
      throw rateLimited(waitMs, 'No request was sent: the Leads service refuses more at a time', {});
    return { limitedLately, waitMs };
  }

  /** As `LeadsPort` says. */
  async outlook(): Promise<Outlook> {
    const { remaining, pace } = await this.#look();
    return { pauseMs: Math.max(0, remaining), perSecond: pace && rateOf(pace) };
  }

  /** `remaining`: ms of the pause, below zero when it is over. */
  async #look() {
    const { notBefore, pace, aheadMs } = await this.#throttle.look();
    const remaining = Math.max(this.#until, notBefore) - this.#clock.now();
    const limitedLately = remaining > -latelyMs;
    const read = limitedLately ? readPace(pace, this.#clock.now() - aheadMs) : null;
    return { remaining, limitedLately, pace: read, aheadMs };
  }

  /** A request leaves now. */
  leave(): void {
    this.#pace &&= sent(this.#pace, this.#sharedTime());
  }

  /**
   * Takes note of a reply; for a 429 the throttle is moved before this returns. Throws the signal's reason when it is
   * aborted before that: then the throttle is still moved, as soon as it can be. The wait counts from the moment the
   * headers were here, which is later than the moment the service meant. Returns null for any other status; a 503 that
   * says when to come back (RFC 9110, section 10.2.3) moves the throttle all the same.
   */
  async note(
    head: ReplyHead,
    signal: AbortSignal,
  ): Promise<{ readonly asked: boolean; readonly longest: boolean } | null> {
    const limited = head.status === 429;
    this.#consecutive = limited ? this.#consecutive + 1 : 0;
    if (!limited) await this.#keepPace(head.receivedAt);
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
    this.#askedUntil = this.#until;
    if (!limited) {
      await this.#share(this.#until, signal);
      return null;
    }
    const waitMs = this.#until - head.receivedAt;
    const now = head.receivedAt - this.#aheadMs;
    const pace = this.#pace === null ? firstPace(this.#burst, now, waitMs) : refused(this.#pace, now, waitMs);
    this.#burst = null;
    await this.#share(this.#until, signal, pace);
    return { asked: asked !== null, longest: asked === longestWaitMs };
  }

  /** From then on the throttle alone counts: a person may end the wait there. */
  async #share(until: number, signal: AbortSignal, pace: Pace | null = null): Promise<void> {
    const noted = pace === null ? this.#throttle.pauseUntil(until) : this.#throttle.pauseUntil(until, pace);
    await untilAborted(noted, signal);
    if (this.#until === until) this.#until = 0;
  }

  async #keepPace(receivedAt: number): Promise<void> {
    if (this.#pace === null) {
      const now = receivedAt - this.#aheadMs;
      this.#burst = longer(this.#burst, this.#lastAt, now);
      this.#lastAt = now;
      return;
    }
    // The reply counts more than the pace, which is only older then.
    await this.#throttle.keepPace(answered(this.#pace)).catch(() => {});
  }

  /** Epoch ms, as all processes have it. */
  #sharedTime(): number {
    return this.#clock.now() - this.#aheadMs;
  }

  /** The error for the 429 that was noted last. */
  error(apiCode: string | null): LeadsApiError {
    const remaining = Math.max(0, this.#askedUntil - this.#clock.now());
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

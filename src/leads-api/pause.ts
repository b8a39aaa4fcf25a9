import type { Clock } from '../sync/clock.ts';
import type { Outlook, Throttle, Throttled } from '../sync/leads-port.ts';
import { untilAborted } from '../turns.ts';
import { backoffMs, longestWaitMs, retryAfterMs } from '../retry-after.ts';
import type { ReplyHead } from '../http/exchange.ts';
import { LeadsApiError } from './leads-api-error.ts';
import { type Pace, readPace, refused, sent } from './pace.ts';

/** Added to every wait: what clocks and timers may differ by, so that no request is early. */
const marginMs = 100;

/** For so long (ms) after its last pause a service counts as one that limits requests. */
const latelyMs = 24 * 3_600_000;

/** A request may leave for so long (ms) after it was looked whether it may: a process that was paused looks again. */
const freshMs = 500;

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
  /** Ms until the pace lets the request leave. */
  readonly waitMs: number;
  /** Whether it may still leave by what was seen; else it is looked again. */
  readonly isFresh: () => boolean;
}

/** A look at the throttle that has begun. */
interface Look {
  readonly found: Promise<Throttled>;
  readonly isFresh: () => boolean;
}

/**
 * Obeys 429 (API reference, sections 7 and 8), and keeps to the pace that was learned from it, through the throttle that all
 * processes with this key share. For each request: `take`, `note`; then `lookAhead`.
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
  /** With the turn that was taken last. */
  #pace: Pace | null = null;
  #aheadMs = 0;
  /** For the next request. */
  #ahead: Look | null = null;

  /** `isCrowded`: whether others wait for whoever asks to be done. */
  constructor(throttle: Throttle, clock: Clock, isCrowded: () => boolean) {
    this.#throttle = throttle;
    this.#clock = clock;
    this.#isCrowded = isCrowded;
  }

  /**
   * Takes the turn to send a request, which no other process has then; `waitMs` above zero: it comes so much later, and is
   * to be asked for again. Throws `leads.rate-limited` when no request may leave yet. `mayPutOff`: see `longestSleepMs`;
   * `isLate`: something is still to be done before it leaves, so that only a look from now on is fresh then.
   */
  async take(mayPutOff: boolean, isLate = false): Promise<Permission> {
    if (isLate) this.#ahead = null;
    for (;;) {
      const { remaining, stored, pace, isFresh } = await this.#look();
      if (remaining > 0)
        throw rateLimited(remaining, 'No request was sent: the Leads service asked to wait', {});
      const now = this.#sharedTime();
      const waitMs = pace === null ? 0 : Math.max(0, pace.nextAt - now);
      if (mayPutOff && waitMs > (this.#isCrowded() ? longestCrowdedSleepMs : longestSleepMs))
        throw rateLimited(waitMs, 'No request was sent: the Leads service refuses more at a time', {});
      if (waitMs > 0) return { waitMs, isFresh };
      this.#pace = pace && sent(pace, now);
      if (pace === null || (await this.#throttle.movePace(stored, this.#pace))) return { waitMs, isFresh };
    }
  }

  /** Begins the look that the next request needs; one that fails is made again then. */
  lookAhead(): void {
    const look = this.#beginLook();
    this.#ahead = look;
    look.found.catch(() => {
      if (this.#ahead === look) this.#ahead = null;
    });
  }

  /** As `LeadsPort` says. */
  async outlook(): Promise<Outlook> {
    const { remaining, pace } = await this.#look();
    return { pauseMs: Math.max(0, remaining), perSecond: pace && pace.rate };
  }

  #beginLook(): Look {
    // The process may be held still at any moment, also while it waits for the answer.
    const from = performance.now();
    const { pauses } = this.#throttle;
    const isFresh = (): boolean => pauses === this.#throttle.pauses && performance.now() - from <= freshMs;
    return { found: this.#throttle.look(), isFresh };
  }

  /** `remaining`: ms of the pause, below zero when it is over. `stored`: the pace as the throttle has it. */
  async #look() {
    const { found, isFresh } = this.#ahead?.isFresh() ? this.#ahead : this.#beginLook();
    this.#ahead = null;
    const { notBefore, pace: stored, aheadMs } = await found;
    this.#aheadMs = aheadMs;
    const remaining = Math.max(this.#until, notBefore) - this.#clock.now();
    const pace = remaining > -latelyMs ? readPace(stored, this.#sharedTime()) : null;
    return { remaining, stored, pace, isFresh };
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
    if (!limited && head.status !== 503) return null;
    const date = head.headers['date'];
    const asked = retryAfterMs(
      head.headers['retry-after'],
      typeof date === 'string' ? date : undefined,
      head.receivedAt,
    );
    if (!limited && asked === null) return null;
    const isFirst = head.receivedAt >= this.#askedUntil;
    this.#until =
      head.receivedAt + (asked ?? backoffMs(this.#consecutive, () => this.#clock.random())) + marginMs;
    this.#askedUntil = this.#until;
    if (!limited) {
      await this.#share(this.#until, signal);
      return null;
    }
    // What was under way with the request that was refused first says nothing more of the rate.
    const pace = isFirst
      ? refused(this.#pace, head.receivedAt - this.#aheadMs, this.#until - head.receivedAt)
      : null;
    await this.#share(this.#until, signal, pace);
    return { asked: asked !== null, longest: asked === longestWaitMs };
  }

  /** From then on the throttle alone counts: a person may end the wait there. */
  async #share(until: number, signal: AbortSignal, pace: Pace | null = null): Promise<void> {
    const noted = pace === null ? this.#throttle.pauseUntil(until) : this.#throttle.pauseUntil(until, pace);
    await untilAborted(noted, signal);
    if (this.#until === until) this.#until = 0;
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

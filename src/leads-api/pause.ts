import type { Clock } from '../ports/clock.ts';
import type { Outlook, Throttle, Throttled } from '../ports/leads-service.ts';
import { untilAborted } from '../until-aborted.ts';
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
export interface Permission {
  /** Ms until the pace lets the request leave. */
  readonly waitMs: number;
  /** The service has limited this key within the last day, and may do so at any time. */
  readonly limitedLately: boolean;
  /** Whether it may still leave by what was seen; else it is looked again. */
  readonly isFresh: () => boolean;
  /** Whether this process was told of no pause since; asked in the moment in which the request is written. */
  readonly isCurrent: () => boolean;
}

/** A look at the throttle that has begun. */
interface Look extends Pick<Permission, 'isFresh' | 'isCurrent'> {
  readonly found: Promise<Throttled>;
}

/**
 * Obeys 429 (API reference, sections 7 and 8), and keeps to the pace that was learned from it, through the throttle that all
 * processes with this key share. For each request: `take`, `note`; then `lookAhead`.
 */
export class Pause {
  readonly #throttle: Throttle;
  readonly #clock: Clock;
  readonly #isCrowded: () => boolean;
  /** What was asked for last (epoch ms). */
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
      const look = await this.#look();
      const { remaining, stored, pace } = look;
      if (remaining > 0)
        throw rateLimited(remaining, 'No request was sent: the Leads service asked to wait', {});
      const now = this.#sharedTime();
      const waitMs = pace === null ? 0 : Math.max(0, pace.nextAt - now);
      if (mayPutOff && waitMs > (this.#isCrowded() ? longestCrowdedSleepMs : longestSleepMs))
        throw rateLimited(waitMs, 'No request was sent: the Leads service refuses more at a time', {});
      if (waitMs > 0) return { ...look, waitMs };
      this.#pace = pace && sent(pace, now);
      if (pace === null || (await this.#throttle.movePace(stored, this.#pace))) return { ...look, waitMs };
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
    const isCurrent = (): boolean => pauses === this.#throttle.pauses;
    const isFresh = (): boolean => isCurrent() && performance.now() - from <= freshMs;
    return { found: this.#throttle.look(), isFresh, isCurrent };
  }

  /** `remaining`: ms of the pause, below zero when it is over. `stored`: the pace as the throttle has it. */
  async #look() {
    const { found, isFresh, isCurrent } = this.#ahead?.isFresh() ? this.#ahead : this.#beginLook();
    this.#ahead = null;
    const { notBefore, pace: stored, aheadMs } = await found;
    this.#aheadMs = aheadMs;
    const remaining = notBefore - this.#clock.now();
    const limitedLately = remaining > -latelyMs;
    const pace = limitedLately ? readPace(stored, this.#sharedTime()) : null;
    return { remaining, limitedLately, stored, pace, isFresh, isCurrent };
  }

  /**
   * Takes note of a reply: of a 429 this process knows when the call returns, and the throttle is moved when the promise
   * does. Throws the signal's reason when it is aborted before that: then the throttle is still moved, as soon as it can
   * be. The wait counts from the moment the headers were here, which is later than the moment the service meant. Returns
   * null for any other status; a 503 that says when to come back (RFC 9110, section 10.2.3) moves the throttle all the same.
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
    this.#askedUntil =
      head.receivedAt + (asked ?? backoffMs(this.#consecutive, () => this.#clock.random())) + marginMs;
    const until = this.#askedUntil;
    // What was under way with the request that was refused first says nothing more of the rate.
    const pace =
      limited && isFirst
        ? refused(this.#pace, head.receivedAt - this.#aheadMs, until - head.receivedAt)
        : null;
    const noted = this.#throttle.pauseUntil(until, ...(pace === null ? [] : [pace]));
    await untilAborted(noted, signal);
    return limited ? { asked: asked !== null, longest: asked === longestWaitMs } : null;
  }

  /** The error for a request that was about to be written when this process was told to wait. */
  stopped(): LeadsApiError {
    const remaining = Math.max(0, this.#askedUntil - this.#clock.now());
    return rateLimited(remaining, 'No request was sent: the Leads service asked to wait', {});
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

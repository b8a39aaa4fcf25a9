import type { Clock } from '../ports/clock.ts';
import type { Outlook, Throttle, Throttled } from '../ports/leads-service.ts';
import { untilAborted } from '../lib/waiting.ts';
import { backoffMs, longestWaitMs, retryAfterMs } from '../lib/retry-after.ts';
import type { ReplyHead } from '../http/exchange.ts';
import { LeadsApiError } from './leads-api-error.ts';
import { z } from 'zod';

/** Added to every wait (ms), for differences between clocks and timers: no request may be early. */
const marginMs = 100;

/** A service counts as limiting requests for this long (ms) after its last pause. */
const latelyMs = 24 * 3_600_000;

/** How long (ms) a check of the throttle is valid: a process that was suspended checks again. */
const freshMs = 500;

/** How long (ms) it also serves requests that come later: they have the rest of `freshMs` to leave. */
const sharedMs = 250;

/** Requests that may yield and would wait longer (ms) are refused. Writes may not yield: the reads before them would be repeated each time. */
const longestSleepMs = 2_000;

/** The same while others wait for the caller. */
const longestCrowdedSleepMs = 50;

export interface Permission {
  readonly waitMs: number;
  /** The service limited this key within the last day, and may do so again at any time. */
  readonly limitedLately: boolean;
  readonly isFresh: () => boolean;
  /** Whether no pause became known since; checked as the request is written. */
  readonly isCurrent: () => boolean;
}

interface ThrottleCheck extends Pick<Permission, 'isFresh' | 'isCurrent'> {
  readonly found: Promise<Throttled>;
  readonly isShared: () => boolean;
}

/** Obeys 429 (API reference, sections 7 and 8) and keeps the pace learned from it. For each request: `acquire`, then `note`. */
export class RateLimiter {
  readonly #throttle: Throttle;
  readonly #clock: Clock;
  readonly #isCrowded: () => boolean;
  /** End of the last wait the service asked for (epoch ms). */
  #askedUntil = 0;
  #consecutive = 0;
  /** As of the last acquired turn. */
  #pace: Pace | null = null;
  #aheadMs = 0;
  /** The last one; null: another has to be made. */
  #last: ThrottleCheck | null = null;

  /** `isCrowded`: whether others wait for the caller. */
  constructor(throttle: Throttle, clock: Clock, isCrowded: () => boolean) {
    this.#throttle = throttle;
    this.#clock = clock;
    this.#isCrowded = isCrowded;
  }

  /**
   * Acquires the turn to send one request, which no other process gets. `waitMs` above zero: not acquired, ask again
   * after that. Throws `leads.rate-limited` when no request may leave yet. `mayYield`: see `longestSleepMs`.
   */
  async acquire(mayYield: boolean): Promise<Permission> {
    for (;;) {
      const check = await this.#check();
      const { remaining, stored, pace } = check;
      if (remaining > 0) throw rateLimited(remaining, askedToWait);
      const now = this.#sharedTime();
      const waitMs = pace === null ? 0 : Math.max(0, pace.nextAt - now);
      if (mayYield && waitMs > (this.#isCrowded() ? longestCrowdedSleepMs : longestSleepMs))
        throw rateLimited(waitMs, 'No request was sent: the pace of the Leads service is used up');
      if (waitMs > 0) return { ...check, waitMs };
      this.#pace = pace && sent(pace, now);
      if (pace === null || (await this.#throttle.movePace(stored, this.#pace))) return { ...check, waitMs };
    }
  }

  async outlook(): Promise<Outlook> {
    const { remaining, pace } = await this.#check();
    return { pauseMs: Math.max(0, remaining), perSecond: pace && pace.rate };
  }

  #beginCheck(): ThrottleCheck {
    // The process may be suspended while it waits for the answer.
    const from = performance.now();
    const { pauses } = this.#throttle;
    const isCurrent = (): boolean => pauses === this.#throttle.pauses;
    const isFresh = (): boolean => isCurrent() && performance.now() - from <= freshMs;
    const sharedUntil = this.#clock.now() + sharedMs;
    const check = {
      found: this.#throttle.look(),
      isCurrent,
      isFresh,
      isShared: () => isFresh() && this.#clock.now() <= sharedUntil,
    };
    this.#last = check;
    check.found.catch(() => {
      if (this.#last === check) this.#last = null;
    });
    return check;
  }

  /** `remaining`: ms of the pause, negative when it is over. `stored`: the throttle's pace. */
  async #check() {
    const check = this.#last?.isShared() === true ? this.#last : this.#beginCheck();
    const { found, isFresh, isCurrent } = check;
    const { notBefore, pace: stored, aheadMs } = await found;
    this.#aheadMs = aheadMs;
    const remaining = notBefore - this.#clock.now();
    const limitedLately = remaining > -latelyMs;
    const pace = limitedLately ? readPace(stored, this.#sharedTime()) : null;
    // A turn of the pace is that of one request, and a person may end a pause.
    if ((pace !== null || remaining > 0) && this.#last === check) this.#last = null;
    return { remaining, limitedLately, stored, pace, isFresh, isCurrent };
  }

  /**
   * Records a reply. This process knows of a 429 when the call returns, the shared throttle when the promise resolves.
   * Throws the signal's reason when aborted first; the throttle is still updated. The wait counts from the arrival of
   * the headers. Null for any status but 429; a 503 with Retry-After (RFC 9110, section 10.2.3) still updates the
   * throttle.
   */
  async note(
    head: ReplyHead,
    signal: AbortSignal,
  ): Promise<{ readonly asked: boolean; readonly longest: boolean } | null> {
    const limited = head.status === 429;
    this.#consecutive = limited ? this.#consecutive + 1 : 0;
    if (!limited && head.status !== 503) return null;
    const asked = retryAfterMs(head.headers['retry-after'], head.headers['date'], head.receivedAt);
    if (!limited && asked === null) return null;
    const isFirst = head.receivedAt >= this.#askedUntil;
    this.#askedUntil =
      head.receivedAt + (asked ?? backoffMs(this.#consecutive, () => this.#clock.random())) + marginMs;
    const until = this.#askedUntil;
    // Requests under way at the first refusal say nothing more about the rate.
    const pace =
      limited && isFirst
        ? refused(this.#pace, head.receivedAt - this.#aheadMs, until - head.receivedAt)
        : null;
    const noted = this.#throttle.pauseUntil(until, ...(pace === null ? [] : [pace]));
    await untilAborted(noted, signal);
    return limited ? { asked: asked !== null, longest: asked === longestWaitMs } : null;
  }

  /** For a request that a pause stopped just before sending. */
  stopped(): LeadsApiError {
    return this.#limited(askedToWait);
  }

  /** Epoch ms, by the clock that all processes share. */
  #sharedTime(): number {
    return this.#clock.now() - this.#aheadMs;
  }

  error(apiCode: string | null): LeadsApiError {
    const sentence = 'The Leads service did not act on the request (429) and asks to wait';
    return this.#limited(sentence, { status: 429, apiCode });
  }

  #limited(sentence: string, reply = {}): LeadsApiError {
    return rateLimited(Math.max(0, this.#askedUntil - this.#clock.now()), sentence, reply);
  }
}

const askedToWait = 'No request was sent: the Leads service asked to wait';

function rateLimited(retryMs: number, sentence: string, reply = {}): LeadsApiError {
  return new LeadsApiError('leads.rate-limited', `${sentence}; ${Math.ceil(retryMs / 1000)} s remain.`, {
    ...reply,
    retry: 'later',
    retryAfterMs: Math.ceil(retryMs),
  });
}

/**
 * The request rate that a service allows, learned from its 429s: the reference says only that there is a limit (section
 * 8). The rate grows with each request and falls with each 429. Plain data, shared by all processes with one key; times
 * are epoch ms of the store's clock.
 */
const schema = z.object({
  rate: z
    .number()
    .gte(1 / 60)
    .lte(1000),
  step: z.number().gt(0).lte(1),
  /** No request may leave earlier. */
  nextAt: z.number(),
  /** End of the last pause. */
  since: z.number(),
});

export type Pace = Readonly<z.infer<typeof schema>>;

/** The first 429 tells no rate: the search starts here, and each further one halves the step. */
const first = { rate: 5, step: 0.1 };

/** Lower bounds of the step: doubling the rate takes some minutes, or many requests. */
const leastStep = { of: 0.004, ofRate: 0.002 };

/** The factor after a 429, and after one that comes this soon (ms) after another's pause. */
const left = { usually: 0.9, soon: 0.5, soonMs: 2_000 };

/** Requests per second, at least: a service that always answers 429 must not stop the sync. */
const slowest = 0.7;

/** A longer wait (ms) means an hourly or daily quota: spreading it evenly would only slow things down. */
const longestPacedMs = 90_000;

/** The pace after a request; the next one is due a gap later. */
export function sent(pace: Pace, now: number): Pace {
  const gap = 1000 / pace.rate;
  // Only a rate that was used suggests that a higher one works.
  const isTried = now - pace.nextAt < gap;
  return {
    ...pace,
    rate: Math.min(1000, pace.rate + (isTried ? pace.step : 0)),
    nextAt: now + gap,
  };
}

/** The pace after a 429 that asks to wait this long (ms). Null: pacing does not help. */
export function refused(pace: Pace | null, now: number, waitMs: number): Pace | null {
  if (waitMs > longestPacedMs) return null;
  const nextAt = now + waitMs;
  if (pace === null) return { ...first, nextAt, since: nextAt };
  const lower = pace.rate * (now - pace.since < left.soonMs ? left.soon : left.usually);
  const rate = Math.max(lower, slowest);
  const step = Math.max(pace.step / 2, Math.min(leastStep.of, leastStep.ofRate * rate));
  return { rate, step, nextAt, since: nextAt };
}

/** Null when invalid or of another version. The clock may have been set back since `now`: nothing is due later than the longest wait. */
export function readPace(stored: unknown, now: number): Pace | null {
  const pace = schema.safeParse(stored).data ?? null;
  if (pace === null || pace.nextAt - now <= longestPacedMs) return pace;
  return { ...pace, nextAt: now, since: now };
}

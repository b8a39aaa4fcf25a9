import { hash } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { LeadsyncError } from '../../lib/errors.ts';
import type { ReplyHead } from '../../http/exchange.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import { type Clock, perClock } from '../../ports/clock.ts';
import { Semaphore } from '../../lib/semaphore.ts';

/** Window of HubSpot's limit per app. */
const windowMs = 10_000;
const secondMs = 1_000;
/** Interval between attempts while the end of the portal's day is unknown. */
const zoneUnknownMs = 3_600_000;
/** Random delay after midnight, when the daily limit ends, so that clients do not all return together. */
const mostJitterMs = 5 * 60_000;

/** What one token may send, by HubSpot's headers and refusals. Does not wait: throws with the time to wait. */
export class RateLimits {
  readonly oneAtATime = new Semaphore(1);
  readonly #clock: Clock;
  #shut = { from: 0, until: 0, day: null as string | null };
  /** The portal's IANA time zone, at whose midnight the daily limit ends; null: unknown. */
  #zone: string | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  setZone(name: string): void {
    try {
      Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
      this.#zone = name;
    } catch {
      // Unknown here: the day ends when HubSpot accepts requests again.
    }
  }

  check(): void {
    const now = this.#clock.now();
    // After the clock was set back, the limit must not last longer.
    if (now < this.#shut.from)
      this.#shut = { ...this.#shut, from: now, until: now + this.#shut.until - this.#shut.from };
    const waitMs = this.#shut.until - now;
    if (waitMs > 0) throw this.#rateLimited('No request was sent', waitMs);
  }

  /** Records what a reply leaves over. Search replies and some others lack the headers. */
  note(head: ReplyHead): void {
    if (number(head, 'x-hubspot-ratelimit-daily-remaining') === 0) this.#shutForDay(head.receivedAt);
    if (number(head, 'x-hubspot-ratelimit-remaining') === 0)
      this.#shutFor(intervalMs(head) ?? windowMs, head.receivedAt);
  }

  /** The fault of a 429; `policy`: `policyName` in the body. */
  refused(head: ReplyHead, policy: string | null): LeadsyncError {
    const asked = askedWaitMs(head);
    if (asked !== null) this.#shutFor(asked, head.receivedAt);
    else if (policy === 'DAILY') this.#shutForDay(head.receivedAt);
    else this.#shutFor(policy === 'SECONDLY' ? secondMs : (intervalMs(head) ?? windowMs), head.receivedAt);
    const remains = Math.max(1, this.#shut.until - this.#clock.now());
    const named = policy === null ? '429' : `429, ${policy}`;
    return this.#rateLimited(`HubSpot did not act on the request (${named})`, remains);
  }

  #shutFor(waitMs: number, receivedAt: number, day: string | null = null): void {
    const until = receivedAt + waitMs;
    if (until > this.#shut.until) this.#shut = { from: receivedAt, until, day };
    else this.#shut = { ...this.#shut, from: receivedAt };
  }

  #shutForDay(now: number): void {
    if (this.#zone === null) {
      this.#shutFor(zoneUnknownMs, now, "until midnight in the portal's time zone, which is not known yet");
      return;
    }
    const here = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(this.#zone);
    const midnight = here.add({ days: 1 }).startOfDay();
    const waitMs = midnight.epochMilliseconds - now + Math.floor(this.#clock.random() * mostJitterMs);
    const until = midnight.toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ');
    this.#shutFor(waitMs, now, `until ${until} in the portal's time zone (${this.#zone})`);
  }

  #rateLimited(what: string, waitMs: number): LeadsyncError {
    const { day } = this.#shut;
    const why = day === null ? "HubSpot's limit is used up" : `HubSpot's daily limit is used up ${day}`;
    const remains = `${Math.ceil(waitMs / 1000)} s remain`;
    return new LeadsyncError('target.rate-limited', `${what}: ${why}; ${remains}.`, {
      retry: 'later',
      retryAfterMs: Math.ceil(waitMs),
    });
  }
}

const limitsOf = perClock((clock) => new RateLimits(clock));

export const rateLimitsOf = (clock: Clock, apiUrl: string, token: string): RateLimits =>
  limitsOf(clock, `${apiUrl} ${hash('sha256', token)}`);

/** The wait that Retry-After asks for (ms); null: none. */
function askedWaitMs({ headers, receivedAt }: ReplyHead): number | null {
  const date = headers['date'];
  return retryAfterMs(headers['retry-after'], typeof date === 'string' ? date : undefined, receivedAt);
}

function intervalMs(head: ReplyHead): number | null {
  const ms = number(head, 'x-hubspot-ratelimit-interval-milliseconds');
  return ms !== null && ms > 0 ? ms : null;
}

function number({ headers }: ReplyHead, name: string): number | null {
  const text = headers[name];
  return typeof text === 'string' && /^\d{1,12}$/.test(text.trim()) ? Number(text) : null;
}

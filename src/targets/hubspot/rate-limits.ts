import { hash } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { LeadsyncError } from '../../errors.ts';
import type { ReplyHead } from '../../http/exchange.ts';
import { retryAfterMs } from '../../retry-after.ts';
import type { Clock } from '../../ports/clock.ts';
import { Semaphore } from '../../semaphore.ts';

/** HubSpot's window of the limit for one app. */
const windowMs = 10_000;
const secondMs = 1_000;
/** As long as nobody knows when the portal's day ends, it is asked again after so long. */
const zoneUnknownMs = 3_600_000;
/** After the midnight at which the daily limit ends, at random, so that not all come at once. */
const mostJitterMs = 5 * 60_000;

/**
 * What one token may send, by the headers and refusals of HubSpot (usage guidelines). Waits for nobody: who comes too
 * early is told how long to stay away.
 */
export class RateLimits {
  readonly oneAtATime = new Semaphore(1);
  readonly #clock: Clock;
  #shut = { from: 0, until: 0, day: null as string | null };
  #zone: string | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** IANA name of the portal's time zone, at whose midnight the day of the limit ends; null: not known. */
  get zone(): string | null {
    return this.#zone;
  }

  /** Takes note of the portal's time zone, if it is one. */
  setZone(name: string): void {
    try {
      Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
      this.#zone = name;
    } catch {
      // None that this machine knows: the day ends when HubSpot lets requests pass again.
    }
  }

  /** Throws `target.rate-limited` (later) when no request may leave yet. */
  check(): void {
    const now = this.#clock.now();
    // A clock that was put back must not shut it for as long as it was put back.
    if (now < this.#shut.from)
      this.#shut = { ...this.#shut, from: now, until: now + this.#shut.until - this.#shut.from };
    const waitMs = this.#shut.until - now;
    if (waitMs > 0) throw this.#rateLimited('No request was sent', waitMs);
  }

  /** Takes note of what is left after a reply. Search replies have no such headers, others may lack them. */
  note(head: ReplyHead): void {
    if (number(head, 'x-hubspot-ratelimit-daily-remaining') === 0) this.#shutForDay(head.receivedAt);
    if (number(head, 'x-hubspot-ratelimit-remaining') === 0)
      this.#shutFor(intervalMs(head) ?? windowMs, head.receivedAt);
  }

  /** The fault of a 429; `policy` is the body's `policyName`. */
  refused(head: ReplyHead, policy: string | null): LeadsyncError {
    const date = head.headers['date'];
    const asked = retryAfterMs(
      head.headers['retry-after'],
      typeof date === 'string' ? date : undefined,
      head.receivedAt,
    );
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
    const why =
      day === null ? 'the limit of HubSpot is used up' : `the daily limit of HubSpot is used up ${day}`;
    const remains = `${Math.ceil(waitMs / 1000)} s remain`;
    return new LeadsyncError('target.rate-limited', `${what}: ${why}; ${remains}.`, {
      retry: 'later',
      retryAfterMs: Math.ceil(waitMs),
    });
  }
}

/** For each clock, the limits of each token: in a process that is one clock, in tests each has its own. */
const known = new WeakMap<Clock, Map<string, RateLimits>>();

/** The one for a token in this process, however many connections use it. */
export function rateLimitsOf(clock: Clock, apiUrl: string, token: string): RateLimits {
  const ofClock = known.get(clock) ?? new Map<string, RateLimits>();
  known.set(clock, ofClock);
  const key = `${apiUrl} ${hash('sha256', token)}`;
  const limits = ofClock.get(key) ?? new RateLimits(clock);
  ofClock.set(key, limits);
  return limits;
}

function intervalMs(head: ReplyHead): number | null {
  const ms = number(head, 'x-hubspot-ratelimit-interval-milliseconds');
  return ms !== null && ms > 0 ? ms : null;
}

function number({ headers }: ReplyHead, name: string): number | null {
  const text = headers[name];
  return typeof text === 'string' && /^\d{1,12}$/.test(text.trim()) ? Number(text) : null;
}

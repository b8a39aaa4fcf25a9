import { hash } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { LeadsyncError } from '../../errors.ts';
import type { ReplyHead } from '../../http/exchange.ts';
import { retryAfterMs } from '../../retry-after.ts';
import type { Clock } from '../../sync/clock.ts';
import { Turns } from '../../turns.ts';

/** HubSpot's window of the limit for one app. */
const windowMs = 10_000;
const secondMs = 1_000;
/** After the midnight at which the daily limit ends, at random, so that not all come at once. */
const mostJitterMs = 5 * 60_000;

/**
 * What one token may send, by the headers and refusals of HubSpot (usage guidelines). Waits for nobody: who comes too
 * early is told how long to stay away.
 */
export class RateLimits {
  readonly turns = new Turns();
  readonly #clock: Clock;
  #shut = { from: 0, until: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws `target.rate-limited` (later) when no request may leave yet. */
  check(): void {
    const now = this.#clock.now();
    // A clock that was put back must not shut it for as long as it was put back.
    if (now < this.#shut.from) this.#shut = { from: now, until: now + this.#shut.until - this.#shut.from };
    const waitMs = this.#shut.until - now;
    if (waitMs > 0) throw rateLimited('No request was sent: the limit of HubSpot is used up', waitMs);
  }

  /** Takes note of what is left after a reply. Search replies have no such headers, others may lack them. */
  note(head: ReplyHead, timeZone: string): void {
    if (number(head, 'x-hubspot-ratelimit-daily-remaining') === 0)
      this.#shutFor(this.#untilMidnight(head.receivedAt, timeZone), head.receivedAt);
    if (number(head, 'x-hubspot-ratelimit-remaining') === 0)
      this.#shutFor(intervalMs(head) ?? windowMs, head.receivedAt);
  }

  /** The fault of a 429; `policy` is the body's `policyName`. */
  refused(head: ReplyHead, policy: string | null, timeZone: string): LeadsyncError {
    const date = head.headers['date'];
    const asked = retryAfterMs(
      head.headers['retry-after'],
      typeof date === 'string' ? date : undefined,
      head.receivedAt,
    );
    this.#shutFor(asked ?? this.#waitMs(head, policy, timeZone), head.receivedAt);
    const remains = Math.max(1, this.#shut.until - this.#clock.now());
    return rateLimited(
      `HubSpot did not act on the request (429${policy === null ? '' : `, ${policy}`})`,
      remains,
    );
  }

  #waitMs(head: ReplyHead, policy: string | null, timeZone: string): number {
    switch (policy) {
      case 'DAILY':
        return this.#untilMidnight(head.receivedAt, timeZone);
      case 'SECONDLY':
        return secondMs;
      default:
        return intervalMs(head) ?? windowMs;
    }
  }

  #shutFor(waitMs: number, receivedAt: number): void {
    this.#shut = { from: receivedAt, until: Math.max(this.#shut.until, receivedAt + waitMs) };
  }

  #untilMidnight(now: number, timeZone: string): number {
    const here = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone);
    const midnight = here.add({ days: 1 }).startOfDay().epochMilliseconds;
    return midnight - now + Math.floor(this.#clock.random() * mostJitterMs);
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

function rateLimited(what: string, waitMs: number): LeadsyncError {
  return new LeadsyncError('target.rate-limited', `${what}; ${Math.ceil(waitMs / 1000)} s remain.`, {
    retry: 'later',
    retryAfterMs: Math.ceil(waitMs),
  });
}

import { Temporal } from 'temporal-polyfill';
import type { LimitPolicy } from './api-fault.ts';

const windowMs = 10_000;
const searchesPerSecond = 5;

export interface Limits {
  readonly tenSeconds: number;
  readonly daily: number;
}

/** Counts requests in any ten seconds and in the portal's day, and searches in any second. */
export class RateLimits {
  readonly #limits: Limits;
  readonly #timeZone: string;
  #times: number[] = [];
  #searches: number[] = [];
  #day = '';
  #today = 0;

  constructor(limits: Limits, timeZone: string) {
    this.#limits = limits;
    this.#timeZone = timeZone;
  }

  /** Counts a request unless a limit refuses it. Returns that limit, if any, and the headers. */
  take(now: number, search: boolean): { reached: LimitPolicy | null; headers: Record<string, string> } {
    this.#times = this.#times.filter((time) => time > now - windowMs);
    this.#searches = this.#searches.filter((time) => time > now - 1000);
    const day = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(this.#timeZone).toPlainDate();
    if (day.toString() !== this.#day) [this.#day, this.#today] = [day.toString(), 0];
    const reached = this.#reached(search);
    if (reached === null) {
      this.#today += 1;
      (search ? this.#searches : this.#times).push(now);
    }
    return { reached, headers: search ? {} : this.#headers() };
  }

  #reached(search: boolean): LimitPolicy | null {
    if (this.#today >= this.#limits.daily) return 'DAILY';
    if (search) return this.#searches.length >= searchesPerSecond ? 'SECONDLY' : null;
    return this.#times.length >= this.#limits.tenSeconds ? 'TEN_SECONDLY_ROLLING' : null;
  }

  #headers(): Record<string, string> {
    const { tenSeconds, daily } = this.#limits;
    return {
      'x-hubspot-ratelimit-max': String(tenSeconds),
      'x-hubspot-ratelimit-remaining': String(tenSeconds - this.#times.length),
      'x-hubspot-ratelimit-interval-milliseconds': String(windowMs),
      'x-hubspot-ratelimit-daily': String(daily),
      'x-hubspot-ratelimit-daily-remaining': String(daily - this.#today),
    };
  }
}

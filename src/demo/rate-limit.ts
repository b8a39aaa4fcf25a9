import { LeadsyncError } from '../lib/errors.ts';
import type { RetryAfter } from './faults.ts';

/** `burst`: the size of a token bucket; `window`: the seconds of a fixed window, whose requests may all come at once. */
export type RateLimit =
  | { readonly perSecond: number; readonly burst: number }
  | { readonly perSecond: number; readonly window: number };

export class RateMeter {
  #tokens = Number.POSITIVE_INFINITY;
  #at = 0;
  #window = -1;
  #inWindow = 0;

  /** Counts a request at this moment (epoch ms). Returns 0, or, when it is refused, the whole seconds until one is due. */
  take(limit: RateLimit, now: number): number {
    return 'burst' in limit ? this.#fromBucket(limit, now) : this.#fromWindow(limit, now);
  }

  #fromBucket({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }, now: number) {
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    if (this.#tokens < 1) return Math.ceil((1 - this.#tokens) / perSecond);
    this.#tokens -= 1;
    return 0;
  }

  #fromWindow({ perSecond, window }: { readonly perSecond: number; readonly window: number }, now: number) {
    const number = Math.floor(now / 1000 / window);
    if (number !== this.#window) [this.#window, this.#inWindow] = [number, 0];
    if (this.#inWindow >= Math.max(1, Math.round(perSecond * window)))
      return Math.max(1, Math.ceil((number + 1) * window - now / 1000));
    this.#inWindow += 1;
    return 0;
  }
}

/** As `sandbox --rate` takes it: `10/s`, `10/s,burst=50`, `10/s,window=60` (600 in each minute). Throws `sandbox.rate-invalid`. */
export function parseRate(text: string): RateLimit {
  const [, rate = '', name, size] =
    /^(\d{1,6}(?:\.\d{1,3})?)\/s(?:,(burst|window)=([1-9]\d{0,5}))?$/.exec(text) ?? [];
  const perSecond = Number(rate);
  if (!(perSecond > 0)) {
    const message = `The rate ${JSON.stringify(text)} cannot be understood.`;
    throw new LeadsyncError('sandbox.rate-invalid', message, {
      help: 'Requests a second, such as 10/s; with the size of the bucket, 10/s,burst=50, or of a fixed window in seconds, 10/s,window=60.',
    });
  }
  if (name === 'window') return { perSecond, window: Number(size) };
  return { perSecond, burst: size === undefined ? Math.max(1, Math.ceil(perSecond)) : Number(size) };
}

/** Remembers which waits were announced (API reference, section 8) and when the client could know of them. */
export class RateWindow {
  /** Epoch ms; `knownFrom` is infinite until the reply has been sent. */
  #announced: { readonly until: number; knownFrom: number }[] = [];

  /** `waitMs`: until requests are accepted again; 0: they are. `early`: the client knew that it had to wait and did not. */
  check(epochMs: number, graceMs: number) {
    this.#announced = this.#announced.filter((one) => one.until > epochMs);
    const until = Math.max(epochMs, ...this.#announced.map((one) => one.until));
    return {
      waitMs: until - epochMs,
      early: this.#announced.some((one) => one.knownFrom + graceMs <= epochMs),
    };
  }

  /** Begins a window; a Retry-After that says no time begins none. The header to send (null: none), and what to call when the reply has been sent. */
  announce(retryAfter: RetryAfter, epochMs: number) {
    if (retryAfter === 'none') return { retryAfter: null, delivered() {} };
    if (retryAfter === 'garbage') return { retryAfter: 'soon', delivered() {} };
    const isDate = 'dateInSeconds' in retryAfter;
    // An HTTP date has no fractions of a second; the window ends exactly where the date points.
    const until = isDate
      ? Math.ceil(epochMs / 1000 + retryAfter.dateInSeconds) * 1000
      : epochMs + retryAfter.seconds * 1000;
    const entry = { until, knownFrom: Number.POSITIVE_INFINITY };
    this.#announced.push(entry);
    return {
      retryAfter: isDate ? new Date(until).toUTCString() : String(retryAfter.seconds),
      delivered: (atMs: number) => {
        entry.knownFrom = atMs;
      },
    };
  }
}

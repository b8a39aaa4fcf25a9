/**
 * How many requests a second are answered. `burst`: a token bucket that holds so many; `window`: a fixed window of so
 * many seconds, in which all of its requests may come at once.
 */
export type RateLimit =
  | { readonly perSecond: number; readonly burst: number }
  | { readonly perSecond: number; readonly window: number };

/** Counts requests against a limit that may change meanwhile. */
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

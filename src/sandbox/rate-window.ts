import type { RetryAfter } from './faults.ts';

export interface RateCheck {
  /** Milliseconds until requests are accepted again; 0: they are. */
  readonly waitMs: number;
  /** The client knew that it had to wait and did not. */
  readonly early: boolean;
}

/** The header to send, and what to call when the reply has been sent (`null` header: none). */
export interface Announcement {
  readonly retryAfter: string | null;
  readonly delivered: (epochMs: number) => void;
}

/** Remembers which waits were announced (API reference, section 8) and when the client could know of them. */
export class RateWindow {
  /** Epoch ms; `knownFrom` is infinite until the reply has been sent. */
  #announced: { readonly until: number; knownFrom: number }[] = [];

  check(epochMs: number, graceMs: number): RateCheck {
    this.#announced = this.#announced.filter((one) => one.until > epochMs);
    const until = Math.max(epochMs, ...this.#announced.map((one) => one.until));
    return {
      waitMs: until - epochMs,
      early: this.#announced.some((one) => one.knownFrom + graceMs <= epochMs),
    };
  }

  /** Begins a window; a Retry-After that says no time begins none. */
  announce(retryAfter: RetryAfter, epochMs: number): Announcement {
    if (retryAfter === 'none') return { retryAfter: null, delivered: () => undefined };
    if (retryAfter === 'garbage') return { retryAfter: 'soon', delivered: () => undefined };
    const isDate = 'dateInSeconds' in retryAfter;
    // An HTTP date has no fractions of a second; the window ends exactly where the date points.
    const until = isDate
      ? Math.ceil(epochMs / 1000 + retryAfter.dateInSeconds) * 1000
      : epochMs + retryAfter.seconds * 1000;
    const entry = { until, knownFrom: Number.POSITIVE_INFINITY };
    this.#announced.push(entry);
    return {
      retryAfter: isDate ? new Date(until).toUTCString() : String(retryAfter.seconds),
      delivered: (atMs) => {
        entry.knownFrom = atMs;
      },
    };
  }
}

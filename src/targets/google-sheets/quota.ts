import { LeadsyncError } from '../../lib/errors.ts';
import { type Clock, perClock } from '../../ports/clock.ts';

/** Google meters reads and writes separately, per minute (Sheets API, usage limits). */
export type QuotaKind = 'read' | 'write';

const minuteMs = 60_000;

/** Wait while a full minute's requests are all under way: when they stop counting is unknown. */
const allUnderWayMs = 1_000;

/** A bucket each for reads and writes: a maximum in any 60 s as Google counts them. Does not wait: throws with the time to wait. */
export class Quota {
  readonly #clock: Clock;
  readonly #buckets: Readonly<Record<QuotaKind, Bucket>> = { read: new Bucket(), write: new Bucket() };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The callback is for when its reply came or never will: only then Google has counted it. Throws `target.rate-limited` (later, ms). */
  take(kind: QuotaKind, perMinute: number): () => void {
    const now = this.#clock.now();
    const bucket = this.#buckets[kind];
    const waitMs = bucket.wait(now, perMinute);
    if (waitMs > 0)
      throw rateLimited(`No request was sent to Google Sheets: this minute's ${kind}s are used up`, waitMs);
    return bucket.take(() => this.#clock.now());
  }

  /** `kind` null: both. Blocks for the asked time, else 15 to 64 s, growing, with jitter so that processes do not return together. */
  refused(kind: QuotaKind | null, askedMs: number | null): LeadsyncError {
    const now = this.#clock.now();
    const kinds = kind === null ? (['read', 'write'] as const) : [kind];
    const random = this.#clock.random();
    const waits = kinds.map((each) => this.#buckets[each].shut(now, askedMs, random));
    const what = kind === null ? 'requests' : `${kind}s`;
    return rateLimited(
      `Google Sheets refused the request: the quota of ${what} is used up`,
      Math.max(...waits),
    );
  }

  /** Success: the next refusal counts as the first. */
  allowed(kind: QuotaKind): void {
    this.#buckets[kind].refusals = 0;
  }
}

/** By account. */
export const quotaOf = perClock((clock) => new Quota(clock));

class Bucket {
  refusals = 0;
  /** Reply times (epoch ms) of the last minute's requests; infinite while under way. */
  #sent: { at: number }[] = [];
  #shut = { from: 0, until: 0 };

  /** Ms until a request may leave; 0: now. */
  wait(now: number, perMinute: number): number {
    // After the clock was set back, the block must not last longer.
    for (const each of this.#sent) if (Number.isFinite(each.at)) each.at = Math.min(each.at, now);
    if (now < this.#shut.from) this.#shut = { from: now, until: now + this.#shut.until - this.#shut.from };
    this.#sent = this.#sent.filter(({ at }) => at > now - minuteMs);
    const shutMs = Math.max(0, this.#shut.until - now);
    if (this.#sent.length < perMinute) return shutMs;
    const ends = this.#sent.map(({ at }) => at + minuteMs - now).toSorted((a, b) => a - b);
    const freeMs = ends[this.#sent.length - perMinute] ?? 0;
    return Math.max(shutMs, Number.isFinite(freeMs) ? freeMs : allUnderWayMs);
  }

  take(now: () => number): () => void {
    const request = { at: Number.POSITIVE_INFINITY };
    this.#sent.push(request);
    return () => {
      request.at = now();
    };
  }

  /** Returns the block in ms. */
  shut(now: number, askedMs: number | null, random: number): number {
    this.refusals += 1;
    const waitMs = askedMs ?? backoffMs(this.refusals, random);
    const until = Math.max(now + waitMs, this.#shut.until);
    this.#shut = { from: now, until };
    return until - now;
  }
}

/** 15 to 30 s, then 30 to 60 s, then 48 to 64 s: by then the minute has passed. */
function backoffMs(refusals: number, random: number): number {
  const least = Math.min(15_000 * 2 ** (refusals - 1), 48_000);
  const most = Math.min(30_000 * 2 ** (refusals - 1), 64_000);
  return Math.round(least + (most - least) * random);
}

function rateLimited(what: string, waitMs: number): LeadsyncError {
  const message = `${what}; ${Math.ceil(waitMs / 1000)} s remain.`;
  return new LeadsyncError('target.rate-limited', message, {
    retry: 'later',
    retryAfterMs: Math.ceil(waitMs),
  });
}

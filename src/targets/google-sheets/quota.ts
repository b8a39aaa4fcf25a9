import { LeadsyncError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';

/** Google meters reads and writes apart (Sheets API, usage limits), a minute at a time. */
export type QuotaKind = 'read' | 'write';

const minuteMs = 60_000;

/** Wait while as many requests as a minute allows are all still under way: nobody knows yet when one stops counting. */
const allUnderWayMs = 1_000;

/**
 * What one account may send: two buckets, of which each lets at most so many requests through in any 60 seconds, as
 * the other side counts them, and can be shut for a time. Waits for nobody: who comes too early is told how long to
 * stay away.
 */
export class Quota {
  readonly #clock: Clock;
  readonly #buckets: Readonly<Record<QuotaKind, Bucket>> = { read: new Bucket(), write: new Bucket() };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes one request out of the bucket. Returns what is to be called when its reply is there, or will never be: only
   * from then on it is certain that the other side has counted it.
   * Throws `target.rate-limited` (later, with the ms until the next one may leave).
   */
  take(kind: QuotaKind, perMinute: number): () => void {
    const now = this.#clock.now();
    const bucket = this.#buckets[kind];
    const waitMs = bucket.wait(now, perMinute);
    if (waitMs > 0) throw rateLimited(`no request was sent: the ${kind}s of this minute are used up`, waitMs);
    return bucket.take(() => this.#clock.now());
  }

  /**
   * The other side has refused a request because of the quota of `kind` (null: it did not say which, so both are
   * shut). Shuts the bucket for the time it asked for, else for 15 to 64 s, longer from one refusal to the next, at
   * random within bounds so that several processes do not come back together.
   */
  refused(kind: QuotaKind | null, askedMs: number | null): LeadsyncError {
    const now = this.#clock.now();
    const kinds = kind === null ? (['read', 'write'] as const) : [kind];
    const random = this.#clock.random();
    const waits = kinds.map((each) => this.#buckets[each].shut(now, askedMs, random));
    const what = kind === null ? 'requests' : `${kind}s`;
    return rateLimited(`nothing was done: Google refuses more ${what} for now (quota)`, Math.max(...waits));
  }

  /** A request of this kind was let through: the next refusal is the first again. */
  allowed(kind: QuotaKind): void {
    this.#buckets[kind].refusals = 0;
  }
}

/** For each clock, the quota of each account: in a process that is one clock, in tests each has its own. */
const quotas = new WeakMap<Clock, Map<string, Quota>>();

/** The one quota of an account in this process, however many connections use it. */
export function quotaOf(clock: Clock, account: string): Quota {
  const known = quotas.get(clock) ?? new Map<string, Quota>();
  quotas.set(clock, known);
  const quota = known.get(account) ?? new Quota(clock);
  known.set(account, quota);
  return quota;
}

class Bucket {
  refusals = 0;
  /** Epoch ms of the requests of the last minute, as their replies came; infinite while one is under way. */
  #sent: { at: number }[] = [];
  #shut = { from: 0, until: 0 };

  /** Ms until a request may leave; 0: now. */
  wait(now: number, perMinute: number): number {
    // A clock that was put back must not shut the bucket for as long as it was put back.
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

  /** Returns the ms it stays shut. */
  shut(now: number, askedMs: number | null, random: number): number {
    this.refusals += 1;
    const waitMs = askedMs ?? backoffMs(this.refusals, random);
    const until = Math.max(now + waitMs, this.#shut.until);
    this.#shut = { from: now, until };
    return until - now;
  }
}

/** 15 to 30 s after the first refusal, 30 to 60 s after the second, then 48 to 64 s: the minute has rolled over. */
function backoffMs(refusals: number, random: number): number {
  const least = Math.min(15_000 * 2 ** (refusals - 1), 48_000);
  const most = Math.min(30_000 * 2 ** (refusals - 1), 64_000);
  return Math.round(least + (most - least) * random);
}

function rateLimited(what: string, waitMs: number): LeadsyncError {
  const message = `Google Sheets: ${what}; ${Math.ceil(waitMs / 1000)} s remain.`;
  return new LeadsyncError('target.rate-limited', message, {
    retry: 'later',
    retryAfterMs: Math.ceil(waitMs),
  });
}

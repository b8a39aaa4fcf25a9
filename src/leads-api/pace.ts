import { z } from 'zod';

/**
 * How fast a service lets us ask, learned from its 429s alone: the reference says that there is a limit, not which
 * (section 8). Between two 429s the pace stays just under what is believed for a calm time, then rises, first slowly,
 * then faster and faster, so that a limit that went up is found. Plain data; times are epoch ms of whoever keeps it.
 */
const schema = z.object({
  /** Requests a second that are believed to be allowed. */
  limit: z
    .number()
    .gte(1 / 60)
    .lte(1000),
  /** Ms for which the pace stays under it before it rises. */
  calmMs: z.number().gte(1),
  /** Ms for which the pace, not the work, has decided when to ask since the last 429. */
  heldMs: z.number().gte(0),
  /** No request before. */
  nextAt: z.number(),
  /** From when on `accepted` were counted. */
  since: z.number(),
  accepted: z.number().gte(0),
  /** What was accepted a second before this pace began, waits included. */
  unpaced: z.number().gt(0),
  /** The same with it, the last time between two 429s weighing half. */
  paced: z.number().gt(0),
  /** From 0 to 1: where between what was accepted and the rate that was refused the limit is looked for. */
  lean: z.number().gt(0).lte(1),
  /** 429s in a row that came while the pace was calm. */
  misses: z.number().gte(0),
  /** How often in a row a pace was of no use. */
  useless: z.number().gte(0),
  /** After so many more 429s a pace is tried again, and none is kept to until then. */
  off: z.number().gte(0),
});

export type Pace = Readonly<z.infer<typeof schema>>;

/** The part of the believed limit at which the pace stays. What is left out is lost, but it need not be exact then. */
const near = 0.99;

/** Calm after something new was learned; it grows threefold with each 429 that only confirms it. */
const firstCalm = { ms: 3_000, requests: 8 };
const calmGrowth = 3;

/** Calm at its longest, and in requests: a 429 a minute costs a small bucket some 2 %; of 200 requests it is 0.5 %. */
const fullCalm = { ms: 50_000, requests: 200 };

/**
 * The rise above `near` doubles in half the calm, at most in so many ms: a large bucket refuses some seconds late, and
 * should not be far above its limit then. After the first calm it begins with this part of the limit, later with less.
 */
const longestRiseMs = 4_000;
const firstRise = 0.1;

/** A limit that is above the believed one by this factor is news. */
const news = 1.25;

/** The limit is lowered by this part of it when the pace was refused while calm, fivefold for each more, at most half. */
const missStep = 0.02;
const missGrowth = 5;

/** See `lean`: at first and at most; after a miss it shrinks, after a 429 on the way up some of that comes back. */
const mostLean = 0.7;
const leanLoss = 0.7;
const leanGain = 0.03;

/**
 * A pace is of no use when it gets less than this part of what was accepted without one: then the service refuses whatever
 * the rate is. So it is after more misses in a row than a limit that was halved causes.
 */
const leastUse = 0.6;
const mostMisses = 3;

/** It is tried again after three more 429s, which cost a service that has a limit little; then after 30, then 300. */
const firstOff = 3;
const offGrowth = 10;
const mostOff = 1000;

/** Requests a second: faster nobody asks. */
const fastest = 1000;

/** Requests a second: so slow no service is taken for at first sight. One 429 with a long wait says very little. */
const leastAtFirst = 2;

/** After so long (ms) without a request what was accepted before says nothing about the rate. */
const idleMs = 2_000;

/** A longer wait (ms) is the end of a quota of an hour or a day: to spread that evenly would only make it slow. */
const longestWaitMs = 90_000;

/** What was accepted before a 429 without a pace. `since`: epoch ms of the first of them. */
export interface Burst {
  readonly since: number;
  readonly accepted: number;
}

/** The burst with one more request that was accepted; a new one after an idle time. `lastAt`: of the request before. */
export function longer(burst: Burst | null, lastAt: number, now: number): Burst {
  if (burst === null || now - lastAt > idleMs) return { since: now, accepted: 1 };
  return { ...burst, accepted: burst.accepted + 1 };
}

/**
 * The first pace, after a 429 that asks to wait so long (ms); null when that teaches no rate. `useless`: how many before it
 * were of no use.
 */
export function firstPace(burst: Burst | null, now: number, waitMs: number, useless = 0): Pace | null {
  if (waitMs > longestWaitMs) return null;
  const until = now + waitMs;
  const limit = Math.max(
    useless > 0 ? 0 : leastAtFirst,
    within(perSecond(burst?.accepted ?? 0, until - (burst?.since ?? now))),
  );
  return {
    limit,
    calmMs: lasting(firstCalm, limit),
    heldMs: 0,
    nextAt: until,
    since: until,
    accepted: 0,
    unpaced: limit,
    paced: limit,
    lean: mostLean,
    misses: 0,
    useless,
    off: 0,
  };
}

/** Requests a second at this moment of the calm or the rise, or without a pace. */
export function rateOf({ limit, calmMs, heldMs, off }: Pace): number {
  if (off > 0) return fastest;
  const rising = Math.max(0, heldMs - calmMs) / Math.min(longestRiseMs, calmMs / 2);
  const begins = firstRise * (lasting(firstCalm, limit) / calmMs);
  return within(limit * (near + begins * (2 ** Math.min(rising, 30) - 1)));
}

/**
 * A request leaves. When it has waited for the pace, the next one is due a gap after this one was, also when it is late;
 * what comes more than a gap later than it might has not.
 */
export function sent(pace: Pace, now: number): Pace {
  const gap = 1000 / rateOf(pace);
  const late = now - pace.nextAt;
  const isHeld = late < gap;
  const isIdle = late > Math.max(gap, idleMs);
  return {
    ...pace,
    nextAt: isHeld ? Math.max(pace.nextAt + gap, now + gap / 2) : now + gap,
    heldMs: pace.heldMs + (isHeld ? gap : 0),
    ...(isIdle && { since: now, accepted: 0 }),
  };
}

/** The service answered, and not with 429. */
export function answered(pace: Pace): Pace {
  return { ...pace, accepted: pace.accepted + 1 };
}

/**
 * After a 429 that asks to wait so long (ms). Of a bucket that never overflowed, and of a window, `mean` is the limit;
 * of a small bucket the rate that was refused is. Null: no pace helps.
 */
export function refused(pace: Pace, now: number, waitMs: number): Pace | null {
  if (waitMs > longestWaitMs) return null;
  const until = now + waitMs;
  if (pace.off > 1) return { ...pace, nextAt: until, off: pace.off - 1 };
  if (pace.off === 1) return firstPace(pace, now, waitMs, pace.useless);
  const rate = rateOf(pace);
  const mean = Math.min(rate, perSecond(pace.accepted, until - pace.since));
  const paced = (pace.paced + mean) / 2;
  const isMiss = pace.heldMs <= pace.calmMs;
  const begun = { ...pace, paced, heldMs: 0, nextAt: until, since: until, accepted: 0 };
  if (paced < pace.unpaced * leastUse || (isMiss && pace.misses >= mostMisses))
    return {
      ...begun,
      off: Math.min(mostOff, firstOff * offGrowth ** pace.useless),
      useless: pace.useless + 1,
    };
  if (isMiss) {
    const lowered = rate * (1 - Math.min(0.5, missStep * missGrowth ** pace.misses));
    return {
      ...begun,
      limit: within(Math.max(lowered, Math.min(mean, rate * (1 - missStep)))),
      // One may be chance; after more of them the limit is another one.
      calmMs: pace.misses === 0 ? pace.calmMs : Math.max(lasting(firstCalm, rate), pace.calmMs / calmGrowth),
      lean: Math.max(0.01, pace.lean * leanLoss),
      misses: pace.misses + 1,
    };
  }
  const least = Math.max(mean, pace.limit * near);
  const limit = within(least + pace.lean * (rate - least));
  const calmMs =
    limit > pace.limit * news
      ? lasting(firstCalm, limit)
      : Math.min(lasting(fullCalm, limit), pace.calmMs * calmGrowth);
  return {
    ...begun,
    limit,
    calmMs,
    lean: Math.min(mostLean, pace.lean + leanGain),
    misses: 0,
    useless: calmMs < lasting(fullCalm, limit) ? pace.useless : 0,
  };
}

/**
 * What another process stored; null for what is no pace, or that of another version. `now`: by the same clock, which may
 * have been set back since: nothing is due later than after the longest wait.
 */
export function readPace(stored: unknown, now: number): Pace | null {
  const pace = schema.safeParse(stored).data ?? null;
  if (pace === null || pace.nextAt - now <= longestWaitMs) return pace;
  return { ...pace, nextAt: now, since: now, accepted: 0 };
}

function lasting({ ms, requests }: typeof fullCalm, rate: number): number {
  return Math.max(ms, (requests / rate) * 1000);
}

function perSecond(requests: number, ms: number): number {
  return Math.max(1, requests) / (Math.max(1, ms) / 1000);
}

/** Neither so slow that it never comes to an end, nor faster than anybody can ask. */
function within(rate: number): number {
  return Math.min(fastest, Math.max(1 / 60, rate));
}

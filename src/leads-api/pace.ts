import { z } from 'zod';

/**
 * How fast a service lets us ask, learned from its 429s alone: the reference says that there is a limit, not which
 * (section 8). The rate grows a little with each request, and falls by a part with each 429. Plain data, kept for all
 * processes that share a key; times are epoch ms of whoever keeps it.
 */
const schema = z.object({
  /** Requests a second at this moment. */
  rate: z
    .number()
    .gte(1 / 60)
    .lte(1000),
  /** What each request adds to it. */
  step: z.number().gt(0).lte(1),
  /** No request before. */
  nextAt: z.number(),
  /** When the last pause was over. */
  since: z.number(),
});

export type Pace = Readonly<z.infer<typeof schema>>;

/** The first 429 tells no rate: it is looked for from here, in steps that are halved with each further one. */
const first = { rate: 5, step: 0.1 };

/** Of a step at least: so the rate takes some minutes to double, and many requests where there are few. */
const leastStep = { of: 0.004, ofRate: 0.002 };

/** What a 429 leaves of the rate, and what one leaves that comes so soon (ms) after the pause of another one. */
const left = { usually: 0.9, soon: 0.5, soonMs: 2_000 };

/** Requests a second: for slower no service is taken. So one that answers 429 whatever the rate is comes to no standstill. */
const slowest = 0.7;

/** A longer wait (ms) is the end of a quota of an hour or a day: to spread that evenly would only make it slow. */
const longestWaitMs = 90_000;

/** A request leaves. The next one is due a gap later. */
export function sent(pace: Pace, now: number): Pace {
  const gap = 1000 / pace.rate;
  // Only a rate that was tried says that a higher one may be.
  const isTried = now - pace.nextAt < gap;
  return {
    ...pace,
    rate: Math.min(1000, pace.rate + (isTried ? pace.step : 0)),
    nextAt: now + gap,
  };
}

/** After a 429 that asks to wait so long (ms). Null: no pace helps. */
export function refused(pace: Pace | null, now: number, waitMs: number): Pace | null {
  if (waitMs > longestWaitMs) return null;
  const nextAt = now + waitMs;
  if (pace === null) return { ...first, nextAt, since: nextAt };
  const lower = pace.rate * (now - pace.since < left.soonMs ? left.soon : left.usually);
  const rate = Math.max(lower, slowest);
  const step = Math.max(pace.step / 2, Math.min(leastStep.of, leastStep.ofRate * rate));
  return { rate, step, nextAt, since: nextAt };
}

/**
 * What another process stored; null for what is no pace, or that of another version. `now`: by the same clock, which may
 * have been set back since: nothing is due later than after the longest wait.
 */
export function readPace(stored: unknown, now: number): Pace | null {
  const pace = schema.safeParse(stored).data ?? null;
  if (pace === null || pace.nextAt - now <= longestWaitMs) return pace;
  return { ...pace, nextAt: now, since: now };
}

import { z } from 'zod';

/**
 * The request rate that a service allows, learned from its 429s: the reference says only that there is a limit (section
 * 8). The rate grows with each request and falls with each 429. Plain data, shared by all processes with one key; times
 * are epoch ms of the store's clock.
 */
const schema = z.object({
  rate: z
    .number()
    .gte(1 / 60)
    .lte(1000),
  step: z.number().gt(0).lte(1),
  /** No request may leave earlier. */
  nextAt: z.number(),
  /** End of the last pause. */
  since: z.number(),
});

export type Pace = Readonly<z.infer<typeof schema>>;

/** The first 429 tells no rate: the search starts here, and each further one halves the step. */
const first = { rate: 5, step: 0.1 };

/** Lower bounds of the step: doubling the rate takes some minutes, or many requests. */
const leastStep = { of: 0.004, ofRate: 0.002 };

/** The factor after a 429, and after one that comes this soon (ms) after another's pause. */
const left = { usually: 0.9, soon: 0.5, soonMs: 2_000 };

/** Requests per second, at least: a service that always answers 429 must not stop the sync. */
const slowest = 0.7;

/** A longer wait (ms) means an hourly or daily quota: spreading it evenly would only slow things down. */
const longestWaitMs = 90_000;

/** The pace after a request; the next one is due a gap later. */
export function sent(pace: Pace, now: number): Pace {
  const gap = 1000 / pace.rate;
  // Only a rate that was used suggests that a higher one works.
  const isTried = now - pace.nextAt < gap;
  return {
    ...pace,
    rate: Math.min(1000, pace.rate + (isTried ? pace.step : 0)),
    nextAt: now + gap,
  };
}

/** The pace after a 429 that asks to wait this long (ms). Null: pacing does not help. */
export function refused(pace: Pace | null, now: number, waitMs: number): Pace | null {
  if (waitMs > longestWaitMs) return null;
  const nextAt = now + waitMs;
  if (pace === null) return { ...first, nextAt, since: nextAt };
  const lower = pace.rate * (now - pace.since < left.soonMs ? left.soon : left.usually);
  const rate = Math.max(lower, slowest);
  const step = Math.max(pace.step / 2, Math.min(leastStep.of, leastStep.ofRate * rate));
  return { rate, step, nextAt, since: nextAt };
}

/** Null when invalid or of another version. The clock may have been set back since `now`: nothing is due later than the longest wait. */
export function readPace(stored: unknown, now: number): Pace | null {
  const pace = schema.safeParse(stored).data ?? null;
  if (pace === null || pace.nextAt - now <= longestWaitMs) return pace;
  return { ...pace, nextAt: now, since: now };
}

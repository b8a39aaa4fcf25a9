import { type Pace, readPace, refused, sent } from '../../src/leads-api/rate-limiter.ts';
import { createRandom } from '../../src/demo/random.ts';
import { type RateLimit, RateMeter } from '../../src/demo/rate-limit.ts';

/** A limit of n requests a second. */
export type Limit = (perSecond: number) => RateLimit;

export const limitKinds: Readonly<Record<string, Limit>> = {
  'bucket of 1': (perSecond) => ({ perSecond, burst: 1 }),
  'bucket of 1 s': (perSecond) => ({ perSecond, burst: perSecond }),
  'bucket of 10 s': (perSecond) => ({ perSecond, burst: 10 * perSecond }),
  'window of 1 s': (perSecond) => ({ perSecond, window: 1 }),
  'window of 10 s': (perSecond) => ({ perSecond, window: 10 }),
  'window of 60 s': (perSecond) => ({ perSecond, window: 60 }),
};

export interface PlayedPace {
  /** Answered requests over those that the limit allows in the time. */
  readonly ratio: number;
  /** The part of the requests that were answered 429. */
  readonly share: number;
  /** Requests that left before an announced time. */
  readonly early: number;
  readonly answers: number;
}

/** Seconds to wait, 0: answered. Asked once for each request, with the moment at which it is there (ms from the start). */
export type Service = (ms: number) => number;

/** Services whose 429s, after which they ask to wait n seconds, do not depend on the rate. */
export const rateless = {
  everyNth(every: number, seconds: number): Service {
    let requests = 0;
    return () => (++requests % every === 0 ? seconds : 0);
  },
  share(share: number, seconds: number, seed: number): Service {
    const random = createRandom(seed, 'refusals');
    return () => (random.float() < share ? seconds : 0);
  },
};

/** As the client's, added to each wait (ms). */
const marginMs = 100;

/** Simulates a service with a limit. `limitAt` says what it allows at a moment (ms from the start). */
export function playPace(limitAt: (ms: number) => RateLimit, totalMs: number): PlayedPace {
  const meter = new RateMeter();
  // No window of the service begins with the first request.
  const service: Service = (ms) => meter.take(limitAt(ms), 3_300 + ms);
  const { answers, refusals, early } = play(service, totalMs, 8, true);
  let allowed = 0;
  for (let ms = 0; ms < totalMs; ms += 100) allowed += limitAt(ms).perSecond / 10;
  return { ratio: answers / allowed, share: refusals / (answers + refusals), early, answers };
}

/** `ratio`: answered requests over those of a client that waits only when the service says so. */
export function playRateless(open: () => Service, totalMs: number, latencyMs: number): PlayedPace {
  const { answers, refusals, early } = play(open(), totalMs, latencyMs, true);
  const unpaced = play(open(), totalMs, latencyMs, false);
  return { ratio: answers / unpaced.answers, share: refusals / (answers + refusals), early, answers };
}

/**
 * Asks as fast as the pace allows, or without one, one request at a time, on a clock of its own; each pace goes through
 * JSON, as it does between processes. `latencyMs`: from a request to its reply.
 */
function play(service: Service, totalMs: number, latencyMs: number, isPaced: boolean) {
  let pace: Pace | null = null;
  let [notBefore, early, answers, refusals] = [0, 0, 0, 0];
  for (let now = 0; now < totalMs; ) {
    if (pace !== null) {
      now = Math.max(now, pace.nextAt);
      pace = stored(sent(pace, now), now);
    }
    if (now < notBefore) early += 1;
    const seconds = service(now + latencyMs / 2);
    now += latencyMs;
    if (seconds === 0) {
      answers += 1;
      continue;
    }
    refusals += 1;
    const waitMs = seconds * 1000 + marginMs;
    notBefore = now + waitMs;
    pace = isPaced ? stored(refused(pace, now, waitMs), now) : null;
    if (pace === null) now = notBefore;
  }
  return { answers, refusals, early };
}

function stored(pace: Pace | null, now: number): Pace | null {
  return readPace(JSON.parse(JSON.stringify(pace)), now);
}

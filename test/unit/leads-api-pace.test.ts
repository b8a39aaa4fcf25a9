import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answered, firstPace, longer, rateOf, readPace, refused, sent } from '../../src/leads-api/pace.ts';
import { lawRuns } from '../support/law-runs.ts';
import { limitKinds, playPace, playRateless, rateless } from '../support/play-pace.ts';

const minutes = 60_000;

/** What 20 minutes come to at least and at most; bench/pace.md has more of them. */
const bounds = [
  ['steady', () => 1, 0.949, 0.006],
  ['doubled after 10 minutes', (ms: number) => (ms < 10 * minutes ? 1 : 2), 0.9, 0.006],
  ['halved after 10 minutes', (ms: number) => (ms < 10 * minutes ? 1 : 0.5), 0.92, 0.012],
] as const;

describe.each(bounds)('a limit that is %s', (_name, factorAt, ratio, share) => {
  test.each(Object.entries(limitKinds))('is found and kept: %s', (_kind, limitOf) => {
    for (const perSecond of [6, 40]) {
      const played = playPace((ms) => limitOf(perSecond * factorAt(ms)), 20 * minutes);
      expect(played.ratio, `${perSecond} a second`).toBeGreaterThan(ratio);
      expect(played.share, `${perSecond} a second`).toBeLessThan(share);
      expect(played.early).toBe(0);
    }
  });
});

test('of 2 requests a second 1.5 % are refused at most', () => {
  for (const limitOf of Object.values(limitKinds)) {
    const { ratio, share } = playPace(() => limitOf(2), 20 * minutes);
    expect(ratio).toBeGreaterThan(0.95);
    expect(share).toBeLessThan(0.015);
  }
});

describe.each([8, 20])('a service that refuses whatever the rate is, %i ms a request', (latencyMs) => {
  test.each([1, 2])('is asked nearly as fast as by waiting alone, %i s', (seconds) => {
    for (const every of [3, 5, 10, 20, 50, 100]) {
      const played = playRateless(() => rateless.everyNth(every, seconds), 20 * minutes, latencyMs);
      expect(played.ratio, `each ${every}th`).toBeGreaterThan(0.95);
      expect(played.early).toBe(0);
    }
    for (const share of [0.02, 0.05, 0.1, 0.2]) {
      const seeds = [1, 2, 3, 4, 5, 6];
      const ratios = seeds.map((seed) => {
        const played = playRateless(() => rateless.share(share, seconds, seed), 20 * minutes, latencyMs);
        expect(played.early).toBe(0);
        return played.ratio;
      });
      expect(ratios.reduce((sum, ratio) => sum + ratio, 0) / seeds.length, `${share}`).toBeGreaterThan(0.9);
    }
  });
});

test('a clock that was set back by an hour holds up nothing', () => {
  const now = Date.UTC(2026, 10, 22);
  const pace = firstPace({ since: now - 1_000, accepted: 10 }, now, 60_000);
  expect(readPace(pace, now)).toEqual(pace);
  expect(readPace(pace, now - 3_600_000)).toMatchObject({ limit: pace?.limit, nextAt: now - 3_600_000 });
});

test('a quota of hours teaches no rate', () => {
  expect(firstPace({ since: 0, accepted: 1_000 }, 60_000, 3_600_000)).toBeNull();
  const pace = firstPace({ since: 0, accepted: 10 }, 1_000, 1_100);
  expect(pace && refused(pace, 5_000, 3_600_000)).toBeNull();
});

test('what was accepted before an idle time is no part of the burst', () => {
  let burst = longer(null, 0, 1_000);
  burst = longer(burst, 1_000, 1_500);
  expect(burst).toEqual({ since: 1_000, accepted: 2 });
  expect(longer(burst, 1_500, 9_000)).toEqual({ since: 9_000, accepted: 1 });
});

/** What may happen to a pace: some requests after gaps, waited for or not, and a 429. */
const story = fc.array(
  fc.record({
    requests: fc.integer({ min: 0, max: 40 }),
    lateMs: fc.integer({ min: 0, max: 5_000 }),
    waitMs: fc.integer({ min: 1, max: 90_000 }),
  }),
  { maxLength: 60 },
);

describe('laws', () => {
  test('no request is due before the pause is over; the rate stays finite and positive; JSON keeps all', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5_000 }), story, (accepted, events) => {
        let now = 1_700_000_000_000;
        let pace = firstPace({ since: now - 500, accepted }, now, 1_100);
        for (const { requests, lateMs, waitMs } of events) {
          if (pace === null) return;
          for (let count = 0; count < requests; count++) {
            now = Math.max(now, pace.nextAt + lateMs);
            pace = answered(sent(pace, now));
            expect(pace.nextAt).toBeGreaterThan(now);
          }
          pace = refused(pace, now, waitMs);
          if (pace === null) return;
          expect(pace.nextAt).toBeGreaterThanOrEqual(now + waitMs);
          expect(rateOf(pace)).toBeGreaterThanOrEqual(1 / 60);
          expect(rateOf(pace)).toBeLessThanOrEqual(1_000);
          expect(readPace(JSON.parse(JSON.stringify(pace)), now)).toEqual(pace);
        }
      }),
      { numRuns: lawRuns(300) },
    );
  });

  test('what is no pace is none', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(readPace(value, 0)).toBeNull();
      }),
      { numRuns: lawRuns(100) },
    );
  });
});

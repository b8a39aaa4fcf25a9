import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPace, refused, sent } from '../../src/leads-api/rate-limiter.ts';
import { lawRuns } from '../support/law-runs.ts';
import { limitKinds, playPace, playRateless, rateless } from '../support/play-pace.ts';

const minutes = 60_000;

/** What 20 minutes come to at least and at most; bench/pace.md has more of them. */
const bounds = [
  ['steady', () => 1, 0.85, 0.03],
  ['doubled after 10 minutes', (ms: number) => (ms < 10 * minutes ? 1 : 2), 0.85, 0.02],
  ['halved after 10 minutes', (ms: number) => (ms < 10 * minutes ? 1 : 0.5), 0.85, 0.04],
] as const;

test.each(bounds)('a limit that is %s is found and kept', (_name, factorAt, ratio, share) => {
  for (const [kind, limitOf] of Object.entries(limitKinds)) {
    for (const perSecond of [2, 6, 40]) {
      const played = playPace((ms) => limitOf(perSecond * factorAt(ms)), 20 * minutes);
      expect(played.ratio, `${kind}, ${perSecond} a second`).toBeGreaterThan(ratio);
      expect(played.share, `${kind}, ${perSecond} a second`).toBeLessThan(share);
      expect(played.early).toBe(0);
    }
  }
});

test('a service that refuses whatever the rate is comes to no standstill', () => {
  for (const [every, seconds] of [
    [3, 1],
    [20, 2],
  ] as const) {
    const played = playRateless(() => rateless.everyNth(every, seconds), 20 * minutes, 8);
    expect(played.answers).toBeGreaterThan((20 * 60) / (3 * seconds));
    expect(played.early).toBe(0);
  }
});

test('a clock that was set back by an hour holds up nothing', () => {
  const now = Date.UTC(2026, 10, 22);
  const pace = refused(null, now, 60_000);
  expect(readPace(pace, now)).toEqual(pace);
  expect(readPace(pace, now - 3_600_000)).toMatchObject({ rate: pace?.rate, nextAt: now - 3_600_000 });
});

test('a quota of hours teaches no rate', () => {
  expect(refused(null, 60_000, 3_600_000)).toBeNull();
  expect(refused(refused(null, 1_000, 1_100), 5_000, 3_600_000)).toBeNull();
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
  test('no request is due before the pause is over; each 429 makes it slower; the rate stays finite and positive; JSON keeps all', () => {
    fc.assert(
      fc.property(story, (events) => {
        let now = 1_700_000_000_000;
        let pace = refused(null, now, 1_100);
        for (const { requests, lateMs, waitMs } of events) {
          if (pace === null) return;
          for (let count = 0; count < requests; count++) {
            now = Math.max(now, pace.nextAt + lateMs);
            const before = pace.rate;
            pace = sent(pace, now);
            expect(pace.nextAt).toBeGreaterThan(now);
            expect(pace.rate).toBeGreaterThanOrEqual(before);
          }
          const { rate } = pace;
          pace = refused(pace, now, waitMs);
          if (pace === null) return;
          expect(pace.nextAt).toBeGreaterThanOrEqual(now + waitMs);
          expect(pace.rate).toBeLessThanOrEqual(Math.max(0.9 * rate, 0.7));
          expect(pace.rate).toBeGreaterThanOrEqual(0.7);
          expect(pace.rate).toBeLessThanOrEqual(1_000);
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

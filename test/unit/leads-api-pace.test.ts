import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  answered,
  firstPace,
  longer,
  type Pace,
  rateOf,
  readPace,
  refused,
  sent,
} from '../../src/leads-api/pace.ts';
import { lawRuns } from '../support/law-runs.ts';
import { limitKinds, playPace } from '../support/play-pace.ts';

const minutes = 60_000;

/** What 20 minutes come to at least and at most; bench/pace.md has more of them. */
const bounds = [
  ['steady', () => 1, 0.95, 0.006],
  ['doubled after 10 minutes', (ms: number) => (ms < 10 * minutes ? 1 : 2), 0.9, 0.006],
  ['halved after 10 minutes', (ms: number) => (ms < 10 * minutes ? 1 : 0.5), 0.92, 0.01],
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

test('a service that refuses whatever the pace is does not make it slower and slower', () => {
  for (const every of [2, 3, 5, 15, 50]) {
    let [pace, now, answers]: [Pace | null, number, number] = [null, 0, 0];
    let dropped = 0;
    for (let request = 1; answers < 2_000; request++) {
      if (pace !== null) {
        now = Math.max(now, pace.nextAt);
        pace = sent(pace, now);
      }
      if (request % every === 0) {
        const next: Pace | null =
          pace === null
            ? firstPace({ since: now - 10, accepted: every - 1 }, now, 1_100)
            : refused(pace, now, 1_100);
        if (pace !== null && next === null) dropped += 1;
        pace = next;
        now += 1_100;
      } else {
        answers += 1;
        pace &&= answered(pace);
      }
    }
    expect(dropped).toBeGreaterThan(0);
    const unpacedMs = (2_000 / (every - 1)) * 1_100;
    expect(now / unpacedMs, `each ${every}th`).toBeLessThan(4);
  }
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
          expect(readPace(JSON.parse(JSON.stringify(pace)))).toEqual(pace);
        }
      }),
      { numRuns: lawRuns(300) },
    );
  });

  test('what is no pace is none', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(readPace(value)).toBeNull();
      }),
      { numRuns: lawRuns(100) },
    );
  });
});

import { expect, test } from 'vitest';
import { RateWindow } from '../../src/demo/rate-limit.ts';

test('a request is early from the moment the reply was sent until the announced time', () => {
  const window = new RateWindow();
  const announcement = window.announce({ seconds: 2 }, 10_000);
  expect(announcement.retryAfter).toBe('2');
  expect(window.check(10_001, 0)).toEqual({ waitMs: 1999, early: false });
  announcement.delivered(10_005);
  expect(window.check(10_005, 0)).toEqual({ waitMs: 1995, early: true });
  expect(window.check(10_024, 20)).toEqual({ waitMs: 1976, early: false });
  expect(window.check(11_999, 20)).toEqual({ waitMs: 1, early: true });
  expect(window.check(12_000, 0)).toEqual({ waitMs: 0, early: false });
});

test('an HTTP date points at the end of the window exactly', () => {
  const window = new RateWindow();
  const { retryAfter } = window.announce({ dateInSeconds: 3 }, 10_250);
  expect(retryAfter).toBe('Thu, 01 Jan 1970 00:00:14 GMT');
  expect(window.check(13_999, 0).waitMs).toBe(1);
  expect(window.check(14_000, 0).waitMs).toBe(0);
});

test.each(['none', 'garbage', { seconds: -1 }, { seconds: 0 }] as const)(
  '%j begins no window',
  (retryAfter) => {
    const window = new RateWindow();
    window.announce(retryAfter, 10_000).delivered(10_000);
    expect(window.check(10_000, 0)).toEqual({ waitMs: 0, early: false });
  },
);

test('a shorter announcement does not end a longer one', () => {
  const window = new RateWindow();
  window.announce({ seconds: 5 }, 10_000).delivered(10_000);
  window.announce({ seconds: 1 }, 10_000).delivered(10_000);
  expect(window.check(14_000, 0)).toEqual({ waitMs: 1000, early: true });
});

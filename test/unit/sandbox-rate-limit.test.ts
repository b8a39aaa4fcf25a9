import { describe, expect, test } from 'vitest';
import { parseRate, RateMeter } from '../../src/demo/rate-limit.ts';

describe('a token bucket', () => {
  test('answers what it holds at once, then so many a second, and says when the next one is due', () => {
    const meter = new RateMeter();
    const limit = { perSecond: 2, burst: 3 };
    expect([1, 2, 3, 4].map(() => meter.take(limit, 60_000))).toEqual([0, 0, 0, 1]);
    expect(meter.take(limit, 60_499)).toBe(1);
    expect([meter.take(limit, 60_500), meter.take(limit, 60_501)]).toEqual([0, 1]);
    expect(meter.take({ perSecond: 0.2, burst: 3 }, 60_501)).toBe(5);
    expect([1, 2, 3, 4].map(() => meter.take(limit, 90_000))).toEqual([0, 0, 0, 1]);
  });
});

describe('a fixed window', () => {
  test('answers its requests whenever they come, and says when the next one begins', () => {
    const meter = new RateMeter();
    const limit = { perSecond: 0.2, window: 10 };
    expect([meter.take(limit, 68_500), meter.take(limit, 68_600)]).toEqual([0, 0]);
    expect(meter.take(limit, 68_601)).toBe(2);
    expect(meter.take({ perSecond: 0.4, window: 10 }, 68_700)).toBe(0);
    expect([1, 2, 3].map(() => meter.take(limit, 70_000))).toEqual([0, 0, 10]);
  });
});

test.each([
  ['10/s', { perSecond: 10, burst: 10 }],
  ['0.5/s', { perSecond: 0.5, burst: 1 }],
  ['10/s,burst=1', { perSecond: 10, burst: 1 }],
  ['2.5/s,window=60', { perSecond: 2.5, window: 60 }],
])('%s is understood', (text, limit) => {
  expect(parseRate(text)).toEqual(limit);
});

test.each([
  '',
  '10',
  '0/s',
  '-1/s',
  '10/m',
  '10/s,burst=0',
  '10/s,window=',
  '10/s,size=3',
  '1/s,burst=2,window=3',
])('%j is refused', (text) => {
  expect(() => parseRate(text)).toThrow(expect.objectContaining({ code: 'sandbox.rate-invalid' }));
});

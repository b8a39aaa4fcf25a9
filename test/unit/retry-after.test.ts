import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs, retryAfterMs } from '../../src/lib/retry-after.ts';

const now = Date.parse('2026-11-06T08:49:37.250Z');

describe('retryAfterMs', () => {
  test.each([
    ['1', 1_000],
    [' 30 ', 30_000],
    ['007', 7_000],
    ['0.2', 1_000],
    ['1.5', 2_000],
    ['86400', 86_400_000],
    ['86401', 86_400_000],
    ['1000000000', 86_400_000],
    ['9000000000000', 86_400_000],
    ['9'.repeat(400), 86_400_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400_000],
    ['4, 4', 4_000],
    ['4,7', 7_000],
    ['7, 4', 7_000],
    ['4;', 4_000],
    ['4; reason=busy, 6', 6_000],
    ['4, soon', 4_000],
    [', 4,', 4_000],
    ['0, 4', 4_000],
    ['Fri, 06 Nov 2026 08:50:37 GMT, Fri, 06 Nov 2026 08:51:37 GMT', 119_750],
    ['5, Friday, 06-Nov-26 08:50:37 GMT', 59_750],
    ['Fri Nov  6 08:50:37 2026, 120', 120_000],
  ])('reads %j, of which a day at most counts', (header, ms) => {
    expect(retryAfterMs(header, undefined, now)).toBe(ms);
  });

  test.each(['Fri, 06 Nov 2026 08:50:37 GMT', 'Friday, 06-Nov-26 08:50:37 GMT', 'Fri Nov  6 08:50:37 2026'])(
    'reads the HTTP date %j, on our clock without a Date header',
    (header) => {
      expect(retryAfterMs(header, undefined, now)).toBe(59_750);
      expect(retryAfterMs(header, 'nonsense', now)).toBe(59_750);
    },
  );

  test('reads an HTTP date against the Date header, whatever our clock shows', () => {
    const header = 'Fri, 06 Nov 2026 12:00:30 GMT';
    expect(retryAfterMs(header, 'Fri, 06 Nov 2026 12:00:00 GMT', now)).toBe(30_000);
    expect(retryAfterMs(header, 'Fri, 06 Nov 2026 12:00:00 GMT', now + 86_400_000)).toBe(30_000);
  });

  test('takes the longest of several', () => {
    expect(retryAfterMs(['5', '20', 'x'], undefined, now)).toBe(20_000);
  });

  test.each([
    undefined,
    '',
    ' ',
    '0',
    '0.0',
    '-1',
    '-5',
    '+5',
    '1e3',
    '0x10',
    '0, 0',
    ',',
    ';',
    '5 s',
    'NaN',
    'Infinity',
    'soon',
    '2026-11-06T09:00:00Z',
    'Fri, 06 Nov 2026 08:49:36 GMT',
    'Mon, 99 Xyz 2026 08:49:36 GMT',
  ])('finds %j senseless', (header) => {
    expect(retryAfterMs(header, undefined, now)).toBeNull();
  });

  test('is never early, and gives a usable number or null for any text', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 86_399, noNaN: true }), (seconds) => {
        const text = seconds.toFixed(3);
        expect(retryAfterMs(text, undefined, now) ?? -1).toBeGreaterThanOrEqual(
          Number(text) > 0 ? Number(text) * 1000 : -1,
        );
      }),
    );
    fc.assert(
      fc.property(fc.string(), fc.string(), (header, date) => {
        const ms = retryAfterMs(header, date, now);
        expect(ms === null || (Number.isFinite(ms) && ms > 0)).toBe(true);
      }),
    );
  });
});

test('backoffMs doubles from 1 s to 60 s, less up to a quarter', () => {
  const whole = [1, 2, 3, 4, 5, 6, 7, 50, 5000].map((count) => backoffMs(count, () => 0));
  expect(whole).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  expect(backoffMs(1, () => 1)).toBe(750);
  expect(backoffMs(9, () => 0.5)).toBe(52_500);
});

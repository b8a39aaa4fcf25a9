import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseQuietHours, parseTimeOfDay } from '../support/config-values.ts';
import { digestDays, digestsAround, digestTime, localDateOf } from '../../src/reminders/plan/local-time.ts';
import type { Weekday } from '../../src/config/values.ts';

const everyDay: readonly Weekday[] = [1, 2, 3, 4, 5, 6, 7];
const mondayToFriday: readonly Weekday[] = [1, 2, 3, 4, 5];
const berlin = {
  timeZone: 'Europe/Berlin',
  quietHours: null,
  workingDays: everyDay,
  dateOnlyAt: 8 * 60,
  digestAt: null,
};
const iso = (at: number): string => new Date(at).toISOString();

test.each<[string, string, string, string, string]>([
  ['winter', '2026-11-21', '08:00', 'Europe/Berlin', '2026-11-21T07:00:00.000Z'],
  ['summer', '2026-07-21', '08:00', 'Europe/Berlin', '2026-07-21T06:00:00.000Z'],
  ['in the gap: after it', '2026-03-29', '02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
  ['twice: the earlier', '2026-10-25', '02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
  ['a day without midnight', '2026-04-24', '00:00', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
  ['45 minutes', '2026-11-21', '08:00', 'Asia/Kathmandu', '2026-11-21T02:15:00.000Z'],
  ['a leap day', '2028-02-29', '23:59', 'UTC', '2028-02-29T23:59:00.000Z'],
])('the moment of a digest: %s', (_, date, at, timeZone, expected) => {
  expect(iso(digestTime(date, parseTimeOfDay(at), { ...berlin, timeZone }))).toBe(expected);
});

test('a clock change does not move it into the quiet hours', () => {
  const rules = { ...berlin, quietHours: parseQuietHours('03:00-04:00') };
  expect(iso(digestTime('2026-03-29', parseTimeOfDay('02:30'), rules))).toBe('2026-03-29T02:00:00.000Z');
});

test.each([
  ['2026-11-21T22:59:59.999Z', 'Europe/Berlin', '2026-11-21'],
  ['2026-11-21T23:00:00.000Z', 'Europe/Berlin', '2026-11-22'],
  ['2026-11-21T23:00:00.000Z', 'America/New_York', '2026-11-21'],
  ['2026-11-21T18:15:00.000Z', 'Asia/Kathmandu', '2026-11-22'],
])('at %s it is in %s the %s', (at, zone, expected) => {
  expect(localDateOf(Date.parse(at), zone)).toBe(expected);
});

test.each<[string, string, string, readonly [string, string, string]]>([
  [
    'an ordinary week',
    '2026-11-21',
    'Europe/Berlin',
    ['2026-11-20T23:00', '2026-11-21T23:00', '2026-11-28T23:00'],
  ],
  [
    'a day of 23 hours',
    '2026-03-29',
    'Europe/Berlin',
    ['2026-03-28T23:00', '2026-03-29T22:00', '2026-04-05T22:00'],
  ],
  [
    'a day of 25 hours',
    '2026-10-25',
    'Europe/Berlin',
    ['2026-10-24T22:00', '2026-10-25T23:00', '2026-11-01T23:00'],
  ],
  [
    'a day that begins at 01:00',
    '2026-04-24',
    'Africa/Cairo',
    ['2026-04-23T22:00', '2026-04-24T21:00', '2026-05-01T21:00'],
  ],
  [
    'the end of a leap February',
    '2028-02-29',
    'UTC',
    ['2028-02-29T00:00', '2028-03-01T00:00', '2028-03-08T00:00'],
  ],
])('the days of a digest: %s', (_, date, zone, expected) => {
  const { today, tomorrow, end } = digestDays(date, zone);
  expect([today, tomorrow, end].map((at) => iso(at).slice(0, 16))).toEqual(expected);
});

describe('the digests around a moment', () => {
  const around = (at: string, workingDays = everyDay) => {
    const found = digestsAround(Date.parse(at), {
      ...berlin,
      workingDays,
      digestAt: parseTimeOfDay('08:00'),
    });
    return found && [found.last.localDate, found.next.localDate];
  };

  test.each<[string, string, readonly Weekday[], readonly string[]]>([
    ['before it', '2026-11-19T06:59:59.999Z', everyDay, ['2026-11-18', '2026-11-19']],
    ['just then', '2026-11-19T07:00:00.000Z', everyDay, ['2026-11-19', '2026-11-20']],
    ['at the weekend', '2026-11-21T10:00:00.000Z', mondayToFriday, ['2026-11-20', '2026-11-23']],
    ['one day a week, just before it', '2026-11-23T06:00:00.000Z', [1], ['2026-11-16', '2026-11-23']],
    ['one day a week, just after it', '2026-11-23T08:00:00.000Z', [1], ['2026-11-23', '2026-11-30']],
  ])('%s', (_, at, days, expected) => expect(around(at, days)).toEqual(expected));

  test('none without a time', () => {
    expect(digestsAround(0, { ...berlin, digestAt: null })).toBeNull();
  });

  test('law: one has come and the other not, and none is between them', () => {
    const days = fc.subarray([...everyDay], { minLength: 1 });
    const zone = fc.constantFrom(
      'Europe/Berlin',
      'Africa/Cairo',
      'Pacific/Apia',
      'Australia/Lord_Howe',
      'UTC',
    );
    const at = fc.integer({ min: Date.UTC(2010, 0), max: Date.UTC(2040, 0) });
    fc.assert(
      fc.property(at, fc.nat(1439), days, zone, (now, digestAt, workingDays, timeZone) => {
        const rules = { ...berlin, timeZone, workingDays, digestAt };
        const found = digestsAround(now, rules);
        if (found === null) return false;
        expect(found.last.sendAt).toBeLessThanOrEqual(now);
        expect(found.next.sendAt).toBeGreaterThan(now);
        const middle = digestsAround(found.next.sendAt - 1, rules);
        return middle?.last.localDate === found.last.localDate;
      }),
    );
  });
});

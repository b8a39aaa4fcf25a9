import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { parseOffset, parseQuietHours } from '../support/config-values.ts';
import type { Weekday } from '../../src/config/values.ts';
import { type AllowedTimes, nextAllowed, sendTime } from '../../src/reminders/plan/send-time.ts';

const everyDay: readonly Weekday[] = [1, 2, 3, 4, 5, 6, 7];
const mondayToFriday: readonly Weekday[] = [1, 2, 3, 4, 5];

interface Given {
  readonly zone?: string;
  readonly quiet?: string;
  readonly days?: readonly Weekday[];
  /** Minutes since midnight. */
  readonly digestAt?: number;
}

function rules({ zone = 'Europe/Berlin', quiet, days = everyDay, digestAt }: Given): AllowedTimes {
  return {
    timeZone: zone,
    quietHours: quiet === undefined ? null : parseQuietHours(quiet),
    workingDays: days,
    dateOnlyAt: 8 * 60,
    digestAt: digestAt ?? null,
  };
}

/** When a mail is sent, as the clocks of the zone show it: what people check. */
function sent(due: string, offset: string, given: Given): string {
  const { timeZone } = rules(given);
  const at = sendTime(Temporal.Instant.from(due).epochMilliseconds, parseOffset(offset), rules(given));
  return Temporal.Instant.fromEpochMilliseconds(at)
    .toZonedDateTimeISO(timeZone)
    .toString({ timeZoneName: 'never' })
    .replace(/(T\d\d:\d\d):00(?=[+-])/, '$1');
}

const night = { quiet: '20:00-08:00' };
const noon = { quiet: '12:00-13:30' };
const week = { days: mondayToFriday };

describe('before the due moment', () => {
  test.each<[string, string, string, Given, string]>([
    ['at once', '2026-11-21T09:15:30.123Z', '0m', {}, '2026-11-21T10:15:30.123+01:00'],
    ['minutes', '2026-11-21T09:15:00Z', '30m', {}, '2026-11-21T09:45+01:00'],
    ['hours over midnight', '2026-11-21T00:30:00Z', '2h', {}, '2026-11-20T23:30+01:00'],
    ['a day', '2026-11-21T09:00:00Z', '1d', {}, '2026-11-20T10:00+01:00'],
    ['a day into the month before', '2026-03-01T09:00:00Z', '1d', {}, '2026-02-28T10:00+01:00'],
    ['a day into a leap day', '2028-03-01T09:00:00Z', '1d', {}, '2028-02-29T10:00+01:00'],
    ['a leap day, a year before', '2028-02-29T09:00:00Z', '365d', {}, '2027-03-01T10:00+01:00'],
    ['a year over a leap day', '2028-03-01T09:00:00Z', '365d', {}, '2027-03-02T10:00+01:00'],
    [
      'a day over the gap keeps the time of the day',
      '2026-03-29T10:00:00Z',
      '1d',
      {},
      '2026-03-28T12:00+01:00',
    ],
    ['24 hours over the gap do not', '2026-03-29T10:00:00Z', '24h', {}, '2026-03-28T11:00+01:00'],
    ['a day over the overlap', '2026-10-25T11:00:00Z', '1d', {}, '2026-10-24T12:00+02:00'],
    ['24 hours over the overlap', '2026-10-25T11:00:00Z', '24h', {}, '2026-10-24T13:00+02:00'],
    ['a day into the gap: after it', '2026-03-30T00:30:00Z', '1d', {}, '2026-03-29T03:30+02:00'],
    ['a day into the overlap: the earlier', '2026-10-26T01:30:00Z', '1d', {}, '2026-10-25T02:30+02:00'],
    ['a day out of the overlap, first time', '2026-10-25T00:30:00Z', '1d', {}, '2026-10-24T02:30+02:00'],
    ['a day out of the overlap, second time', '2026-10-25T01:30:00Z', '1d', {}, '2026-10-24T02:30+02:00'],
    ['hours within the overlap pass', '2026-10-25T01:30:00Z', '1h', {}, '2026-10-25T02:30+02:00'],
    ['Nepal, 45 minutes', '2026-11-21T03:15:00Z', '1d', { zone: 'Asia/Kathmandu' }, '2026-11-20T09:00+05:45'],
    [
      'Lord Howe, a gap of half an hour',
      '2026-10-04T15:15:00Z',
      '1d',
      { zone: 'Australia/Lord_Howe' },
      '2026-10-04T02:45+11:00',
    ],
    [
      'Samoa, a day that never was',
      '2011-12-30T20:00:00Z',
      '1d',
      { zone: 'Pacific/Apia' },
      '2011-12-31T10:00+14:00',
    ],
    [
      'clocks that went back at midnight in UTC',
      '1977-09-26T00:30:00Z',
      '1d',
      { zone: 'Europe/Lisbon' },
      '1977-09-25T00:30+01:00',
    ],
    ['year 9999', '9999-12-31T23:59:59.999Z', '1d', { zone: 'UTC' }, '9999-12-30T23:59:59.999+00:00'],
    ['year 1', '0001-01-01T00:00:00Z', '1d', { zone: 'UTC' }, '0000-12-31T00:00+00:00'],
  ])('%s', (_, due, offset, given, expected) => expect(sent(due, offset, given)).toBe(expected));
});

describe('moved forward to when a mail may leave', () => {
  test.each<[string, string, Given, string]>([
    ['quiet in the evening', '2026-11-21T21:00:00Z', night, '2026-11-22T08:00+01:00'],
    ['quiet in the morning', '2026-11-21T05:00:00Z', night, '2026-11-21T08:00+01:00'],
    ['they begin with their first minute', '2026-11-21T19:00:00Z', night, '2026-11-22T08:00+01:00'],
    ['the moment before', '2026-11-21T18:59:59.999Z', night, '2026-11-21T19:59:59.999+01:00'],
    ['they end with their last', '2026-11-21T07:00:00Z', night, '2026-11-21T08:00+01:00'],
    ['the moment before their end', '2026-11-21T06:59:59.999Z', night, '2026-11-21T08:00+01:00'],
    ['quiet at noon', '2026-11-21T11:30:00Z', noon, '2026-11-21T13:30+01:00'],
    ['until midnight', '2026-11-21T22:00:00Z', { quiet: '20:00-24:00' }, '2026-11-22T00:00+01:00'],
    ['all but a minute', '2026-11-21T22:00:00Z', { quiet: '00:00-23:59' }, '2026-11-21T23:59+01:00'],
    ['a Saturday: at the same time of the day', '2026-11-21T09:00:00Z', week, '2026-11-23T10:00+01:00'],
    [
      'a Saturday, with a digest',
      '2026-11-21T09:00:00Z',
      { ...week, digestAt: 510 },
      '2026-11-23T08:30+01:00',
    ],
    [
      'a Saturday, in the quiet hours',
      '2026-11-21T21:00:00Z',
      { ...night, ...week },
      '2026-11-23T08:00+01:00',
    ],
    [
      'a Saturday, quiet before Monday noon',
      '2026-11-21T09:00:00Z',
      { ...week, quiet: '20:00-12:00' },
      '2026-11-23T12:00+01:00',
    ],
    ['a Friday evening', '2026-11-20T20:00:00Z', { ...night, ...week }, '2026-11-23T08:00+01:00'],
    [
      'a Friday at 23:59 local is no Saturday in UTC',
      '2026-11-21T04:59:00Z',
      { ...week, zone: 'America/New_York' },
      '2026-11-20T23:59-05:00',
    ],
    ['one day of the week', '2026-11-24T09:00:00Z', { days: [1] }, '2026-11-30T10:00+01:00'],
    [
      'a quiet end in the gap: when the clocks are changed',
      '2026-03-29T00:30:00Z',
      { quiet: '20:00-02:30' },
      '2026-03-29T03:00+02:00',
    ],
    ['a quiet begin in the gap', '2026-03-29T01:00:00Z', { quiet: '02:30-04:00' }, '2026-03-29T04:00+02:00'],
    [
      'a quiet end that comes twice: the first',
      '2026-10-24T22:00:00Z',
      { quiet: '20:00-02:30' },
      '2026-10-25T02:30+02:00',
    ],
    [
      'quiet again when the clocks go back',
      '2026-10-25T01:10:00Z',
      { quiet: '20:00-02:30' },
      '2026-10-25T02:30+01:00',
    ],
    [
      'between the two, not quiet',
      '2026-10-25T00:45:00Z',
      { quiet: '20:00-02:30' },
      '2026-10-25T02:45+02:00',
    ],
    [
      'a day that begins at 01:00',
      '2026-04-23T15:00:00Z',
      { zone: 'Africa/Cairo', days: [5] },
      '2026-04-24T17:00+03:00',
    ],
    [
      'quiet until midnight, which there is not',
      '2026-04-23T20:00:00Z',
      { zone: 'Africa/Cairo', quiet: '20:00-00:00' },
      '2026-04-24T01:00+03:00',
    ],
    [
      'a working day that the clocks turn back into a day off',
      '2018-02-17T12:00:00Z',
      { zone: 'America/Sao_Paulo', days: [7] },
      '2018-02-18T10:00-03:00',
    ],
    ['Kathmandu', '2026-11-21T15:00:00Z', { ...night, zone: 'Asia/Kathmandu' }, '2026-11-22T08:00+05:45'],
    [
      'Lord Howe, in the gap of half an hour',
      '2026-10-03T15:00:00Z',
      { zone: 'Australia/Lord_Howe', quiet: '01:00-02:15' },
      '2026-10-04T02:30+11:00',
    ],
    [
      'Samoa, whose Friday was left out',
      '2011-12-30T09:00:00Z',
      { zone: 'Pacific/Apia', days: [5] },
      '2012-01-06T23:00+14:00',
    ],
    ['a leap day', '2028-02-28T20:00:00Z', night, '2028-02-29T08:00+01:00'],
    ['into the year 10000', '9999-12-31T22:00:00Z', night, '+010000-01-01T08:00+01:00'],
  ])('%s', (_, due, given, expected) => expect(sent(due, '0m', given)).toBe(expected));

  test('after the time before, not instead of it', () => {
    expect(sent('2026-11-24T08:00:00Z', '2h', { ...night, ...week })).toBe('2026-11-24T08:00+01:00');
    expect(sent('2026-11-23T08:00:00Z', '1d', { ...night, ...week })).toBe('2026-11-23T09:00+01:00');
  });

  test('not after the mail of 0m: a night off work moves to the due moment, not to the next night', () => {
    expect(sent('2026-11-23T00:00:00Z', '2h', week)).toBe('2026-11-23T01:00+01:00');
    expect(sent('2026-11-23T00:00:00Z', '0m', week)).toBe('2026-11-23T01:00+01:00');
  });

  test.each<[string, string, Given, string]>([
    ['a moment that is allowed', '2026-11-20T03:00:00Z', week, '2026-11-20T03:00:00Z'],
    ['a day off: the next morning', '2026-11-21T03:00:00Z', week, '2026-11-23T07:00:00Z'],
    [
      'a day off: the time of the digest',
      '2026-11-21T03:00:00Z',
      { ...week, digestAt: 540 },
      '2026-11-23T08:00:00Z',
    ],
    [
      'not before the quiet hours end',
      '2026-11-21T03:00:00Z',
      { ...week, quiet: '20:00-09:30' },
      '2026-11-23T08:30:00Z',
    ],
  ])('what was put off leaves at a sensible hour: %s', (_, at, given, expected) => {
    expect(nextAllowed(Date.parse(at), rules(given))).toBe(Date.parse(expected));
  });

  test('rules that leave no moment are an error, not an endless search', () => {
    expect(() => nextAllowed(0, rules({ days: [] }))).toThrow(RangeError);
  });
});

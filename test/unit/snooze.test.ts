import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayOf } from '../../src/core/lead/instant.ts';
import { snoozed } from '../../src/core/lead/follow-up.ts';

const berlin = { timeZone: 'Europe/Berlin', dayZone: 'Europe/Berlin' };
const at = (text: string): number => Date.parse(text);

test.each([
  [
    'a day later at the same time',
    '2027-11-17T08:00:00Z',
    'day',
    '2027-11-10T12:00:00Z',
    '2027-11-18T08:00:00Z',
  ],
  ['a week later', '2027-11-17T08:00:00Z', 'week', '2027-11-10T12:00:00Z', '2027-11-24T08:00:00Z'],
  [
    'over the end of summer time',
    '2026-10-24T08:00:00Z',
    'day',
    '2026-10-20T12:00:00Z',
    '2026-10-25T09:00:00Z',
  ],
  ['over its beginning', '2026-03-28T08:00:00Z', 'week', '2026-03-20T12:00:00Z', '2026-04-04T07:00:00Z'],
  [
    'into the hour that does not exist',
    '2026-03-28T01:30:00Z',
    'day',
    '2026-03-20T12:00:00Z',
    '2026-03-29T01:30:00Z',
  ],
  ['a day stays a day', '2026-10-24T22:00:00Z', 'day', '2026-10-20T12:00:00Z', '2026-10-25T23:00:00Z'],
  ['overdue: from today on', '2027-11-01T08:00:00Z', 'day', '2027-11-10T12:00:00Z', '2027-11-11T08:00:00Z'],
  [
    'overdue by hours: tomorrow',
    '2027-11-10T08:00:00Z',
    'day',
    '2027-11-10T12:00:00Z',
    '2027-11-11T08:00:00Z',
  ],
  ['an overdue day', '2027-10-31T23:00:00Z', 'week', '2027-11-10T12:00:00Z', '2027-11-16T23:00:00Z'],
] as const)('%s', (_, due, by, now, expected) => {
  expect(new Date(snoozed(at(due), by, berlin, at(now)) ?? 0)).toEqual(new Date(expected));
});

test('done clears the date', () => {
  expect(snoozed(at('2027-11-17T08:00:00Z'), 'done', berlin, 0)).toBeNull();
});

test('a moved follow-up is always later than it was and than now; a day stays one, whatever the zones', () => {
  const zone = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia', 'UTC');
  const minute = fc.integer({
    min: at('2024-01-01T00:00:00Z') / 60_000,
    max: at('2030-01-01T00:00:00Z') / 60_000,
  });
  fc.assert(
    fc.property(
      minute,
      minute,
      zone,
      zone,
      fc.constantFrom('day', 'week'),
      (due, now, timeZone, dayZone, by) => {
        const zones = { timeZone, dayZone };
        const moved = snoozed(due * 60_000, by, zones, now * 60_000) ?? 0;
        expect(moved).toBeGreaterThan(due * 60_000);
        const isDay = dayOf(due * 60_000, dayZone) !== null;
        if (isDay) expect(dayOf(moved, dayZone)).not.toBeNull();
        // A day begins up to a day before or after it does for somebody elsewhere.
        expect(moved).toBeGreaterThan(now * 60_000 - (isDay ? 26 * 3_600_000 : 0));
      },
    ),
  );
});

import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { dayOf, readInstant } from '../../src/core/lead/instant.ts';
import { lawRuns } from '../support/law-runs.ts';
import { hardZones } from '../support/hard-zones.ts';

const days = fc
  .integer({ min: -20_000, max: 60_000 })
  .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));
const runs = { numRuns: lawRuns(500) };

test.each([
  ['midnight', '2027-11-16T23:00:00.000Z', 'Europe/Berlin', '2027-11-17'],
  ['midnight elsewhere', '2027-11-17T00:00:00.000Z', 'Europe/Berlin', null],
  ['a millisecond later', '2027-11-16T23:00:00.001Z', 'Europe/Berlin', null],
  ['a minute before', '2027-11-16T22:59:00.000Z', 'Europe/Berlin', null],
  ['UTC', '2027-11-17T00:00:00.000Z', 'UTC', '2027-11-17'],
  ['a day that begins at 01:00', '2026-04-23T22:00:00.000Z', 'Africa/Cairo', '2026-04-24'],
  ['its hour after that', '2026-04-23T23:00:00.000Z', 'Africa/Cairo', null],
  ['Beirut', '2026-03-28T22:00:00.000Z', 'Asia/Beirut', '2026-03-29'],
  ['Santiago', '2026-09-06T04:00:00.000Z', 'America/Santiago', '2026-09-06'],
  ['midnight that comes twice: the first', '2026-11-01T04:00:00.000Z', 'America/Havana', '2026-11-01'],
  ['midnight that comes twice: the second', '2026-11-01T05:00:00.000Z', 'America/Havana', null],
  ['the day after one that never was', '2011-12-30T10:00:00.000Z', 'Pacific/Apia', '2011-12-31'],
  ['before 1970', '1960-02-28T23:00:00.000Z', 'Europe/Berlin', '1960-02-29'],
])('%s', (_, instant, timeZone, expected) => {
  expect(dayOf(Date.parse(instant), timeZone)).toBe(expected);
});

test('law: a date without a time is read as an instant that is that day', () => {
  fc.assert(
    fc.property(days, hardZones, (day, timeZone) => {
      const instant = readInstant(day, timeZone);
      const found = dayOf(Date.parse(instant ?? ''), timeZone);
      // Samoa and Kwajalein have each left out a day: the next one stands for it.
      if (['Pacific/Apia', 'Pacific/Kwajalein'].includes(timeZone)) expect(found).not.toBeNull();
      else expect(found).toBe(day);
    }),
    runs,
  );
});

test('law: an instant is a day only when that day is read as it', () => {
  const near = fc
    .tuple(days, hardZones, fc.integer({ min: -8, max: 8 }))
    .map(([day, timeZone, quarters]) => ({
      timeZone,
      instant: Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds + quarters * 900_000,
    }));
  fc.assert(
    fc.property(near, ({ instant, timeZone }) => {
      const day = dayOf(instant, timeZone);
      const local = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone);
      const begins = local.startOfDay().epochMilliseconds === instant;
      expect(day).toBe(begins ? local.toPlainDate().toString() : null);
      if (day !== null) expect(readInstant(day, timeZone)).toBe(new Date(instant).toISOString());
    }),
    runs,
  );
});

import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { parseOffset } from '../support/config-values.ts';
import { isQuiet, type Offset, type Weekday } from '../../src/config/values.ts';
import { type AllowedTimes, dueFor, nextAllowed, sendTime } from '../../src/reminders/plan/send-time.ts';
import { daysBefore, stretchAt } from '../../src/core/lead/instant.ts';
import { hardZones } from '../support/hard-zones.ts';
import { lawRuns } from '../support/law-runs.ts';

const minute = fc.integer({ min: 0, max: 1439 });
const anyRules: fc.Arbitrary<AllowedTimes> = fc.record({
  timeZone: hardZones,
  quietHours: fc.option(
    fc.record({ from: minute, to: minute }).filter(({ from, to }) => from !== to),
    { nil: null },
  ),
  workingDays: fc.subarray<Weekday>([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }),
  dateOnlyAt: minute,
  digestAt: fc.option(minute, { nil: null }),
});
/** Mostly near the changes of the clocks, where it is hard. */
const moment = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: Date.UTC(2010, 0), max: Date.UTC(2035, 0) }) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom('2026-03-29', '2026-10-25', '2026-04-24', '2026-10-04', '2018-02-18', '2011-12-30'),
        fc.integer({ min: -2 * 86_400_000, max: 2 * 86_400_000 }),
      )
      .map(([day, by]) => Date.parse(day) + by),
  },
  { weight: 1, arbitrary: fc.integer({ min: Date.UTC(1850, 0), max: Date.UTC(9999, 0) }) },
);
const anyOffset: fc.Arbitrary<Offset> = fc.oneof(
  fc.integer({ min: 0, max: 365 }).map((days) => parseOffset(`${days}d`)),
  fc.integer({ min: 0, max: 5_000 }).map((minutes) => parseOffset(`${minutes}m`)),
);
const runs = { numRuns: lawRuns(300) };

function startOfDayAt(at: number, timeZone: string): number {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).startOfDay()
    .epochMilliseconds;
}

/** As a person with a calendar would look, by Temporal alone. */
function mayLeave(at: number, { timeZone, quietHours, workingDays }: AllowedTimes): boolean {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
  if (!workingDays.includes(local.dayOfWeek as Weekday)) return false;
  return quietHours === null || !isQuiet(local.hour * 60 + local.minute, quietHours);
}

describe('laws', () => {
  test('never in the quiet hours, never on a day off', () => {
    fc.assert(
      fc.property(moment, anyOffset, anyRules, (due, offset, given) =>
        mayLeave(sendTime(due, offset, given), given),
      ),
      runs,
    );
  });

  test('never before the moment that was asked for, and not at all moved when that is fine', () => {
    fc.assert(
      fc.property(moment, anyRules, (at, given) => {
        const sentAt = nextAllowed(at, given);
        return mayLeave(at, given) ? sentAt === at : sentAt > at;
      }),
      runs,
    );
  });

  test('the first such moment; after a day off, on the first such day', () => {
    const everyDay: readonly Weekday[] = [1, 2, 3, 4, 5, 6, 7];
    fc.assert(
      fc.property(moment, anyRules, fc.double({ min: 0, max: 1, noNaN: true }), (at, given, where) => {
        const sentAt = nextAllowed(at, given);
        const isExact = given.workingDays.length === everyDay.length;
        const until = isExact ? sentAt : Math.min(sentAt, startOfDayAt(sentAt, given.timeZone));
        if (until <= at) return true;
        const between = Math.floor(at + (until - 1 - at) * where);
        return !mayLeave(until - 1, given) && !mayLeave(between, given);
      }),
      runs,
    );
  });

  test('what was moved once is not moved again', () => {
    fc.assert(
      fc.property(moment, anyRules, (at, given) => {
        const sentAt = nextAllowed(at, given);
        return nextAllowed(sentAt, given) === sentAt;
      }),
      runs,
    );
  });

  test('on working days alone, what is due later is not sent earlier', () => {
    fc.assert(
      fc.property(moment, fc.nat(10 * 86_400_000), anyRules, (at, more, any) => {
        const given: AllowedTimes = { ...any, workingDays: [1, 2, 3, 4, 5, 6, 7] };
        expect(nextAllowed(at + more, given)).toBeGreaterThanOrEqual(nextAllowed(at, given));
      }),
      runs,
    );
  });

  test('no mail is sent after that of 0m', () => {
    fc.assert(
      fc.property(moment, anyOffset, anyRules, (due, offset, given) => {
        expect(sendTime(due, offset, given)).toBeLessThanOrEqual(sendTime(due, parseOffset('0m'), given));
      }),
      runs,
    );
  });

  test('a day is due on the same date for everybody, at the same time of the day, and overdue when it is over', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 5_000, max: 40_000 }),
        hardZones,
        hardZones,
        minute,
        (nth, dayZone, timeZone, dateOnlyAt) => {
          const date = Temporal.PlainDate.from(new Date(nth * 86_400_000).toISOString().slice(0, 10));
          const dueAt = date.toZonedDateTime(dayZone).epochMilliseconds;
          const due = dueFor(dueAt, { timeZone, dayZone, dateOnlyAt });
          const plainTime = new Temporal.PlainTime(Math.floor(dateOnlyAt / 60), dateOnlyAt % 60);
          const day =
            dueAt === date.add({ days: 1 }).toZonedDateTime(dayZone).epochMilliseconds ? null : date;
          // A day that a zone has left out is no day there.
          if (day === null) return;
          expect(due).toEqual({
            day: date.toString(),
            at: date.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds,
            overdueFrom: date.add({ days: 1 }).toZonedDateTime({ timeZone, plainTime: '00:00' })
              .epochMilliseconds,
          });
        },
      ),
      runs,
    );
  });

  test('calendar days and offsets are those of Temporal', () => {
    fc.assert(
      fc.property(moment, fc.nat(400), hardZones, (at, days, timeZone) => {
        const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
        expect(stretchAt(at, timeZone).offset).toBe(local.offsetNanoseconds / 1_000_000);
        expect(daysBefore(at, days, timeZone)).toBe(local.subtract({ days }).epochMilliseconds);
      }),
      runs,
    );
  });
});

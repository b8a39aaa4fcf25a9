import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { parseOffset } from '../support/config-values.ts';
import { isQuiet } from '../../src/core/lead/quiet-hours.ts';
import type { Offset, Weekday } from '../../src/config/values.ts';
import { type AllowedTimes, nextAllowed, sendTime } from '../../src/reminders/plan/send-time.ts';
import { daysBefore, stretchAt } from '../../src/core/lead/zone-offset.ts';
import { lawRuns } from '../support/law-runs.ts';

const zones = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Pacific/Apia',
  'Asia/Tehran',
);
const minute = fc.integer({ min: 0, max: 1439 });
const anyRules: fc.Arbitrary<AllowedTimes> = fc.record({
  timeZone: zones,
  quietHours: fc.option(
    fc.record({ from: minute, to: minute }).filter(({ from, to }) => from !== to),
    { nil: null },
  ),
  workingDays: fc.subarray<Weekday>([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }),
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

  test('the first such moment: the one before may not be used', () => {
    fc.assert(
      fc.property(moment, anyRules, fc.double({ min: 0, max: 1, noNaN: true }), (at, given, where) => {
        const sentAt = nextAllowed(at, given);
        if (sentAt === at) return true;
        const between = Math.floor(at + (sentAt - 1 - at) * where);
        return !mayLeave(sentAt - 1, given) && !mayLeave(between, given);
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

  test('what is due later is not sent earlier, nor what is to be sent less long before', () => {
    fc.assert(
      fc.property(moment, fc.nat(10 * 86_400_000), anyRules, (at, more, given) => {
        expect(nextAllowed(at + more, given)).toBeGreaterThanOrEqual(nextAllowed(at, given));
      }),
      runs,
    );
    const days = fc.tuple(fc.nat(40), fc.nat(40));
    fc.assert(
      fc.property(moment, days, anyRules, (due, [some, more], given) => {
        const at = (count: number): number => sendTime(due, parseOffset(`${count}d`), given);
        expect(at(some + more)).toBeLessThanOrEqual(at(some));
      }),
      runs,
    );
  });

  test('calendar days and offsets are those of Temporal', () => {
    fc.assert(
      fc.property(moment, fc.nat(400), zones, (at, days, timeZone) => {
        const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone);
        expect(stretchAt(at, timeZone).offset).toBe(local.offsetNanoseconds / 1_000_000);
        expect(daysBefore(at, days, timeZone)).toBe(local.subtract({ days }).epochMilliseconds);
      }),
      runs,
    );
  });
});

import { Temporal } from 'temporal-polyfill';
import type { ReminderRules } from '../../config/config.ts';
import type { Weekday } from '../../config/values.ts';
import { dayOf } from '../../core/lead/day.ts';
import { startOfDay } from './local-time.ts';
import { type AllowedTimes, nextAllowed } from './send-time.ts';
import { zoned } from '../../core/lead/zone-offset.ts';

type DigestRules = AllowedTimes & Pick<ReminderRules, 'digestAt'>;

export interface DigestTime {
  /** `2026-11-21`, in the recipients' zone. */
  readonly localDate: string;
  /** Epoch ms. */
  readonly sendAt: number;
}

/** The limits (epoch ms) of a digest's groups: a day begins with its first hour, not 24 hours later. */
export interface DigestDays {
  /** What is due earlier is overdue. */
  readonly today: number;
  readonly tomorrow: number;
  readonly end: number;
}

/** As `2026-11-21`. */
export function localDateOf(at: number, timeZone: string): string {
  return zoned(at, timeZone).toPlainDate().toString();
}

export function digestTime(localDate: string, digestAt: number, rules: AllowedTimes): number {
  const plainTime = new Temporal.PlainTime(Math.floor(digestAt / 60), digestAt % 60);
  const moment = Temporal.PlainDate.from(localDate).toZonedDateTime({ timeZone: rules.timeZone, plainTime });
  // A clock change may have moved it into the quiet hours.
  return nextAllowed(moment.epochMilliseconds, rules);
}

export function digestDays(localDate: string, timeZone: string): DigestDays {
  const start = (days: number): number => startOfDay(dayAfter(localDate, days), timeZone);
  return { today: start(0), tomorrow: start(1), end: start(8) };
}

/** The moment (epoch ms) by which a recipient's calendar has a follow-up: a day in the connection's zone begins with that day in the recipient's. */
export function momentIn(timeZone: string, dueAt: number, connectionZone: string): number {
  const day = timeZone === connectionZone ? null : dayOf(dueAt, connectionZone);
  return day === null ? dueAt : startOfDay(day, timeZone);
}

/** Due moments (epoch ms) near a digest's days that are a day in the connection's zone, and when that day begins in the recipient's (`at`). */
export function dayStarts(
  localDate: string,
  timeZone: string,
  connectionZone: string,
): readonly { readonly dueAt: number; readonly at: number }[] {
  if (timeZone === connectionZone) return [];
  const days = Array.from({ length: 15 }, (_, index) => dayAfter(localDate, index - 3));
  return days.flatMap((day) => {
    const dueAt = startOfDay(day, connectionZone);
    return dayOf(dueAt, connectionZone) === day ? [{ dueAt, at: startOfDay(day, timeZone) }] : [];
  });
}

function dayAfter(localDate: string, days: number): string {
  return Temporal.PlainDate.from(localDate).add({ days }).toString();
}

/** The digests around a moment (epoch ms): the last one due, and the next. Only on working days. Null: no digests. */
export function digestsAround(
  now: number,
  rules: DigestRules,
): { readonly last: DigestTime; readonly next: DigestTime } | null {
  const { digestAt } = rules;
  if (digestAt === null) return null;
  const today = zoned(now, rules.timeZone).toPlainDate();
  const days = Array.from({ length: 17 }, (_, index) => today.add({ days: index - 8 }))
    .filter(({ dayOfWeek }) => rules.workingDays.includes(dayOfWeek as Weekday))
    .map((date) => {
      const localDate = date.toString();
      return { localDate, sendAt: digestTime(localDate, digestAt, rules) };
    });
  const last = days.findLast(({ sendAt }) => sendAt <= now);
  const next = days.find(({ sendAt }) => sendAt > now);
  if (last === undefined || next === undefined) throw new RangeError('the rules leave no day for a digest');
  return { last, next };
}

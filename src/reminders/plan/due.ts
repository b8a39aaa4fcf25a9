import type { ReminderRules } from '../../config/config.ts';
import { dayOf } from '../../core/lead/day.ts';
import { momentOf, zoned } from '../../core/lead/zone-offset.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

export type DueRules = Pick<ReminderRules, 'timeZone' | 'dayZone' | 'dateOnlyAt'>;

/** Times are epoch ms. */
export interface Due {
  /** `2027-11-17` when it is that day, without a time; null: a moment. */
  readonly day: string | null;
  /** The moment that mails go by: of a day, `dateOnlyAt` in the recipient's zone. */
  readonly at: number;
  /** It is overdue from then on: a day when it is over in the recipient's zone. */
  readonly overdueFrom: number;
}

export function dueFor(dueAt: number, { timeZone, dayZone, dateOnlyAt }: DueRules): Due {
  const day = dayOf(dueAt, dayZone);
  if (day === null) return { day, at: dueAt, overdueFrom: dueAt };
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return {
    day,
    at: momentOf(midnight + dateOnlyAt * minuteMs, timeZone),
    overdueFrom: momentOf(midnight + dayMs, timeZone),
  };
}

/** The due moments (epoch ms) of days that have begun and are not over: not overdue yet. */
export function openDays(now: number, rules: DueRules): readonly number[] {
  const day = (by: number): number => startOfDayAt(now + by * dayMs, rules.dayZone);
  return [...new Set([day(-2), day(-1), day(0)])].filter(
    (dueAt) => dueAt <= now && dueFor(dueAt, rules).overdueFrom > now,
  );
}

function startOfDayAt(at: number, timeZone: string): number {
  return zoned(at, timeZone).startOfDay().epochMilliseconds;
}

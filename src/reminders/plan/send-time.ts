import { isQuiet } from '../../core/lead/quiet-hours.ts';
import type { ReminderRules } from '../../config/config.ts';
import type { Offset, Weekday } from '../../config/values.ts';
import { daysBefore, stretchAt } from '../../core/lead/zone-offset.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** The settings for when mails may be sent. */
export type AllowedTimes = Pick<ReminderRules, 'timeZone' | 'quietHours' | 'workingDays'>;

/**
 * When a reminder is sent (epoch ms): its offset before the due moment, moved forward to the next allowed time, possibly
 * after the due moment.
 *
 * Days are calendar days: one day before 09:00 is 09:00, even across a clock change. A skipped local time is moved past the
 * gap, an ambiguous one is the earlier (Temporal's `compatible`). Hours and minutes are elapsed time.
 */
export function sendTime(dueAt: number, offset: Offset, rules: AllowedTimes): number {
  const moved = offset.days === 0 ? dueAt : daysBefore(dueAt, offset.days, rules.timeZone);
  return nextAllowed(moved - offset.ms, rules);
}

/** The first moment (epoch ms) from `at` on a working day outside the quiet hours. */
export function nextAllowed(at: number, rules: AllowedTimes): number {
  let moment = at;
  // A week has every case; what a clock change removes is in the next one.
  const end = at + 21 * dayMs;
  while (moment <= end) {
    const { offset, until } = stretchAt(moment, rules.timeZone);
    const wall = moment + offset;
    if (isAllowed(wall, rules)) return moment;
    moment = Math.min(moment + toNextBoundary(wall, rules.quietHours), until);
  }
  throw new RangeError('the rules leave no moment for a mail');
}

function isAllowed(wall: number, { quietHours, workingDays }: AllowedTimes): boolean {
  if (!workingDays.includes(weekdayOf(wall))) return false;
  return quietHours === null || !isQuiet(Math.floor(timeOfDay(wall) / minuteMs), quietHours);
}

/** 1 January 1970 was a Thursday. */
function weekdayOf(wall: number): Weekday {
  return (modulo(Math.floor(wall / dayMs) + 3, 7) + 1) as Weekday;
}

/** Ms to the next local time at which the answer may change, unless clocks change first. */
function toNextBoundary(wall: number, quietHours: ReminderRules['quietHours']): number {
  const boundaries = quietHours === null ? [0] : [0, quietHours.from, quietHours.to];
  // For a boundary now, the next one is a day away.
  return Math.min(...boundaries.map((minute) => modulo(minute * minuteMs - timeOfDay(wall) - 1, dayMs) + 1));
}

function timeOfDay(wall: number): number {
  return modulo(wall, dayMs);
}

/** From 0 to `by`, also before 1970. */
function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

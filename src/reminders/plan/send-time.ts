import { recipientTimeZone, type ReminderRules } from '../../config/config.ts';
import { isQuiet, type Offset, type Weekday } from '../../config/values.ts';
import { dayOf, daysBefore, momentOf, stretchAt, zoned } from '../../core/lead/instant.ts';
import type { Cells } from '../../core/lead/value.ts';
import { isStageWanted, recipientsOf } from './recipients.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

type DueRules = Pick<ReminderRules, 'timeZone' | 'dayZone' | 'dateOnlyAt'>;

/**
 * All epoch ms. `day`: `2027-11-17` when it is that day, without a time; null: a moment. `at`: the moment that mails go by: of a day, `dateOnlyAt` in the
 * recipient's zone. It is overdue `overdueFrom` then on: a day when it is over in the recipient's zone.
 */
export function dueFor(dueAt: number, { timeZone, dayZone, dateOnlyAt }: DueRules) {
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

export type AllowedTimes = Pick<
  ReminderRules,
  'timeZone' | 'quietHours' | 'workingDays' | 'dateOnlyAt' | 'digestAt'
>;

/**
 * When a reminder is sent (epoch ms): its offset before the moment that the follow-up is due for the recipient (`dueFor`),
 * moved forward to an allowed time: out of the quiet hours, and from a day off to the next working day, at the digest's time
 * when there is one, else at the same time of the day. Possibly after the due moment, but never after the mail of `0m`.
 *
 * Days are calendar days: one day before 09:00 is 09:00, even across a clock change. A skipped local time is moved past the
 * gap, an ambiguous one is the earlier (Temporal's `compatible`). Hours and minutes are elapsed time.
 */
export function sendTime(dueAt: number, offset: Offset, rules: AllowedTimes): number {
  const moved = offset.days === 0 ? dueAt : daysBefore(dueAt, offset.days, rules.timeZone);
  const sendAt = asMeant(moved - offset.ms, rules);
  return sendAt <= dueAt ? sendAt : Math.min(sendAt, asMeant(dueAt, rules));
}

function asMeant(at: number, rules: AllowedTimes): number {
  const meant = modulo(at + stretchAt(at, rules.timeZone).offset, dayMs);
  return allowedFrom(at, rules, rules.digestAt === null ? meant : rules.digestAt * minuteMs);
}

/** The first moment (epoch ms) from `at` on a working day outside the quiet hours; after a day off at the time of the digest, or of mails about a day. */
export function nextAllowed(at: number, rules: AllowedTimes): number {
  return allowedFrom(at, rules, (rules.digestAt ?? rules.dateOnlyAt) * minuteMs);
}

/** `timeOnLaterDay`: ms since midnight, for the working day that follows a day off; in the quiet hours: their end. */
function allowedFrom(at: number, rules: AllowedTimes, timeOnLaterDay: number): number {
  const { timeZone, quietHours, workingDays } = rules;
  let moment = at;
  // A week has every case; what a clock change removes is in the next one.
  const end = at + 21 * dayMs;
  while (moment <= end) {
    const { offset, until } = stretchAt(moment, timeZone);
    const wall = moment + offset;
    if (!workingDays.includes(weekdayOf(wall))) {
      const time = isQuietAt(timeOnLaterDay, quietHours) ? (quietHours?.to ?? 0) * minuteMs : timeOnLaterDay;
      // Midnight that comes twice is a day off again.
      moment = Math.max(momentOf(nextWorkingDay(wall, workingDays) + time, timeZone), moment + 1);
    } else if (isQuietAt(timeOfDay(wall), quietHours)) {
      moment = Math.min(moment + toNextBoundary(wall, quietHours), until);
    } else return moment;
  }
  throw new RangeError('the rules leave no moment for a mail');
}

function isQuietAt(timeOfDayMs: number, quietHours: ReminderRules['quietHours']): boolean {
  return quietHours !== null && isQuiet(Math.floor(timeOfDayMs / minuteMs), quietHours);
}

/** Local midnight (as in UTC) of the next working day; with none, of one beyond every search. */
function nextWorkingDay(wall: number, workingDays: readonly Weekday[]): number {
  const midnight = wall - timeOfDay(wall);
  const days = [1, 2, 3, 4, 5, 6, 7].find((by) => workingDays.includes(weekdayOf(midnight + by * dayMs)));
  return midnight + (days ?? 30) * dayMs;
}

/** 1 January 1970 was a Thursday. */
function weekdayOf(wall: number): Weekday {
  return (modulo(Math.floor(wall / dayMs) + 3, 7) + 1) as Weekday;
}

/** Ms to the next local time at which the answer may change, unless clocks change first. */
function toNextBoundary(wall: number, quietHours: ReminderRules['quietHours']): number {
  const boundaries = quietHours === null ? [0] : [0, quietHours.from, quietHours.to];
  return Math.min(...boundaries.map((minute) => modulo(minute * minuteMs - timeOfDay(wall) - 1, dayMs) + 1));
}

function timeOfDay(wall: number): number {
  return modulo(wall, dayMs);
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

interface FollowUp {
  readonly leadId: string;
  /** Epoch ms. */
  readonly dueAt: number;
  readonly cells: Cells;
}

/** A mail owed for a follow-up. With connection, lead and due moment it is the reminder's key. */
export interface WantedReminder {
  readonly offsetText: string;
  /** Epoch ms. */
  readonly sendAt: number;
  readonly recipient: string;
}

/**
 * The mails for a follow-up, by each recipient's own clock. Of two that the rules move to one moment, or past each other, only the one nearer
 * to the due moment stays.
 */
export function wantedReminders(followUp: FollowUp, rules: ReminderRules) {
  if (!isStageWanted(followUp.cells, rules)) return { recipients: [], reminders: [] };
  const recipients = recipientsOf(followUp.cells, rules);
  const inZones = Map.groupBy(recipients, (recipient) => recipientTimeZone(rules, recipient));
  const reminders = [...inZones].flatMap(([timeZone, people]) =>
    mailTimes(followUp.dueAt, { ...rules, timeZone }).flatMap((mail) =>
      people.map((recipient) => ({ ...mail, recipient })),
    ),
  );
  return { recipients, reminders: reminders.toSorted((a, b) => a.sendAt - b.sendAt) };
}

function mailTimes(dueAt: number, rules: ReminderRules): readonly Omit<WantedReminder, 'recipient'>[] {
  const due = dueFor(dueAt, rules);
  const times: Omit<WantedReminder, 'recipient'>[] = [];
  const fromLatest = rules.before.toSorted((a, b) => a.days - b.days || a.ms - b.ms);
  for (const offset of fromLatest) {
    const sendAt = sendTime(due.at, offset, rules);
    const nearer = times.at(-1);
    if (nearer === undefined || sendAt < nearer.sendAt) times.push({ offsetText: offset.text, sendAt });
  }
  return times.toReversed();
}

import type { ReminderRules } from './reminder-rules.ts';

type Weekday = ReminderRules['workingDays'][number];

type QuietHours = NonNullable<ReminderRules['quietHours']>;

const time = String.raw`([01]\d|2[0-3]):([0-5]\d)`;
const timePattern = new RegExp(`^${time}$`);
const spanPattern = new RegExp(`^${time}-(?:${time}|(24):(00))$`);

/** As one writes them, Monday first. */
export const weekdayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** What is wrong with a time of the day, or null. */
export function timeOfDayMistake(text: string): string | null {
  return timePattern.test(text) ? null : 'must be a time of the day from "00:00" to "23:59", such as "08:00"';
}

/** Minutes since midnight, of a time of the day that has passed `timeOfDayMistake`. */
export function parseTimeOfDay(text: string): number {
  const [, hours, minutes] = timePattern.exec(text) ?? [];
  return Number(hours) * 60 + Number(minutes);
}

/** What is wrong with quiet hours, or null. */
export function quietHoursMistake(text: string): string | null {
  const span = readSpan(text);
  if (span === null) return 'must be two times of the day such as 20:00-08:00';
  if (span.from !== span.to) return null;
  return 'must leave some time for mails: these are the whole day; without quietHours there are none';
}

/** Quiet hours that have passed `quietHoursMistake`. */
export function parseQuietHours(text: string): QuietHours {
  return readSpan(text) ?? { from: 0, to: 0 };
}

/** The ISO number of a weekday's name. */
export function parseWeekday(name: (typeof weekdayNames)[number]): Weekday {
  return (weekdayNames.indexOf(name) + 1) as Weekday;
}

/** Midnight may be written as the end of the day too. */
function readSpan(text: string): QuietHours | null {
  const [, fromHours, fromMinutes, toHours, toMinutes, end] = spanPattern.exec(text) ?? [];
  if (fromHours === undefined) return null;
  const to = end === undefined ? Number(toHours) * 60 + Number(toMinutes) : 0;
  return { from: Number(fromHours) * 60 + Number(fromMinutes), to };
}

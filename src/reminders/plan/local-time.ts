import { Temporal } from 'temporal-polyfill';
import { dayOf, stretchAt, zoned } from '../../core/lead/instant.ts';
import type { ReminderRules } from '../../config/config.ts';
import type { Weekday } from '../../config/values.ts';
import { type AllowedTimes, nextAllowed } from './send-time.ts';

const dayMs = 86_400_000;

/** Each knows the zone names of its own region. */
const english = ['en-GB', 'en-US', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA'];

/** By language and zone: creating a format is a hundred times slower than using it. */
const formats = new Map<string, ReturnType<typeof createFormats>>();

export function localTime(epochMs: number, timeZone: string, language = 'en') {
  const key = `${language} ${timeZone}`;
  const made = formats.get(key) ?? createFormats(localeOf(language), timeZone);
  formats.set(key, made);
  const { short, long, time, zones, names } = made;
  const stretch = stretchAt(epochMs, timeZone);
  const zone = names.get(stretch.from) ?? zoneAt(epochMs, zones);
  names.set(stretch.from, zone);
  // British English separates the weekday by a comma, or not, by the version of Intl.
  const day = (text: string): string => (language === 'en' ? text.replace(',', '') : text);
  return {
    /** `2026-11-21`. */
    date: dateOf(epochMs + stretch.offset),
    /** `Sat 21 Nov 2026`, `Sa., 21. Nov. 2026`. */
    day: day(short.format(epochMs)),
    longDay: day(long.format(epochMs)),
    /** `14:30`. */
    time: time.format(epochMs),
    /** `CET`, `EST`, or `GMT+3` without a name: distinguishes the repeated hour in autumn. */
    zone,
  };
}

export function localeOf(language: string): string {
  try {
    return language === 'en' ? 'en-GB' : (Intl.getCanonicalLocales(language)[0] ?? 'en-GB');
  } catch {
    return 'en-GB';
  }
}

/** Calendar days from `fromMs` to `toMs` in an IANA zone: 0 is the same day, negative is before. */
export function daysBetween(fromMs: number, toMs: number, timeZone: string): number {
  const dayAt = (at: number): number => Math.floor((at + stretchAt(at, timeZone).offset) / dayMs);
  return dayAt(toMs) - dayAt(fromMs);
}

/** The first moment (epoch ms) of a day, such as `2026-11-21`, in an IANA zone. */
export function startOfDay(day: string, timeZone: string): number {
  return Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds;
}

function createFormats(locale: string, timeZone: string) {
  const day = { timeZone, day: 'numeric', year: 'numeric' } as const;
  return {
    short: new Intl.DateTimeFormat(locale, { ...day, weekday: 'short', month: 'short' }),
    long: new Intl.DateTimeFormat(locale, { ...day, weekday: 'long', month: 'long' }),
    time: new Intl.DateTimeFormat(locale, {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
    /** Of the zone, by the beginning of the stretch of time that has the name. */
    names: new Map<number, string>(),
    zones: [...new Set([locale, ...english])].map(
      (one) => new Intl.DateTimeFormat(one, { timeZone, timeZoneName: 'short' }),
    ),
  };
}

/** `wall`: a moment as if its local time were UTC. */
function dateOf(wall: number): string {
  return new Date(wall).toISOString().split('T', 1)[0] ?? '';
}

function zoneAt(epochMs: number, formats: readonly Intl.DateTimeFormat[]): string {
  let offset = '';
  for (const format of formats) {
    const name = format.formatToParts(epochMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    if (!/^(?:GMT|UTC)[+\-\u2212]/.test(name)) return name;
    offset ||= name;
  }
  return offset;
}

type DigestRules = AllowedTimes & Pick<ReminderRules, 'digestAt'>;

export interface DigestTime {
  /** `2026-11-21`, in the recipients' zone. */
  readonly localDate: string;
  /** Epoch ms. */
  readonly sendAt: number;
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

export type DigestDays = ReturnType<typeof digestDays>;

/** The limits (epoch ms) of a digest's groups: a day begins with its first hour, not 24 hours later. What is due before `today` is overdue. */
export function digestDays(localDate: string, timeZone: string) {
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

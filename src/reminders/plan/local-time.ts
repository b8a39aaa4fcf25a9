import { Temporal } from 'temporal-polyfill';
import { zoned } from '../../core/lead/zone-offset.ts';

/** A moment in the recipients' zone. */
export interface LocalTime {
  /** `2026-11-21`. */
  readonly date: string;
  /** `Sat 21 Nov 2026`. */
  readonly day: string;
  /** `Saturday 21 November 2026`. */
  readonly longDay: string;
  /** `14:30`. */
  readonly time: string;
  /** `CET`, `EST`, or `GMT+3` without an English name: distinguishes the repeated hour in autumn. */
  readonly zone: string;
}

/** Each knows the zone names of its own region; the first is en-GB. */
const otherEnglish = ['en-US', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA'];

/** By zone: creating a format is a hundred times slower than using it. */
const formats = new Map<string, ReturnType<typeof createFormats>>();

/** An instant (epoch ms) in an IANA zone. */
export function localTime(epochMs: number, timeZone: string): LocalTime {
  const { short, long, others } = formats.get(timeZone) ?? createFormats(timeZone);
  const part = partsOf(short, epochMs);
  const whole = partsOf(long, epochMs);
  const zoneIn = (format: Intl.DateTimeFormat): string => partsOf(format, epochMs).timeZoneName ?? '';
  const named = [short, ...others].find((format) => !/^GMT[+-]/.test(zoneIn(format)));
  return {
    date: zoned(epochMs, timeZone).toPlainDate().toString(),
    day: `${part.weekday} ${part.day} ${part.month} ${part.year}`,
    longDay: `${whole.weekday} ${whole.day} ${whole.month} ${whole.year}`,
    time: `${part.hour}:${part.minute}`,
    zone: zoneIn(named ?? short),
  };
}

/** Calendar days from `fromMs` to `toMs` in an IANA zone: 0 is the same day, negative is before. */
export function daysBetween(fromMs: number, toMs: number, timeZone: string): number {
  const to = zoned(toMs, timeZone).toPlainDate();
  return zoned(fromMs, timeZone).toPlainDate().until(to, { largestUnit: 'days' }).days;
}

/** The first moment (epoch ms) of a day, such as `2026-11-21`, in an IANA zone. */
export function startOfDay(day: string, timeZone: string): number {
  return Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds;
}

function createFormats(timeZone: string) {
  const day = { timeZone, day: 'numeric', year: 'numeric' } as const;
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;
  const made = {
    short: new Intl.DateTimeFormat('en-GB', { ...day, ...time, weekday: 'short', month: 'short' }),
    long: new Intl.DateTimeFormat('en-GB', { ...day, weekday: 'long', month: 'long' }),
    others: otherEnglish.map(
      (locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' }),
    ),
  };
  formats.set(timeZone, made);
  return made;
}

function partsOf(format: Intl.DateTimeFormat, epochMs: number): Partial<Record<string, string>> {
  return Object.fromEntries(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
}

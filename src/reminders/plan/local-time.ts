import { Temporal } from 'temporal-polyfill';

/** A moment as the recipients' clocks and calendars show it. */
export interface LocalTime {
  /** `2026-11-21`. */
  readonly date: string;
  /** `Sat 21 Nov 2026`. */
  readonly day: string;
  /** `Saturday 21 November 2026`. */
  readonly longDay: string;
  /** `14:30`. */
  readonly time: string;
  /** `CET`, `EST`, or `GMT+3` where the platform knows no English name: tells the two hours apart that are called the same in autumn. */
  readonly zone: string;
}

interface Formats {
  readonly short: Intl.DateTimeFormat;
  readonly long: Intl.DateTimeFormat;
  /** In the English of places that have names of their own for the zone. */
  readonly zones: readonly Intl.DateTimeFormat[];
}

/** Each knows the names of the zones of its own part of the world. */
const english = ['en-GB', 'en-US', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA'];

/** Making a format costs a hundred times more than using it; there are as many as zones in the configuration. */
const formats = new Map<string, Formats>();

/** An instant (epoch ms) in an IANA zone. */
export function localTime(epochMs: number, timeZone: string): LocalTime {
  const { short, long, zones } = formatsOf(timeZone);
  const part = partsOf(short, epochMs);
  const whole = partsOf(long, epochMs);
  return {
    date: localDate(epochMs, timeZone).toString(),
    day: `${part.weekday} ${part.day} ${part.month} ${part.year}`,
    longDay: `${whole.weekday} ${whole.day} ${whole.month} ${whole.year}`,
    time: `${part.hour}:${part.minute}`,
    zone: zoneName(zones, epochMs),
  };
}

function zoneName(zones: readonly Intl.DateTimeFormat[], epochMs: number): string {
  const name = (format: Intl.DateTimeFormat | undefined): string =>
    (format && partsOf(format, epochMs).timeZoneName) ?? '';
  // In most zones the first one knows it.
  return name(zones.find((format) => !/^GMT[+-]/.test(name(format))) ?? zones[0]);
}

/** The calendar day of an instant (epoch ms) in an IANA zone. */
function localDate(epochMs: number, timeZone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timeZone).toPlainDate();
}

/** Whole calendar days from `fromMs` to `toMs` in an IANA zone: 0 is the same day, negative is before. */
export function daysBetween(fromMs: number, toMs: number, timeZone: string): number {
  return localDate(fromMs, timeZone).until(localDate(toMs, timeZone), { largestUnit: 'days' }).days;
}

function formatsOf(timeZone: string): Formats {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = {
    short: new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
    long: new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      year: 'numeric',
    }),
    zones: english.map((locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' })),
  };
  formats.set(timeZone, made);
  return made;
}

function partsOf(format: Intl.DateTimeFormat, epochMs: number): Partial<Record<string, string>> {
  return Object.fromEntries(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
}

import { Temporal } from 'temporal-polyfill';

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

interface Formats {
  readonly short: Intl.DateTimeFormat;
  readonly long: Intl.DateTimeFormat;
  /** One English locale per region with its own zone names. */
  readonly zones: readonly Intl.DateTimeFormat[];
}

/** Each knows the zone names of its own region. */
const english = ['en-GB', 'en-US', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA'];

/** Creating a format is a hundred times slower than using it; there are few zones. */
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
  // Usually the first one.
  return name(zones.find((format) => !/^GMT[+-]/.test(name(format))) ?? zones[0]);
}

/** The calendar day of an instant (epoch ms) in an IANA zone. */
function localDate(epochMs: number, timeZone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timeZone).toPlainDate();
}

/** Calendar days from `fromMs` to `toMs` in an IANA zone: 0 is the same day, negative is before. */
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

import { Temporal } from 'temporal-polyfill';
import { stretchAt } from '../../core/lead/zone-offset.ts';

const dayMs = 86_400_000;

export interface LocalTime {
  /** `2026-11-21`. */
  readonly date: string;
  /** `Sat 21 Nov 2026`, `Sa., 21. Nov. 2026`. */
  readonly day: string;
  readonly longDay: string;
  /** `14:30`. */
  readonly time: string;
  /** `CET`, `EST`, or `GMT+3` without a name: distinguishes the repeated hour in autumn. */
  readonly zone: string;
}

/** Each knows the zone names of its own region. */
const english = ['en-GB', 'en-US', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA'];

/** By language and zone: creating a format is a hundred times slower than using it. */
const formats = new Map<string, ReturnType<typeof createFormats>>();

export function localTime(epochMs: number, timeZone: string, language = 'en'): LocalTime {
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
    date: dateOf(epochMs + stretch.offset),
    day: day(short.format(epochMs)),
    longDay: day(long.format(epochMs)),
    time: time.format(epochMs),
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

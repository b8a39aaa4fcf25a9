import ICAL from 'ical.js';
import { Temporal } from 'temporal-polyfill';

/** When a follow-up is due. */
export interface When {
  /** Epoch ms. Calendars know whole seconds. */
  readonly at: number;
  /** The day that it is, as 2027-11-17, in the zone of the table; null: a moment. */
  readonly day: string | null;
}

/** Why a date of an entry is no moment: a clock time without a zone, or one in a zone that nobody knows. */
export type UnclearTime = 'floating' | 'zone';

const dayMs = 86_400_000;

/** A moment without the part of a second that calendars do not know. */
export function wholeSecond(at: number): number {
  return Math.floor(at / 1000) * 1000;
}

/** The value of a date in an entry. */
export function timeOf({ at, day }: When): ICAL.Time {
  return day === null ? utc(at) : ICAL.Time.fromDateString(day);
}

/** `ms` after a date of an entry, in its own form: a date stays one. */
export function later(time: When, ms: number): ICAL.Time {
  if (time.day === null) return utc(time.at + ms);
  const days = Math.round(ms / dayMs);
  return ICAL.Time.fromDateString(Temporal.PlainDate.from(time.day).add({ days }).toString());
}

function utc(at: number): ICAL.Time {
  return ICAL.Time.fromDateTimeString(new Date(wholeSecond(at)).toISOString().replace('.000Z', 'Z'));
}

/** The moment of a date in an entry; a date without a time is the start of that day in `timeZone`. */
export function momentOf(property: ICAL.Property, timeZone: string): number | UnclearTime {
  const time: unknown = property.getFirstValue();
  if (!(time instanceof ICAL.Time)) return 'floating';
  if (time.isDate) return Temporal.PlainDate.from(isoDate(time)).toZonedDateTime(timeZone).epochMilliseconds;
  if (time.zone === ICAL.Timezone.utcTimezone) return time.toUnixTime() * 1000;
  const name: unknown = property.getFirstParameter('tzid');
  if (typeof name !== 'string' || name === '') return 'floating';
  return inZone(time, name, property.parent?.parent ?? null);
}

/** By the zone of that name, else by what the entry itself says of it (Outlook has names of its own). */
function inZone(time: ICAL.Time, name: string, calendar: ICAL.Component | null): number | UnclearTime {
  const clock = { hour: time.hour, minute: time.minute, second: time.second };
  try {
    const local = Temporal.PlainDate.from(isoDate(time)).toPlainDateTime(clock);
    return local.toZonedDateTime(name).epochMilliseconds;
  } catch {
    const zones = calendar?.getAllSubcomponents('vtimezone') ?? [];
    const component = zones.find((zone) => zone.getFirstPropertyValue('tzid') === name);
    if (component === undefined) return 'zone';
    const known = time.clone();
    known.zone = new ICAL.Timezone({ component, tzid: name });
    return known.toUnixTime() * 1000;
  }
}

function isoDate({ year, month, day }: ICAL.Time): string {
  const digits = (value: number, length: number): string => String(value).padStart(length, '0');
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
}

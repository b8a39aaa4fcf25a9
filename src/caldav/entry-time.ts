import ICAL from 'ical.js';
import { Temporal } from 'temporal-polyfill';
import { lastEnd } from '../reminders/compose/calendar.ts';

export interface When {
  /** Epoch ms. Calendars know whole seconds. */
  readonly at: number;
  /** The day that it is, as 2027-11-17, in the zone of the table; null: a moment. */
  readonly day: string | null;
}

/** Why a date of an entry is no moment: a clock time without a zone, one in a zone that nobody knows, or no date at all. */
export type UnclearTime = 'floating' | 'zone' | 'unreadable';

const dayMs = 86_400_000;

export function wholeSecond(at: number): number {
  return Math.floor(at / 1000) * 1000;
}

export function timeOf({ at, day }: When): ICAL.Time {
  return day === null ? utc(at) : ICAL.Time.fromDateString(day);
}

/** `ms` after a date of an entry, in its own form: a date stays one. Null: later than calendars know. */
export function later({ at, day }: When, ms: number): ICAL.Time | null {
  if (day === null) return at + ms > lastEnd ? null : utc(at + ms);
  const moved = Temporal.PlainDate.from(day).add({ days: Math.round(ms / dayMs) });
  return moved.year > 9999 ? null : ICAL.Time.fromDateString(moved.toString());
}

function utc(at: number): ICAL.Time {
  return ICAL.Time.fromDateTimeString(new Date(wholeSecond(at)).toISOString().replace('.000Z', 'Z'));
}

/** The moment of a date in an entry; a date without a time is the start of that day in `timeZone`. Never throws. */
export function momentOf(property: ICAL.Property, timeZone: string): number | UnclearTime {
  // As it is written: ical.js makes another date of one that no calendar has, and throws for what is none.
  const written: unknown = property.jCal[3];
  const [, date = '', clock = '', utc] =
    /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(Z?))?$/.exec(String(written)) ?? [];
  const local = dateTimeOf(date, clock);
  if (local === null) return 'unreadable';
  if (clock === '') return local.toPlainDate().toZonedDateTime(timeZone).epochMilliseconds;
  if (utc === 'Z') return local.toZonedDateTime('UTC').epochMilliseconds;
  const name: unknown = property.getFirstParameter('tzid');
  if (typeof name !== 'string' || name === '') return 'floating';
  return inZone(local, name, property.parent?.parent ?? null);
}

function dateTimeOf(date: string, clock: string): Temporal.PlainDateTime | null {
  try {
    return Temporal.PlainDateTime.from(clock === '' ? date : `${date}T${clock}`);
  } catch {
    return null;
  }
}

/** By the zone of that name, else by what the entry itself says of it (Outlook has names of its own). */
function inZone(
  local: Temporal.PlainDateTime,
  name: string,
  calendar: ICAL.Component | null,
): number | UnclearTime {
  try {
    return local.toZonedDateTime(name).epochMilliseconds;
  } catch {
    const zones = calendar?.getAllSubcomponents('vtimezone') ?? [];
    const component = zones.find((zone) => zone.getFirstPropertyValue('tzid') === name);
    return component === undefined ? 'zone' : inDescribedZone(local, component);
  }
}

function inDescribedZone(local: Temporal.PlainDateTime, component: ICAL.Component): number | UnclearTime {
  // Without any rule ical.js takes the time for UTC.
  if (!['standard', 'daylight'].some((name) => component.getFirstSubcomponent(name) !== null)) return 'zone';
  try {
    const time = ICAL.Time.fromDateTimeString(local.toString({ smallestUnit: 'second' }));
    time.zone = new ICAL.Timezone({ component });
    return time.toUnixTime() * 1000;
  } catch {
    return 'zone';
  }
}

import ICAL from 'ical.js';
import { Temporal } from 'temporal-polyfill';
import { entryLengthMs, lastEnd } from '../reminders/compose/calendar.ts';

/** An appointment (VEVENT) or a task (VTODO). */
export type Component = 'event' | 'task';

/** '' is nothing. */
export interface Content {
  readonly title: string;
  readonly description: string;
  readonly url: string;
}

/** Why the date of an entry cannot be used: a series, no date, or, as `unreadable`, also a file that nobody can read. */
type Unclear = UnclearTime | 'repeats' | 'no-date';

export type Shown =
  | { readonly kind: 'unclear'; readonly why: Unclear }
  | {
      readonly kind: 'entry';
      /** Epoch ms, whole seconds. */
      readonly at: number;
      /** Completed or cancelled. */
      readonly isDone: boolean;
      /** The date that leadsync wrote last (epoch ms), as the entry itself remembers; null: it does not. */
      readonly mark: number | null;
    };

const names = { event: 'vevent', task: 'vtodo' } as const;
const dateNames = { event: 'dtstart', task: 'due' } as const;
const mark = 'x-leadsync-agreed';

const dayMs = 86_400_000;

/** Without ATTENDEE and ORGANIZER: servers would send invitations. */
export function makeEntry(
  component: Component,
  uid: string,
  when: When,
  content: Content,
  {
    sequence,
    now,
    alarm,
  }: {
    readonly sequence: number;
    readonly now: number;
    /** Seconds after the date, negative before; null: none. */
    readonly alarm: number | null;
  },
): string {
  const calendar = new ICAL.Component('vcalendar');
  calendar.addPropertyWithValue('version', '2.0');
  calendar.addPropertyWithValue('prodid', '-//leadsync//follow-ups//EN');
  const entry = new ICAL.Component(names[component], calendar);
  calendar.addSubcomponent(entry);
  entry.addPropertyWithValue('uid', uid);
  if (component === 'task') entry.addPropertyWithValue('status', 'NEEDS-ACTION');
  else entry.addPropertyWithValue('transp', 'TRANSPARENT');
  setDates(entry, component, when, null);
  for (const [name, value] of propertiesOf(content)) set(entry, name, value);
  if (alarm !== null) addAlarm(entry, component, alarm, content.title);
  return finish(calendar, entry, when, sequence, now);
}

function addAlarm(entry: ICAL.Component, component: Component, after: number, title: string): void {
  const alarm = new ICAL.Component('valarm', entry);
  alarm.addPropertyWithValue('action', 'DISPLAY');
  alarm.addPropertyWithValue('description', title);
  const trigger = alarm.addPropertyWithValue('trigger', ICAL.Duration.fromSeconds(after));
  // The date of a task is its end.
  if (component === 'task') trigger.setParameter('related', 'END');
  entry.addSubcomponent(alarm);
}

/** What an entry shows. `timeZone`: in which a date without a time is a day. */
export function readEntry(text: string, component: Component, timeZone: string): Shown {
  const found = open(text, component);
  if (found === null) return { kind: 'unclear', why: 'unreadable' };
  if (found.repeats) return { kind: 'unclear', why: 'repeats' };
  const { entry } = found;
  const date = entry.getFirstProperty(dateNames[component]);
  if (date === null) return { kind: 'unclear', why: 'no-date' };
  const at = momentOf(date, timeZone);
  if (typeof at === 'string') return { kind: 'unclear', why: at };
  return { kind: 'entry', at: wholeSecond(at), isDone: isDone(entry), mark: readMark(valueOf(entry, mark)) };
}

/** Whether people wrote something into an entry that is to be kept; `written`: what leadsync wrote, null: not known. */
export function hasNotes(text: string, component: Component, written: Content | null): boolean {
  const found = open(text, component);
  if (found === null) return true;
  const { entry } = found;
  if (['comment', 'attach', 'attendee', 'categories'].some((name) => entry.hasProperty(name))) return true;
  return (
    written !== null && propertiesOf(written).some(([name, value]) => !isSame(valueOf(entry, name), value))
  );
}

export interface Change {
  readonly when: When;
  readonly content: Content;
  /** What leadsync wrote last: what a person made of it stays. Null: not known. */
  readonly written: Content | null;
  /** The entry's own is raised by one, and at least to this. */
  readonly sequence: number;
  /** In which a date without a time is a day. */
  readonly timeZone: string;
  readonly now: number;
}

/**
 * Alarms, notes, categories, attendees and all that leadsync does not know stay. An appointment keeps its length. A completed entry is open
 * again. Call it with an entry that is clear alone.
 */
export function changeEntry(text: string, component: Component, change: Change): string {
  const found = open(text, component);
  if (found === null) throw new Error('the entry cannot be read');
  const { calendar, entry } = found;
  const { when, content, written, timeZone } = change;
  const date = entry.getFirstProperty(dateNames[component]);
  const at = date === null ? 'floating' : momentOf(date, timeZone);
  if (at !== wholeSecond(when.at)) setDates(entry, component, when, timeZone);
  for (const [index, [name, value]] of propertiesOf(content).entries()) {
    const before = written === null ? value : (propertiesOf(written)[index]?.[1] ?? '');
    if (isSame(valueOf(entry, name), before)) set(entry, name, value);
  }
  if (isDone(entry)) {
    set(entry, 'status', component === 'task' ? 'NEEDS-ACTION' : 'CONFIRMED');
    entry.removeAllProperties('completed');
    entry.removeAllProperties('percent-complete');
  }
  return finish(calendar, entry, when, change.sequence, change.now);
}

/** The same entry, cancelled: for one with notes of a person, which are not deleted. */
export function cancelEntry(text: string, component: Component, now: number): string {
  const found = open(text, component);
  if (found === null) throw new Error('the entry cannot be read');
  const { calendar, entry } = found;
  set(entry, 'status', 'CANCELLED');
  stamp(entry, 0, now);
  return textOf(calendar);
}

function open(text: string, component: Component) {
  try {
    const parsed: unknown = ICAL.parse(text);
    const calendar = new ICAL.Component(parsed as unknown[]);
    const [entry, another] = calendar.getAllSubcomponents(names[component]);
    if (entry === undefined) return null;
    const repeats =
      another !== undefined || ['rrule', 'rdate', 'recurrence-id'].some((name) => entry.hasProperty(name));
    return { calendar, entry, repeats };
  } catch {
    return null;
  }
}

function isDone(entry: ICAL.Component): boolean {
  const status = valueOf(entry, 'status').toUpperCase();
  return ['COMPLETED', 'CANCELLED'].includes(status) || entry.hasProperty('completed');
}

/** The dates of an entry; `timeZone` null: it is new. What goes with the date of an entry moves with it. */
function setDates(entry: ICAL.Component, component: Component, when: When, timeZone: string | null): void {
  const name = dateNames[component];
  const partner = component === 'event' ? 'dtend' : 'dtstart';
  const moment = (of: string): number | null => {
    const date = entry.getFirstProperty(of);
    const at = date === null || timeZone === null ? null : momentOf(date, timeZone);
    return typeof at === 'number' ? at : null;
  };
  const [old, other] = [moment(name), moment(partner)];
  const wasDay = (entry.getFirstPropertyValue(name) as ICAL.Time | null)?.isDate;
  const isSameForm = wasDay === (when.day !== null);
  replaceTime(entry, name, timeOf(when));
  if (old !== null && other !== null && (isSameForm || component === 'task'))
    return replaceTime(entry, partner, later(when, other - old));
  entry.removeAllProperties(partner);
  if (component === 'task' || (isSameForm && entry.hasProperty('duration'))) return;
  entry.removeAllProperties('duration');
  replaceTime(entry, partner, later(when, when.day === null ? entryLengthMs : dayMs));
}

/** Without the zone and the type that it had; null: it has none any more. */
function replaceTime(entry: ICAL.Component, name: string, time: ICAL.Time | null): void {
  entry.removeAllProperties(name);
  if (time !== null) entry.addPropertyWithValue(name, time);
}

function finish(calendar: ICAL.Component, entry: ICAL.Component, when: When, sequence: number, now: number) {
  set(entry, mark, timeOf({ at: when.at, day: null }).toICALString());
  stamp(entry, sequence, now);
  return textOf(calendar);
}

function stamp(entry: ICAL.Component, least: number, now: number): void {
  const before: unknown = entry.getFirstPropertyValue('sequence');
  const next = typeof before === 'number' ? before + 1 : 0;
  entry.updatePropertyWithValue('sequence', Math.max(next, least));
  replaceTime(entry, 'dtstamp', timeOf({ at: now, day: null }));
  replaceTime(entry, 'last-modified', timeOf({ at: now, day: null }));
}

function textOf(calendar: ICAL.Component): string {
  return `${calendar.toString()}\r\n`;
}

function propertiesOf({ title, description, url }: Content): readonly (readonly [string, string])[] {
  return [
    ['summary', title],
    ['description', description],
    ['url', url],
  ];
}

function set(entry: ICAL.Component, name: string, value: string): void {
  if (value === '') entry.removeAllProperties(name);
  else if (valueOf(entry, name) !== value) entry.updatePropertyWithValue(name, value);
}

function valueOf(entry: ICAL.Component, name: string): string {
  const value: unknown = entry.getFirstPropertyValue(name);
  return typeof value === 'string' ? value : '';
}

/** Servers and programs change line ends and blanks at the end. */
function isSame(one: string, other: string): boolean {
  const plain = (text: string): string => text.replaceAll('\r', '').normalize('NFC').trim();
  return plain(one) === plain(other);
}

function readMark(written: string): number | null {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(written) ?? [];
  const [year, month, day, hour, minute, second] = parts;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
}

export interface When {
  /** Epoch ms. Calendars know whole seconds. */
  readonly at: number;
  /** The day that it is, as 2027-11-17, in the zone of the table; null: a moment. */
  readonly day: string | null;
}

/** Why a date of an entry is no moment: a clock time without a zone, one in a zone that nobody knows, or no date at all. */
type UnclearTime = 'floating' | 'zone' | 'unreadable';

export function wholeSecond(at: number): number {
  return Math.floor(at / 1000) * 1000;
}

function timeOf({ at, day }: When): ICAL.Time {
  return day === null ? utc(at) : ICAL.Time.fromDateString(day);
}

/** `ms` after a date of an entry, in its own form: a date stays one. Null: later than calendars know. */
function later({ at, day }: When, ms: number): ICAL.Time | null {
  if (day === null) return at + ms > lastEnd ? null : utc(at + ms);
  const moved = Temporal.PlainDate.from(day).add({ days: Math.round(ms / dayMs) });
  return moved.year > 9999 ? null : ICAL.Time.fromDateString(moved.toString());
}

function utc(at: number): ICAL.Time {
  return ICAL.Time.fromDateTimeString(new Date(wholeSecond(at)).toISOString().replace('.000Z', 'Z'));
}

/** The moment of a date in an entry; a date without a time is the start of that day in `timeZone`. Never throws. */
function momentOf(property: ICAL.Property, timeZone: string): number | UnclearTime {
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

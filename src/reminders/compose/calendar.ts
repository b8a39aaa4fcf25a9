import ICAL from 'ical.js';
import { keyHash } from './message.ts';
import { oneLine } from './shown-text.ts';

/** Times are epoch ms. */
export interface CalendarFacts {
  readonly connection: string;
  readonly leadId: string;
  readonly summary: string;
  /** Lines; may be empty. */
  readonly description: string;
  readonly url: string | null;
  readonly dueAt: number;
  /** When the follow-up is a day without a time: that day, `2026-11-21`; null: a moment. */
  readonly day: string | null;
  /** When a day without a time reminds: minutes after midnight, where the calendar is. */
  readonly dayAlarmAt: number;
  /** Increases each time the follow-up is moved; at least 0. */
  readonly sequence: number;
  /** The follow-up no longer concerns the recipient: cancels the entry. */
  readonly isCancelled: boolean;
  readonly domain: string;
  readonly now: number;
}

/** A follow-up is a moment, but calendars show entries without length badly. */
export const entryLengthMs = 15 * 60_000;

/** Epoch ms. Calendars have years of four digits: a later end would make the whole file unreadable, so it is left out. */
export const lastEnd = Date.UTC(9999, 11, 31, 23, 59, 59);

/** An entry reminds this long (s) before its moment. */
const alarmBefore = 600;

const maxDescription = 4_000;

// RFC 5545, section 3.1: 75 bytes a line. ical.js does not count the blank that begins a line which goes on.
ICAL.foldLength = 74;

/** A property in jCal (RFC 7265): name, parameters, type and value. */
type Property = readonly [string, Readonly<Record<string, string>>, string, string | number];

export type CalendarEvent = ReturnType<typeof calendarEvent>;

/**
 * The entry of a follow-up, as calendars have it ('' is nothing): a day is an all-day entry, a moment is in UTC. Shows no time as busy and asks
 * nobody for a reply. `alarm`: when it reminds: seconds after its start, negative before; null: not at all. `properties`: all but the alarm. Pure.
 */
export function calendarEvent(facts: CalendarFacts) {
  const { day, dueAt, isCancelled } = facts;
  const uid = calendarUid(facts);
  const title = oneLine(facts.summary, 200);
  const description = cut(facts.description);
  const url = facts.url ?? '';
  const properties: readonly Property[] = [
    ['uid', {}, 'text', uid],
    ['sequence', {}, 'integer', facts.sequence],
    ['dtstamp', {}, 'date-time', utc(facts.now)],
    ...(day === null ? momentProperties(dueAt) : dayProperties(day)),
    ['summary', {}, 'text', title],
    ['transp', {}, 'text', 'TRANSPARENT'],
    ...(description === '' ? [] : [['description', {}, 'text', description] as const]),
    ...(url === '' ? [] : [['url', {}, 'uri', url] as const]),
    ['status', {}, 'text', isCancelled ? 'CANCELLED' : 'CONFIRMED'],
  ];
  const alarm = day === null ? -alarmBefore : facts.dayAlarmAt * 60;
  return { uid, title, description, url, alarm: isCancelled ? null : alarm, properties };
}

function momentProperties(dueAt: number): readonly Property[] {
  const end = dueAt + entryLengthMs;
  return [
    ['dtstart', {}, 'date-time', utc(dueAt)],
    ...(end > lastEnd ? [] : [['dtend', {}, 'date-time', utc(end)] as const]),
  ];
}

/** Outlook shows a day as one by properties of its own. */
function dayProperties(day: string): readonly Property[] {
  const end = Date.parse(day) + 86_400_000;
  return [
    ['dtstart', {}, 'date', day],
    ...(end > lastEnd ? [] : [['dtend', {}, 'date', new Date(end).toISOString().slice(0, 10)] as const]),
    ['x-microsoft-cdo-alldayevent', {}, 'unknown', 'TRUE'],
    ['x-microsoft-msncalendar-alldayevent', {}, 'unknown', 'TRUE'],
  ];
}

function utc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** The UID belongs to the lead, so that a higher SEQUENCE moves or cancels the entry. */
function calendarUid({ connection, leadId, domain }: CalendarFacts): string {
  return `follow-up.${keyHash(JSON.stringify([connection, leadId]))}@${domain}`;
}

/** The VEVENT of an entry that people subscribe to, changed last at `changedAt` (epoch ms). It has no alarm. */
export function subscribedEvent({ properties }: CalendarEvent, changedAt: number): string {
  return ICAL.stringify(['vevent', [...properties, ['last-modified', {}, 'date-time', utc(changedAt)]], []]);
}

export function calendarAttachment({ properties, alarm, title }: CalendarEvent): string {
  const alarms = alarm === null ? [] : [['valarm', alarmProperties(alarm, title), []]];
  return calendarText([], [['vevent', properties, alarms]]);
}

/** `after`: seconds after the start. */
function alarmProperties(after: number, title: string): readonly Property[] {
  return [
    ['action', {}, 'text', 'DISPLAY'],
    ['trigger', {}, 'duration', ICAL.Duration.fromSeconds(after).toString()],
    ['description', {}, 'text', title],
  ];
}

/** METHOD:PUBLISH requests no reply. `components` are in jCal. */
export function calendarText(properties: readonly Property[], components: readonly unknown[]): string {
  const all: readonly Property[] = [
    ['version', {}, 'text', '2.0'],
    ['prodid', {}, 'text', '-//leadsync//follow-ups//EN'],
    ['method', {}, 'text', 'PUBLISH'],
    ...properties,
  ];
  return ICAL.stringify(['vcalendar', all, components]);
}

function cut(text: string): string {
  const lines = text.split('\n').map((line) => oneLine(line, 400));
  return lines.join('\n').slice(0, maxDescription).toWellFormed().trim();
}

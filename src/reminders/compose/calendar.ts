import { createHash } from 'node:crypto';
import ical, {
  ICalAlarmType,
  ICalCalendarMethod,
  type ICalEventData,
  ICalEventStatus,
  ICalEventTransparency,
} from 'ical-generator';
import { oneLine } from './shown-text.ts';

/** The follow-up of one lead as an entry of a calendar. Times are epoch ms. */
export interface CalendarFacts {
  readonly connection: string;
  readonly leadId: string;
  /** One line. */
  readonly summary: string;
  /** Lines; may be empty. */
  readonly description: string;
  /** Address of the lead; null: none. */
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
  /** The sender's. */
  readonly domain: string;
  readonly now: number;
}

/** A follow-up is a moment, but calendars show entries without length badly. */
export const entryLengthMs = 15 * 60_000;

/** An entry reminds this long (s) before its moment. */
const alarmBefore = 600;

const maxDescription = 4_000;

/**
 * The VEVENT of a follow-up: a day is an all-day entry, a moment is in UTC. Shows no time as busy and asks nobody for a
 * reply. Pure.
 */
export function calendarEvent(facts: CalendarFacts): ICalEventData {
  const { day, dueAt, dayAlarmAt, url, description, isCancelled } = facts;
  const start = day === null ? dueAt : Date.parse(day);
  const alarm = day === null ? { trigger: alarmBefore } : { triggerAfter: dayAlarmAt * 60 };
  return {
    id: calendarUid(facts),
    sequence: facts.sequence,
    stamp: new Date(facts.now),
    start: new Date(start),
    end: new Date(start + (day === null ? entryLengthMs : 86_400_000)),
    allDay: day !== null,
    summary: oneLine(facts.summary, 200),
    ...(description !== '' && { description: cut(description) }),
    ...(url !== null && { url }),
    status: isCancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
    transparency: ICalEventTransparency.TRANSPARENT,
    ...(!isCancelled && { alarms: [{ type: ICalAlarmType.display, ...alarm }] }),
  };
}

/** The UID belongs to the lead, so that a higher SEQUENCE moves or cancels the entry. */
function calendarUid({
  connection,
  leadId,
  domain,
}: Pick<CalendarFacts, 'connection' | 'leadId' | 'domain'>): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([connection, leadId]))
    .digest('hex')
    .slice(0, 32);
  return `follow-up.${hash}@${domain}`;
}

/** An iCalendar object (RFC 5545) to attach to a mail, with METHOD:PUBLISH, which requests no reply. */
export function calendarAttachment(event: ICalEventData): string {
  const calendar = ical({
    method: ICalCalendarMethod.PUBLISH,
    prodId: '//leadsync//follow-ups//EN',
    events: [event],
  });
  // RFC 5545, section 3.1: the last line ends like all others.
  return `${calendar.toString().replace(/(?:\r\n)+$/, '')}\r\n`;
}

/** Lines stay; the rest is as in every shown text. */
function cut(text: string): string {
  const lines = text.split('\n').map((line) => oneLine(line, 400));
  return lines.join('\n').slice(0, maxDescription).toWellFormed().trim();
}

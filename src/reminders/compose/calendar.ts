import { createHash } from 'node:crypto';
import ical, { ICalCalendarMethod, ICalEventStatus, ICalEventTransparency } from 'ical-generator';
import { oneLine } from './shown-text.ts';

/** The follow-up of one lead as an entry of a calendar. Times are epoch ms. */
export interface CalendarContent {
  readonly leadId: string;
  readonly connection: string;
  readonly title: string;
  readonly startAt: number;
  /** Increases each time the follow-up is moved; at least 0. */
  readonly sequence: number;
  /** The follow-up was cleared: cancels the entry. */
  readonly cancelled: boolean;
  /** The sender's. */
  readonly domain: string;
  readonly now: number;
}

/** A follow-up is a moment, but calendars show entries without length badly. */
const lengthMs = 15 * 60_000;

/**
 * An iCalendar object (RFC 5545) with METHOD:PUBLISH, which requests no reply. The UID belongs to the lead, so that a
 * higher SEQUENCE moves or cancels the entry. Does not show the time as busy.
 */
export function calendarEntry(content: CalendarContent): string {
  const { connection, leadId, startAt } = content;
  const calendar = ical({ method: ICalCalendarMethod.PUBLISH, prodId: '//leadsync//follow-ups//EN' });
  const uid = createHash('sha256')
    .update(JSON.stringify([connection, leadId]))
    .digest('hex')
    .slice(0, 32);
  calendar.createEvent({
    id: `follow-up.${uid}@${content.domain}`,
    sequence: content.sequence,
    stamp: new Date(content.now),
    start: new Date(startAt),
    end: new Date(startAt + lengthMs),
    summary: oneLine(content.title, 200),
    status: content.cancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
    transparency: ICalEventTransparency.TRANSPARENT,
  });
  // RFC 5545, section 3.1: the last line ends like all others.
  return `${calendar.toString().replace(/(?:\r\n)+$/, '')}\r\n`;
}

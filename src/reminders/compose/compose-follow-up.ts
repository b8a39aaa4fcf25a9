import type { ChatKind } from '../../config/chat-webhook.ts';
import { type ConnectionConfig, recipientTimeZone, type ReminderSettings } from '../../config/config.ts';
import { dayOf } from '../../core/lead/instant.ts';
import { type Cell, type Cells, sameCell } from '../../core/lead/value.ts';
import { type FollowUpLinks, followUpLinks, type LinkMaker } from '../links/link-token.ts';
import { startOfDay } from '../plan/local-time.ts';
import { followUpField } from '../../core/lead/mapping.ts';
import { calendarAttachment, type CalendarEvent, calendarEvent, entryLengthMs } from './calendar.ts';
import {
  type CancelReason,
  type Composed,
  composeReminder,
  composeReminderMessage,
  type ReminderContent,
  reminderView,
} from './compose-reminder.ts';
import { senderDomain } from './message.ts';
import { rowPlace } from './lead-view.ts';
import type { Templates } from './templates.ts';

export type FollowUpMail = Composed & { readonly calendar?: string };

/** Times are epoch ms. */
interface FollowUpFacts {
  readonly connection: Pick<ConnectionConfig, 'name' | 'fields' | 'target'>;
  readonly settings: ReminderSettings;
  /** In lower case. */
  readonly recipient: string;
  readonly leadId: string;
  readonly cells: Cells;
  readonly dueAt: number;
  /** Of the calendar entry: higher with each move. */
  readonly sequence: number;
  /** As the target counts; in HubSpot the company's record id. Null: unknown. */
  readonly row: number | null;
  /** What the target is known by; absent: unknown. */
  readonly place?: string | null;
  readonly now: number;
  /** Null or absent: mails have no links that move the follow-up. */
  readonly linkMaker?: LinkMaker | null;
}

/** What is told of a follow-up; `reason`: of one that is cancelled, else null or absent. */
type MailFacts = FollowUpFacts &
  Pick<ReminderContent, 'kind' | 'offsetText' | 'changes' | 'notes'> & {
    readonly reason?: CancelReason | null;
  };

export function composeFor(facts: MailFacts, templates: Templates): FollowUpMail {
  const { settings, dueAt, now, recipient } = facts;
  const day = dayOf(dueAt, settings.rules.dayZone);
  const zone = recipientTimeZone(settings.rules, recipient);
  const end = day === null ? dueAt + entryLengthMs : startOfDay(day, zone) + 86_400_000;
  const hasEntry = settings.calendar && (facts.kind !== 'reminder' || end > now);
  const content = contentOf(facts, hasEntry, templates);
  const composed = composeReminder(content);
  return hasEntry ? { ...composed, calendar: calendarAttachment(eventOf(content, facts)) } : composed;
}

export function composeMessage(facts: MailFacts, templates: Templates, kind: ChatKind): string {
  return composeReminderMessage({ ...contentOf(facts, false, templates), isChat: true }, kind);
}

export function followUpEvent(facts: FollowUpFacts, templates: Templates): CalendarEvent {
  const told = { ...facts, kind: 'reminder', offsetText: '', changes: [], notes: {} } as const;
  return eventOf(contentOf(told, true, templates), facts);
}

/** Changes in mapping order; `before` is by field. */
export function changesOf(before: Readonly<Record<string, Cell>>, cells: Cells): ReminderContent['changes'] {
  return Object.entries(cells).flatMap(([field, after]) => {
    const was = before[field];
    return was === undefined || sameCell(was, after) ? [] : [{ field, before: was, after }];
  });
}

function contentOf(facts: MailFacts, hasEntry: boolean, templates: Templates): ReminderContent {
  const { connection, settings, recipient, row, reason = null } = facts;
  const { kind, dueAt, offsetText, now, changes, notes } = facts;
  return {
    kind,
    dueAt,
    offsetText,
    now,
    changes,
    notes,
    reason,
    hasEntry,
    lead: { id: facts.leadId, cells: facts.cells },
    fields: connection.fields,
    timeZone: recipientTimeZone(settings.rules, recipient),
    dayZone: settings.rules.dayZone,
    row: reason === 'deleted' ? null : rowPlace(connection.target, row, facts.place),
    leadUrl: settings.leadUrl,
    links: kind === 'cancelled' ? undefined : linksOf(facts),
    templates: templates.in(settings.language),
  };
}

/** The links of a follow-up for its recipient; undefined where there are none, or the date may not be changed by them. */
export function linksOf({
  connection,
  leadId,
  recipient,
  dueAt,
  now,
  linkMaker = null,
}: Pick<FollowUpFacts, 'leadId' | 'recipient' | 'dueAt' | 'now' | 'linkMaker'> & {
  readonly connection: Pick<ConnectionConfig, 'name' | 'fields'>;
}): FollowUpLinks | undefined {
  const isWritable = connection.fields.some(
    ({ field, direction }) => field === followUpField && direction === 'two-way',
  );
  if (linkMaker === null || !isWritable) return undefined;
  return followUpLinks(linkMaker, { connection: connection.name, leadId, recipient, dueAt }, now);
}

function eventOf(content: ReminderContent, facts: FollowUpFacts): CalendarEvent {
  const { templates, dueAt, dayZone, now } = content;
  const { connection, settings, leadId, sequence } = facts;
  // An entry does not speak of itself.
  const view = reminderView({ ...content, hasEntry: false });
  return calendarEvent({
    connection: connection.name,
    leadId,
    summary: templates.render('calendar.summary', view),
    description: templates.render('calendar.description', view),
    url: view.url || null,
    dueAt,
    day: dayOf(dueAt, dayZone),
    dayAlarmAt: settings.rules.dateOnlyAt,
    sequence,
    isCancelled: content.kind === 'cancelled',
    domain: senderDomain(settings.from),
    now,
  });
}

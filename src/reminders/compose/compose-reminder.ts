import { dayOf } from '../../core/lead/instant.ts';
import type { ChatKind } from '../../config/chat-webhook.ts';
import { type FieldMapping, followUpField } from '../../core/lead/mapping.ts';
import { type Cell, type Cells, sameCell } from '../../core/lead/value.ts';
import { cutForChat } from '../chat/payload.ts';
import { type FollowUpLinks, followUpLinks, type LinkMaker } from '../links/link-token.ts';
import { daysBetween, startOfDay } from '../plan/local-time.ts';
import {
  dueView,
  leadLink,
  leadView,
  type Reader,
  type RowPlace,
  rowView,
  shownCell,
  rowPlace,
} from './lead-view.ts';
import { oneLine } from './shown-text.ts';
import type { LanguageTemplates, MailKind, PhraseName, Templates } from './templates.ts';
import { type ConnectionConfig, type ReminderSettings, recipientTimeZone } from '../../config/config.ts';
import { calendarAttachment, type CalendarEvent, calendarEvent, entryLengthMs } from './calendar.ts';
import { senderDomain } from './message.ts';

/** A mail without its addresses. */
export interface Composed {
  /** One line of at most 150 characters. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Why a follow-up no longer concerns a recipient: `closed` is its stage, `reassigned` goes to somebody else, `outside` is hidden by `leads.query`. */
export type CancelReason = 'deleted' | 'cleared' | 'unreadable' | 'closed' | 'reassigned' | 'outside';

/** Times are epoch ms. */
export interface MailNotes {
  /** The mail is late: when it should have been sent. */
  readonly lateSince?: number;
  /** The lead could not be read: when its values were known, or null. */
  readonly uncheckedSince?: number | null;
  readonly isTest?: true;
}

/** Times are epoch ms. */
export interface ReminderContent {
  readonly kind: Exclude<MailKind, 'digest'>;
  readonly lead: { readonly id: string; readonly cells: Cells };
  readonly fields: readonly FieldMapping[];
  readonly dueAt: number;
  readonly offsetText: string;
  /** IANA zone of the recipient. */
  readonly timeZone: string;
  /** IANA zone in which the table's dates without a time are meant. */
  readonly dayZone: string;
  readonly now: number;
  /** Changes since the last reminder of this lead. */
  readonly changes: readonly { readonly field: string; readonly before: Cell; readonly after: Cell }[];
  readonly row: RowPlace | null;
  /** Such as `https://app.example.com/leads/{id}`; null: no link. */
  readonly leadUrl: string | null;
  /** To move the follow-up, or clear it; absent: none. */
  readonly links?: FollowUpLinks | undefined;
  readonly notes: MailNotes;
  readonly reason: CancelReason | null;
  readonly hasEntry: boolean;
  /** A message of a chat, which does not call itself a mail. */
  readonly isChat?: true;
  readonly templates: LanguageTemplates;
}

const maxSubject = 150;
const maxChange = 120;

/** Pure except for warnings of `templates.render`. */
export function composeReminder(content: ReminderContent): Composed {
  return renderMail(content.templates, content.kind, reminderView(content));
}

export function renderMail(templates: LanguageTemplates, kind: MailKind, view: object): Composed {
  return {
    subject: oneLine(templates.render(`${kind}.subject`, view), maxSubject - 1),
    text: templates.render(`${kind}.text`, view),
    html: templates.render(`${kind}.html`, view),
  };
}

export function reminderView(content: ReminderContent) {
  const { templates, kind, dueAt, timeZone, dayZone, now, notes, leadUrl, links } = content;
  const { language } = templates;
  const reader = { language, timeZone, dayZone };
  const day = dayOf(dueAt, dayZone);
  const days = daysBetween(now, day === null ? dueAt : startOfDay(day, timeZone), timeZone);
  const state = days === 0 ? 'today' : days < 0 ? 'overdue' : 'coming';
  const moment = (at: number) => dueView(at, null, reader);
  const view = {
    kind,
    language,
    lead: leadView(content.lead.id, content.lead.cells, content.fields, reader),
    // By calendar days: a mail is read hours after it was written.
    due: { ...dueView(dueAt, day, reader), state, days: Math.abs(days) },
    offset: content.offsetText,
    notes: {
      late: notes.lateSince === undefined ? null : moment(notes.lateSince),
      isUnchecked: notes.uncheckedSince !== undefined,
      knownAt: typeof notes.uncheckedSince === 'number' ? moment(notes.uncheckedSince) : null,
      isTest: notes.isTest ?? false,
    },
    reason: content.reason ?? '',
    hasEntry: content.hasEntry,
    isChat: content.isChat ?? false,
    changes: content.changes.map((change) => shownChange(change, content, reader)),
    row: content.row === null ? null : rowView(content.row),
    // A deleted lead has no page.
    url: content.reason === 'deleted' ? '' : (leadLink(leadUrl, content.lead.id) ?? ''),
    links: links ? { snoozeDay: links.day, snoozeWeek: links.week, done: links.done } : null,
  };
  const say = (phrase: PhraseName, more: object = {}) =>
    templates.render(phrase, { ...view, ...more }).trim();
  const words = {
    name: say('name'),
    status: say('status'),
    when: say('when'),
    reason: kind === 'reminder' ? '' : say('reason'),
    notes: Object.keys(notes).length === 0 ? '' : say('notes'),
    row: view.row === null ? '' : say('row', { withTime: true }),
    changes: view.changes.length === 0 ? '' : say('label', { of: 'changes' }),
    open: view.url === '' ? '' : say('label', { of: 'open' }),
    snoozeDay: view.links && say('label', { of: 'snoozeDay' }),
    snoozeWeek: view.links && say('label', { of: 'snoozeWeek' }),
    done: view.links && say('label', { of: 'done' }),
    lead: say('label', { of: 'lead' }),
    footer: say('footer'),
  };
  return { ...view, words };
}

function shownChange(
  { field, before, after }: ReminderContent['changes'][number],
  { fields, templates }: ReminderContent,
  reader: Reader,
) {
  const mapping = fields.find((candidate) => candidate.field === field);
  const show = (cell: Cell): string =>
    oneLine(shownCell(cell, mapping ?? { type: 'text' }, reader), maxChange) ||
    templates.render('label', { of: 'empty' });
  return {
    label: oneLine(mapping?.column ?? field, 120),
    before: show(before),
    after: show(after),
  };
}

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
  const view = reminderView({ ...contentOf(facts, false, templates), isChat: true });
  return cutForChat(kind, templates.in(facts.settings.language).render('reminder.chat', view, kind));
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

import { dayOf } from '../../core/lead/instant.ts';
import type { ChatKind } from '../../config/chat-webhook.ts';
import type { FieldMapping } from '../../core/lead/mapping.ts';
import type { Cell, Cells } from '../../core/lead/value.ts';
import { cutForChat } from '../chat/payload.ts';
import type { FollowUpLinks } from '../links/link-token.ts';
import { daysBetween, startOfDay } from '../plan/local-time.ts';
import { dueView, leadLink, leadView, type Reader, type RowPlace, rowView, shownCell } from './lead-view.ts';
import { oneLine } from './shown-text.ts';
import type { LanguageTemplates, MailKind, PhraseName } from './templates.ts';

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

export function composeReminderMessage(content: ReminderContent, kind: ChatKind): string {
  return cutForChat(kind, content.templates.render('reminder.chat', reminderView(content), kind));
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
  const moment = (at: number) => dueView(at, null, reader);
  const view = {
    kind,
    language,
    lead: leadView(content.lead.id, content.lead.cells, content.fields, reader),
    // By calendar days: a mail is read hours after it was written.
    due: { ...dueView(dueAt, day, reader), state: stateOf(days), days: Math.abs(days) },
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

function stateOf(days: number): 'overdue' | 'today' | 'coming' {
  if (days === 0) return 'today';
  return days < 0 ? 'overdue' : 'coming';
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

import type { ChatKind } from '../../config/chat-webhook.ts';
import type { FieldMapping } from '../../core/lead/mapping.ts';
import type { Cells } from '../../core/lead/value.ts';
import { chats, cutForChat } from '../chat/payload.ts';
import { type Composed, renderMail } from './compose-reminder.ts';
import { dueView, leadLink, leadView, type RowPlace, rowView } from './lead-view.ts';
import { daysBetween, type DigestDays, localTime, startOfDay } from '../plan/local-time.ts';
import type { DueCounts } from '../../store/follow-ups.ts';
import { oneLine } from './shown-text.ts';
import type { LanguageTemplates } from './templates.ts';

/** Times are epoch ms. */
export interface DigestItem {
  readonly connection: string;
  readonly fields: readonly FieldMapping[];
  readonly leadId: string;
  readonly cells: Cells;
  readonly dueAt: number;
  /** When the follow-up is a day without a time: that day, `2026-11-21`; null: a moment. */
  readonly day: string | null;
  /** IANA zone in which the table's dates without a time are meant. */
  readonly dayZone: string;
  readonly row: RowPlace;
  /** Such as `https://app.example.com/leads/{id}`; null: no link. */
  readonly leadUrl: string | null;
  readonly page?: string | undefined;
}

/** By the recipient's calendar: today (past hours included), before today with the newest first, the seven days after. */
export type DigestGroups<Item> = Readonly<Record<keyof DueCounts, readonly Item[]>>;

/** Times are epoch ms. */
export interface DigestContent extends DigestGroups<DigestItem> {
  /** All follow-ups up to the end of the seven days, including those cut from the lists. */
  readonly counts: DueCounts;
  /** What waits for a decision: whose it is, and of which column. */
  readonly waiting: readonly string[];
  /** Where a person decides; null: not under an address that people reach. */
  readonly decideUrl: string | null;
  readonly recipient: string;
  readonly feedUrl: string | null;
  /** IANA zone of the recipient. */
  readonly timeZone: string;
  readonly now: number;
  readonly templates: LanguageTemplates;
}

export const maxItems = 50;

/** Of what waits the page shows all; a mail names some. */
const maxWaiting = 5;

/** Drops those after `days.end`. A day counts as its first moment in the recipient's zone. */
export function groupFollowUps<Item extends Pick<DigestItem, 'dueAt' | 'day'>>(
  items: readonly Item[],
  days: DigestDays,
  timeZone: string,
): DigestGroups<Item> {
  const dated = items
    .map((item) => ({ item, at: item.day === null ? item.dueAt : startOfDay(item.day, timeZone) }))
    .toSorted((a, b) => a.at - b.at);
  const within = (from: number, to: number) =>
    dated.filter(({ at }) => at >= from && at < to).map(({ item }) => item);
  return {
    today: within(days.today, days.tomorrow),
    overdue: within(-Infinity, days.today).toReversed(),
    week: within(days.tomorrow, days.end),
  };
}

export function shownItems<Item>({ today, overdue, week }: DigestGroups<Item>): readonly Item[] {
  const room = shares(overdue.length, today.length, week.length, maxItems);
  return [...today.slice(0, room.today), ...overdue.slice(0, room.overdue), ...week.slice(0, room.week)];
}

function isEmpty({ overdue, today, week, waiting }: DigestContent): boolean {
  return overdue.length + today.length + week.length + waiting.length === 0;
}

/** Null when there is nothing to tell. Pure except for warnings of `templates.render`. */
export function composeDigest(content: DigestContent): Composed | null {
  if (isEmpty(content)) return null;
  return renderMail(content.templates, 'digest', digestView(content));
}

/** The same as a message of a chat, with as many follow-ups as it has room for. */
export function composeDigestMessage(content: DigestContent, kind: ChatKind): string | null {
  if (isEmpty(content)) return null;
  const render = (most: number): string =>
    content.templates.render('digest.chat', digestView(content, most), kind).trim();
  let most = maxItems;
  let text = render(most);
  while (most > 1 && !chats[kind].fits(text)) {
    most = Math.ceil(most / 2);
    text = render(most);
  }
  return cutForChat(kind, text);
}

/** The template data of a digest. `most`: items at most. */
export function digestView(content: DigestContent, most = maxItems) {
  const { overdue, today, week, counts, timeZone, now, templates } = content;
  const { language } = templates;
  const room = shares(overdue.length, today.length, week.length, most);
  const total = counts.overdue + counts.today + counts.week;
  const several = new Set([...overdue, ...today, ...week].map(({ connection }) => connection)).size > 1;
  const groupOf = (state: keyof DueCounts) => {
    const shown = content[state].slice(0, room[state]);
    const group = { state, count: counts[state], more: counts[state] - shown.length };
    return {
      ...group,
      words: {
        title: templates.render('group-title', { group }),
        more: group.more === 0 ? '' : templates.render('group-more', { group }),
      },
      items: shown.map((item) => itemView(item, state, content, several)),
    };
  };
  const groups = [groupOf('today'), groupOf('overdue'), groupOf('week')];
  const view = {
    kind: 'digest',
    language,
    date: localTime(now, timeZone, language),
    timeZone,
    recipient: oneLine(content.recipient, 254),
    feedUrl: content.feedUrl ?? '',
    waiting: {
      count: content.waiting.length,
      more: Math.max(0, content.waiting.length - maxWaiting),
      items: content.waiting.slice(0, maxWaiting).map((line) => oneLine(line, 200)),
      url: content.decideUrl ?? '',
    },
    groups: groups.filter(({ count }) => count > 0),
    total,
    more: total - groups.reduce((sum, { items }) => sum + items.length, 0),
  };
  const words = {
    title: templates.render('digest-title', view),
    total: view.more === 0 ? '' : templates.render('total', view),
    waiting: view.waiting.count === 0 ? '' : templates.render('waiting', view),
    decide: view.waiting.count === 0 ? '' : templates.render('decide', view),
    footer: templates.render('footer', view),
  };
  return { ...view, words };
}

function itemView(
  item: DigestItem,
  state: keyof DueCounts,
  { timeZone, now, templates }: DigestContent,
  several: boolean,
) {
  const { leadId, cells, fields, dueAt, day, dayZone } = item;
  const reader = { timeZone, language: templates.language, dayZone };
  const days = daysBetween(now, day === null ? dueAt : startOfDay(day, timeZone), timeZone);
  const lead = leadView(leadId, cells, fields, reader);
  const row = rowView(item.row);
  const connection = several ? oneLine(item.connection, 120) : '';
  const view = {
    /** Empty when all are of one connection. */
    connection,
    lead,
    parts: [lead.city, lead.stage, lead.owner, connection].filter((part) => part !== ''),
    due: dueView(dueAt, day, reader),
    daysOverdue: Math.max(0, -days),
    /** Due today, and its time is over. */
    isPast: days === 0 && day === null && dueAt < now,
    row: row.number === null && row.url === '' ? null : row,
    url: leadLink(item.leadUrl, leadId) ?? '',
    page: item.page ?? '',
  };
  const words = {
    name: templates.render('name', view),
    due: templates.render('item-due', { ...view, state }),
    row: view.row === null ? '' : templates.render('row', { row: view.row, withTime: false }),
    page: view.page === '' ? '' : templates.render('label', { ...view, of: 'page' }).trim(),
  };
  return { ...view, words };
}

/** How many of each group are shown: however much is overdue, a part of the others. */
function shares(overdue: number, today: number, week: number, most: number): DueCounts {
  const kept = { today: Math.floor(most * 0.4), week: Math.floor(most * 0.2) };
  const forToday = Math.min(today, Math.max(kept.today, most - overdue - Math.min(week, kept.week)));
  const forWeek = Math.min(week, Math.max(kept.week, most - overdue - forToday));
  return { overdue: Math.min(overdue, most - forToday - forWeek), today: forToday, week: forWeek };
}

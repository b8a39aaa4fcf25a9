import type { FieldMapping } from '../../core/lead/mapping.ts';
import type { Composed } from './compose-reminder.ts';
import { maxSubject } from './compose-reminder.ts';
import { leadLink, leadView } from './lead-view.ts';
import type { DigestDays } from '../plan/digest-time.ts';
import { localTime } from '../plan/local-time.ts';
import type { FollowUp } from '../plan/wanted.ts';
import type { DueCounts } from '../../store/follow-ups.ts';
import { oneLine } from './shown-text.ts';
import type { Templates } from './templates.ts';

export type DigestItem = FollowUp;

/** By the recipient's calendar; each list oldest first. */
export interface DigestGroups {
  /** Due before today. */
  readonly overdue: readonly DigestItem[];
  /** Due today, past hours included. */
  readonly today: readonly DigestItem[];
  /** Due within the seven days after today. */
  readonly week: readonly DigestItem[];
}

/** The content of one recipient's daily mail. Times are epoch ms. */
export interface DigestContent extends DigestGroups {
  /** All follow-ups up to the end of the seven days, including those cut from the lists. */
  readonly counts: DueCounts;
  readonly recipient: string;
  /** In display order. */
  readonly fields: readonly FieldMapping[];
  readonly timeZone: string;
  readonly now: number;
  /** Such as `https://app.example.com/leads/{id}`; null: no link. */
  readonly leadUrl: string | null;
  readonly templates: Templates;
}

/** Maximum follow-ups per mail. */
export const maxItems = 50;

/** However much is overdue, this many of the other groups are shown. */
const kept = { today: 20, week: 10 };

/** Groups follow-ups, oldest first, by due day; drops those after `days.end`. */
export function groupFollowUps(items: readonly DigestItem[], days: DigestDays): DigestGroups {
  const within = (from: number, to: number) => items.filter(({ dueAt }) => dueAt >= from && dueAt < to);
  return {
    overdue: within(-Infinity, days.today),
    today: within(days.today, days.tomorrow),
    week: within(days.tomorrow, days.end),
  };
}

/** The daily mail, or null when there is no follow-up. Pure except for warnings of `templates.render`. */
export function composeDigest(content: DigestContent): Composed | null {
  if (content.overdue.length + content.today.length + content.week.length === 0) return null;
  const view = digestView(content);
  const { templates } = content;
  return {
    subject: oneLine(templates.render('digest.subject', view), maxSubject - 1),
    text: templates.render('digest.text', view),
    html: templates.render('digest.html', view),
  };
}

/** The template data of a digest. */
export function digestView(content: Omit<DigestContent, 'templates'>) {
  const { overdue, today, week, timeZone, now } = content;
  const room = shares(overdue.length, today.length, week.length);
  const { counts } = content;
  const total = counts.overdue + counts.today + counts.week;
  const groups = [
    group('overdue', 'Overdue', overdue, room.overdue, content),
    group('today', 'Today', today, room.today, content),
    group('week', 'Next seven days', week, room.week, content),
  ].filter(({ count }) => count > 0);
  return {
    date: localTime(now, timeZone),
    timeZone,
    recipient: oneLine(content.recipient, 254),
    groups,
    total,
    more: total - groups.reduce((sum, { items }) => sum + items.length, 0),
  };
}

function group(
  state: 'overdue' | 'today' | 'week',
  title: string,
  items: readonly DigestItem[],
  room: number,
  content: Omit<DigestContent, 'templates'>,
) {
  return {
    state,
    title,
    count: content.counts[state],
    more: content.counts[state] - Math.min(room, items.length),
    items: items.slice(0, room).map((item) => shownItem(item, content)),
  };
}

function shownItem(
  { leadId, cells, dueAt }: DigestItem,
  { fields, timeZone, leadUrl }: Pick<DigestContent, 'fields' | 'timeZone' | 'leadUrl'>,
) {
  return {
    lead: leadView(leadId, cells, fields, timeZone),
    due: localTime(dueAt, timeZone),
    url: leadLink(leadUrl, leadId) ?? '',
  };
}

/** How many of each group are shown. */
function shares(overdue: number, today: number, week: number) {
  const forToday = Math.min(today, Math.max(kept.today, maxItems - overdue - Math.min(week, kept.week)));
  const forWeek = Math.min(week, Math.max(kept.week, maxItems - overdue - forToday));
  const forOverdue = Math.min(overdue, maxItems - forToday - forWeek);
  return { overdue: forOverdue, today: forToday, week: forWeek };
}

import type { FieldMapping } from '../../core/lead/mapping.ts';
import { type Composed, renderMail } from './compose-reminder.ts';
import { leadLink, leadView } from './lead-view.ts';
import type { DigestDays } from '../plan/digest-time.ts';
import { localTime } from '../plan/local-time.ts';
import type { FollowUp } from '../plan/wanted.ts';
import type { DueCounts } from '../../store/follow-ups.ts';
import { oneLine } from './shown-text.ts';
import type { Templates } from './templates.ts';

/** Due before today, today (past hours included), and in the seven days after, by the recipient's calendar; oldest first. */
type DigestGroups = Readonly<Record<keyof DueCounts, readonly FollowUp[]>>;

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
export function groupFollowUps(items: readonly FollowUp[], days: DigestDays): DigestGroups {
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
  return renderMail(content.templates, 'digest', digestView(content));
}

/** The template data of a digest. */
export function digestView(content: Omit<DigestContent, 'templates'>) {
  const { overdue, today, week, counts, fields, timeZone, leadUrl } = content;
  const room = shares(overdue.length, today.length, week.length);
  const total = counts.overdue + counts.today + counts.week;
  const group = (state: keyof DueCounts, title: string) => {
    const shown = content[state].slice(0, room[state]);
    return {
      state,
      title,
      count: counts[state],
      more: counts[state] - shown.length,
      items: shown.map(({ leadId, cells, dueAt }) => ({
        lead: leadView(leadId, cells, fields, timeZone),
        due: localTime(dueAt, timeZone),
        url: leadLink(leadUrl, leadId) ?? '',
      })),
    };
  };
  const groups = [group('overdue', 'Overdue'), group('today', 'Today'), group('week', 'Next seven days')];
  return {
    date: localTime(content.now, timeZone),
    timeZone,
    recipient: oneLine(content.recipient, 254),
    groups: groups.filter(({ count }) => count > 0),
    total,
    more: total - groups.reduce((sum, { items }) => sum + items.length, 0),
  };
}

/** How many of each group are shown. */
function shares(overdue: number, today: number, week: number): DueCounts {
  const forToday = Math.min(today, Math.max(kept.today, maxItems - overdue - Math.min(week, kept.week)));
  const forWeek = Math.min(week, Math.max(kept.week, maxItems - overdue - forToday));
  return { overdue: Math.min(overdue, maxItems - forToday - forWeek), today: forToday, week: forWeek };
}

import type { FieldMapping } from '../../core/lead/mapping.ts';
import type { Cell, Cells } from '../../core/lead/value.ts';
import { leadLink, leadView, shownCell } from './lead-view.ts';
import { daysBetween, localTime } from '../plan/local-time.ts';
import { type RowPlace, rowView } from './row-place.ts';
import { oneLine } from './shown-text.ts';
import type { Templates } from './templates.ts';

/** A mail without its addresses. */
export interface Composed {
  /** One line of at most 150 characters. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The content of one mail about one follow-up. Times are epoch ms. */
export interface ReminderContent {
  readonly lead: { readonly id: string; readonly cells: Cells };
  /** In display order. */
  readonly fields: readonly FieldMapping[];
  readonly dueAt: number;
  /** As configured: `0m`, `1d`. Only for templates. */
  readonly offsetText: string;
  /** IANA zone of the recipient. */
  readonly timeZone: string;
  readonly now: number;
  /** Changes since the last reminder of this lead. */
  readonly changes: readonly { readonly field: string; readonly before: Cell; readonly after: Cell }[];
  readonly row: RowPlace;
  /** Such as `https://app.example.com/leads/{id}`; null: no link. */
  readonly leadUrl: string | null;
  /** A sentence at the top, such as that the mail is late or unchecked. */
  readonly note: string | null;
  readonly templates: Templates;
}

export const maxSubject = 150;
const maxNote = 500;
const maxChange = 120;

/** The mail about one follow-up. Pure except for warnings of `templates.render`. */
export function composeReminder(content: ReminderContent): Composed {
  return renderMail(content.templates, 'reminder', reminderView(content));
}

/** A mail from the three templates of its kind. */
export function renderMail(templates: Templates, kind: 'reminder' | 'digest', view: object): Composed {
  return {
    subject: oneLine(templates.render(`${kind}.subject`, view), maxSubject - 1),
    text: templates.render(`${kind}.text`, view),
    html: templates.render(`${kind}.html`, view),
  };
}

/** The template data of a reminder. */
export function reminderView(content: Omit<ReminderContent, 'templates'>) {
  const { lead, fields, dueAt, timeZone, now, row } = content;
  return {
    lead: leadView(lead.id, lead.cells, fields, timeZone),
    due: { ...localTime(dueAt, timeZone), timeZone, ...urgency(daysBetween(now, dueAt, timeZone)) },
    offset: content.offsetText,
    note: content.note === null ? '' : oneLine(content.note, maxNote),
    changes: content.changes.map((change) => shownChange(change, fields, timeZone)),
    row: rowView(row),
    url: leadLink(content.leadUrl, lead.id) ?? '',
  };
}

function shownChange(
  { field, before, after }: ReminderContent['changes'][number],
  fields: readonly FieldMapping[],
  timeZone: string,
) {
  const mapping = fields.find((candidate) => candidate.field === field);
  const show = (cell: Cell): string =>
    oneLine(shownCell(cell, mapping ?? { type: 'text' }, timeZone), maxChange) || '(empty)';
  return { label: oneLine(mapping?.column ?? field, 120), before: show(before), after: show(after) };
}

/** By calendar days: a mail is read hours after it was written. */
function urgency(days: number): { readonly state: 'overdue' | 'today' | 'coming'; readonly words: string } {
  if (days < -1) return { state: 'overdue', words: `Overdue by ${-days} days` };
  if (days === -1) return { state: 'overdue', words: 'Overdue since yesterday' };
  if (days === 0) return { state: 'today', words: 'Due today' };
  return { state: 'coming', words: days === 1 ? 'Due tomorrow' : `Due in ${days} days` };
}

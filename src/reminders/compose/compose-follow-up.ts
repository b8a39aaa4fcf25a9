import type { ConnectionConfig, ReminderSettings } from '../../config/config.ts';
import { type Cell, type Cells, sameCell } from '../../core/lead/value.ts';
import { localTime } from '../plan/local-time.ts';
import { calendarEntry } from './calendar.ts';
import { type Composed, composeReminder, maxSubject, type ReminderContent } from './compose-reminder.ts';
import { leadView } from './lead-view.ts';
import { senderDomain } from './message.ts';
import { rowPlace } from './row-place.ts';
import { escaped, oneLine } from './shown-text.ts';
import type { Templates } from './templates.ts';

/** A mail with a calendar entry, if one is attached. */
export type FollowUpMail = Composed & { readonly calendar?: string };

/** One follow-up of a lead. Times are epoch ms. */
interface FollowUpFacts {
  readonly connection: Pick<ConnectionConfig, 'name' | 'fields' | 'target'>;
  readonly settings: ReminderSettings;
  readonly leadId: string;
  readonly cells: Cells;
  readonly dueAt: number;
  /** Of the calendar entry: higher with each move. */
  readonly sequence: number;
  readonly now: number;
}

interface ReminderFacts extends FollowUpFacts, Pick<ReminderContent, 'offsetText' | 'changes' | 'note'> {
  /** As the target counts; in HubSpot the company's record id. */
  readonly row: number | null;
}

/** The mail about a follow-up, with a calendar entry if configured. */
export function composeFor(facts: ReminderFacts, templates: Templates): FollowUpMail {
  const { connection, settings, leadId, cells, row, ...others } = facts;
  const composed = composeReminder({
    ...others,
    lead: { id: leadId, cells },
    fields: connection.fields,
    timeZone: settings.rules.timeZone,
    row: rowPlace(connection.target, row),
    leadUrl: settings.leadUrl,
    templates,
  });
  return settings.calendar ? { ...composed, calendar: entryOf(facts, false) } : composed;
}

/** As `composeFor`, for a recipient whose calendar has the follow-up at another time. */
export function composeMoved(facts: Omit<ReminderFacts, 'offsetText'>, templates: Templates): FollowUpMail {
  const moved =
    'The follow-up was moved to this date. The attached entry moves it in calendars that support this.';
  const note = facts.note === null ? moved : `${moved} ${facts.note}`;
  return {
    ...composeFor({ ...facts, offsetText: 'moved', note }, templates),
    subject: subjectOf('Moved', facts),
  };
}

/** The mail that cancels the calendar entry of a follow-up that no longer concerns its recipient. */
export function composeCancellation(facts: FollowUpFacts): FollowUpMail {
  const { day, time, zone } = localTime(facts.dueAt, facts.settings.rules.timeZone);
  const text = `The follow-up of ${viewOf(facts).company} on ${day}, ${time} ${zone} is no longer yours: its date was cleared, the lead was closed or deleted, or it now belongs to somebody else. The attached entry removes it from calendars that support this.`;
  return {
    subject: subjectOf('Follow-up cancelled', facts),
    text: `${text}\n`,
    html: `<!doctype html><html lang="en"><body><p>${escaped(text)}</p></body></html>`,
    calendar: entryOf(facts, true),
  };
}

/** Changes in mapping order; `before` is by field. */
export function changesOf(before: Readonly<Record<string, Cell>>, cells: Cells): ReminderContent['changes'] {
  return Object.entries(cells).flatMap(([field, after]) => {
    const was = before[field];
    return was === undefined || sameCell(was, after) ? [] : [{ field, before: was, after }];
  });
}

function viewOf({ connection, settings, leadId, cells }: FollowUpFacts) {
  return leadView(leadId, cells, connection.fields, settings.rules.timeZone);
}

function subjectOf(what: string, facts: FollowUpFacts): string {
  const { day, time } = localTime(facts.dueAt, facts.settings.rules.timeZone);
  return oneLine(`${what}: ${viewOf(facts).shortCompany}, ${day}, ${time}`, maxSubject - 1);
}

function entryOf(facts: FollowUpFacts, cancelled: boolean): string {
  const { connection, settings, leadId, dueAt, sequence, now } = facts;
  return calendarEntry({
    leadId,
    connection: connection.name,
    title: `Follow-up: ${viewOf(facts).company}`,
    startAt: dueAt,
    sequence,
    cancelled,
    domain: senderDomain(settings.from),
    now,
  });
}

import { basename } from 'node:path';
import type { ConnectionConfig, ReminderSettings } from '../../config/config.ts';
import { leadCells } from '../../core/lead/lead.ts';
import { type Cell, type Cells, sameCell } from '../../core/lead/value.ts';
import { basesOf } from '../../store/pairs.ts';
import type { Reminder, ReminderState } from '../../store/reminders.ts';
import { lastRun } from '../../store/runs.ts';
import { type LeadBackground, noteTry } from '../../store/sending.ts';
import type { LeadsPort } from '../../ports/leads-service.ts';
import { noticeKind } from '../../store/calendar-notices.ts';
import { askLead } from './ask-lead.ts';
import { calendarEntry } from '../compose/calendar.ts';
import { composeCancellation } from '../compose/compose-cancellation.ts';
import {
  composeReminder,
  type Composed,
  maxSubject,
  type ReminderContent,
} from '../compose/compose-reminder.ts';
import { deliver, type DeliveryContext, notNow, type Outcome, type Owed } from './deliver.ts';
import { leadView } from '../compose/lead-view.ts';
import { localTime } from '../plan/local-time.ts';
import { senderDomain } from '../compose/message.ts';
import { followUpField, planFromRead } from '../plan/plan-reminders.ts';
import { isStageWanted, recipientsOf } from '../plan/recipients.ts';
import { oneLine } from '../compose/shown-text.ts';
import type { Templates } from '../compose/templates.ts';

/** What a connection's mails are composed and sent with. */
export interface ReminderContext extends DeliveryContext {
  readonly connection: ConnectionConfig;
  readonly leads: LeadsPort;
  readonly templates: Templates;
  /** Schedules jobs for newly planned reminders. */
  addJobs(reminders: readonly Reminder[]): Promise<void>;
}

/** The moment (epoch ms) and planning round of a job. */
export interface ReminderJob {
  readonly reminderId: number;
  readonly round: number;
  readonly requestedAt: number;
}

/** After this time (ms) a mail no longer waits for an unavailable service, and says so. */
export const unaskedMs = 30 * 60_000;

/** From this delay (ms) on a mail says that it is late. */
const lateMs = 15 * 60_000;

/**
 * Sends one due reminder, or says when to try again. Reads the lead first: if its follow-up moved, was cleared, or no
 * longer concerns this recipient, the reminder is cancelled and the lead planned again. Throws only database and disk
 * faults.
 */
export async function sendReminder(
  context: ReminderContext,
  job: ReminderJob,
  signal: AbortSignal,
): Promise<Outcome<ReminderState>> {
  const { pool, ledger, connection } = context;
  const reminder = await ledger.reminder(job.reminderId);
  const settings = connection.reminders;
  if (reminder === null || settings === undefined) return { state: 'cancelled' };
  const { state, leadId, recipient, sendAt } = reminder;
  // A rescheduled reminder has its own job.
  if (reminder.round !== job.round || (state !== 'scheduled' && state !== 'sending')) return { state };
  const owed: Owed = { ...reminder, table: 'reminders' };
  const blocked = await notNow(context, owed, settings);
  if (blocked !== null) return blocked;

  const deadline = Math.max(sendAt, job.requestedAt) + unaskedMs;
  const [known, background] = await Promise.all([
    currentCells(context, reminder, deadline, signal),
    ledger.background({ connection: connection.name, leadId }),
  ]);
  if ('againAfterMs' in known) return { againAfterMs: known.againAfterMs, wholeQueue: false };
  const composed =
    noticeKind(reminder.offsetText) === 'cancel'
      ? await cancellationFor(context, reminder, settings, known.cells)
      : reminderFor(context, reminder, settings, known, background);
  if (composed === null) {
    const note = 'the follow-up has changed in the service';
    await ledger.end('reminders', { id: reminder.id, state: 'cancelled', note, sender: reminder.sender });
    await context.addJobs(await planFromRead(pool, connection, leadId, known.cells));
    return { state: 'cancelled' };
  }
  signal.throwIfAborted();
  const mail = {
    key: JSON.stringify([connection.name, leadId, reminder.dueAt, reminder.offsetText, recipient]),
    from: settings.from,
    to: recipient,
    ...composed,
    thread: JSON.stringify([connection.name, leadId]),
  };
  const outcome = await deliver(context, owed, mail, settings, signal);
  // Somebody else has it.
  return outcome ?? { state: 'sending' };
}

type ComposedMail = Composed & { readonly calendar?: string };

/** The mail about a follow-up; null when it no longer stands, or not for this recipient. */
function reminderFor(
  { connection, clock, templates }: ReminderContext,
  reminder: Reminder,
  settings: ReminderSettings,
  { cells, note }: Pick<Asked, 'cells' | 'note'>,
  { before, row }: LeadBackground,
): ComposedMail | null {
  if (cells === null || !isWanted(cells, reminder, settings)) return null;
  const { leadId, dueAt, offsetText, sequence, sendAt } = reminder;
  const now = clock.now();
  const isMove = noticeKind(offsetText) === 'moved';
  const moved = isMove ? movedNote : null;
  const notes = [moved, lateNote(sendAt, now, settings), note].filter((text) => text !== null);
  const facts = {
    connection,
    settings,
    leadId,
    cells,
    dueAt,
    offsetText: isMove ? 'moved' : offsetText,
    sequence,
    row,
    now,
    changes: changesOf(before, cells),
    note: notes.length === 0 ? null : notes.join(' '),
  };
  const composed = composeFor(facts, templates);
  if (!isMove) return composed;
  const { timeZone } = settings.rules;
  const { shortCompany } = leadView(leadId, cells, connection.fields, timeZone);
  const { day, time } = localTime(dueAt, timeZone);
  return { ...composed, subject: oneLine(`Moved: ${shortCompany}, ${day}, ${time}`, maxSubject - 1) };
}

const movedNote =
  'The follow-up was moved to this date. The attached entry moves it in calendars that support this.';

/** The mail that cancels a calendar entry; null when the recipient gets a new reminder of the lead. */
async function cancellationFor(
  { pool, connection, clock }: ReminderContext,
  reminder: Reminder,
  settings: ReminderSettings,
  cells: Cells | null,
): Promise<ComposedMail | null> {
  if (cells !== null && (cells[followUpField] ?? null) !== null && isFor(reminder.recipient, cells, settings))
    return null;
  const bases = await basesOf(pool, connection.name, [reminder.leadId]);
  const shown = cells ?? bases.get(reminder.leadId) ?? {};
  return composeCancellation({ connection, settings, reminder, cells: shown, now: clock.now() });
}

/** Times are epoch ms. */
export interface ReminderFacts {
  readonly connection: ConnectionConfig;
  readonly settings: ReminderSettings;
  readonly leadId: string;
  readonly cells: Cells;
  readonly dueAt: number;
  readonly offsetText: string;
  readonly sequence: number;
  readonly changes: ReminderContent['changes'];
  readonly row: number | null;
  readonly note: string | null;
  readonly now: number;
}

/**
 * A target's display name, and the row's position: a number, or the URL of what has one. `row`: as the target counts; in
 * HubSpot a company's record id.
 */
function placeOf(target: ConnectionConfig['target'], row: number | null): ReminderContent['row'] {
  switch (target.type) {
    case 'workbook':
      return { target: basename(target.path), row };
    case 'google-sheets':
      return {
        target: target.tab,
        url: `https://docs.google.com/spreadsheets/d/${target.spreadsheetId}/edit`,
        row,
      };
    case 'hubspot': {
      if (target.portal === undefined || row === null) return { target: 'HubSpot', row: null };
      const url = `https://app.hubspot.com/contacts/${target.portal}/record/0-2/${row}`;
      return { target: 'HubSpot', url, row: null };
    }
    case 'postgres-table':
      return { target: `table ${target.table}`, row: null };
    default:
      return target satisfies never;
  }
}

/** The mail about a follow-up, with a calendar entry if configured. */
export function composeFor(
  { connection, settings, leadId, cells, ...facts }: ReminderFacts,
  templates: Templates,
): ComposedMail {
  const composed = composeReminder({
    ...facts,
    lead: { id: leadId, cells },
    fields: connection.fields,
    timeZone: settings.rules.timeZone,
    row: placeOf(connection.target, facts.row),
    leadUrl: settings.leadUrl,
    templates,
  });
  if (!settings.calendar) return composed;
  const calendar = calendarEntry({
    leadId,
    connection: connection.name,
    title: `Follow-up: ${leadView(leadId, cells, connection.fields, settings.rules.timeZone).company}`,
    startAt: facts.dueAt,
    sequence: facts.sequence,
    cancelled: false,
    domain: senderDomain(settings.from),
    now: facts.now,
  });
  return { ...composed, calendar };
}

/** Changes in mapping order; `before` is by field. */
export function changesOf(before: Readonly<Record<string, Cell>>, cells: Cells): ReminderContent['changes'] {
  return Object.entries(cells).flatMap(([field, after]) => {
    const was = before[field];
    return was === undefined || sameCell(was, after) ? [] : [{ field, before: was, after }];
  });
}

/** A lead for a mail; null: gone. `note`: what the reader should know. */
interface Asked {
  readonly cells: Cells | null;
  readonly note: string | null;
}

/** The lead in the service now; its baseline when the service stayed unavailable until `deadline` (epoch ms). */
async function currentCells(
  context: ReminderContext,
  { id, leadId }: Reminder,
  deadline: number,
  signal: AbortSignal,
): Promise<Asked | { readonly againAfterMs: number }> {
  const { pool, connection, log, clock } = context;
  const answer = await askLead(context, leadId, deadline - unaskedMs, signal);
  if ('lead' in answer) {
    return { cells: answer.lead && leadCells(answer.lead, connection.fields), note: null };
  }
  const { fault } = answer;
  if (fault !== null) {
    if (fault.retryAfterMs === undefined) log.warn({ lead: leadId, code: fault.code }, fault.message);
    await noteTry(pool, id, fault.message);
  }
  const left = deadline - clock.now();
  if (left > 0) return { againAfterMs: Math.min(answer.againAfterMs, left) };
  const bases = await basesOf(pool, connection.name, [leadId]);
  const run = await lastRun(pool, connection.name, 'sync');
  const zone = connection.reminders?.rules.timeZone ?? 'UTC';
  const at = run === null ? '' : ` at ${shownTime(run.finishedAt ?? run.createdAt, zone)}`;
  return {
    cells: bases.get(leadId) ?? null,
    note: `The Leads service was unavailable for half an hour: this mail shows what was known${at}.`,
  };
}

function isWanted(cells: Cells, { dueAt, recipient }: Reminder, settings: ReminderSettings): boolean {
  return cells[followUpField] === new Date(dueAt).toISOString() && isFor(recipient, cells, settings);
}

function isFor(recipient: string, cells: Cells, { rules }: ReminderSettings): boolean {
  return isStageWanted(cells, rules) && recipientsOf(cells, rules).includes(recipient);
}

function lateNote(sendAt: number, now: number, { rules }: ReminderSettings): string | null {
  if (now - sendAt < lateMs) return null;
  return `This mail is late: it was due at ${shownTime(sendAt, rules.timeZone)}.`;
}

function shownTime(at: number, timeZone: string): string {
  const { day, time, zone } = localTime(Math.floor(at), timeZone);
  return `${time} ${zone} on ${day}`;
}

import type { ConnectionConfig, ReminderSettings } from '../../config/config.ts';
import { recipientSettings } from '../../config/recipients.ts';
import { leadCells } from '../../core/lead/lead.ts';
import type { Cells } from '../../core/lead/value.ts';
import type { LeadsPort } from '../../ports/leads-service.ts';
import { basesOf } from '../../store/pairs.ts';
import { mailName, type Reminder, type ReminderState } from '../../store/mails.ts';
import { lastRun } from '../../store/runs.ts';
import { type LeadBackground, noteTry } from '../../store/sending.ts';
import {
  changesOf,
  composeCancellation,
  composeFor,
  composeMoved,
  type FollowUpMail,
} from '../compose/compose-follow-up.ts';
import type { Templates } from '../compose/templates.ts';
import { localTime } from '../plan/local-time.ts';
import { followUpField, planFromRead } from '../plan/plan-reminders.ts';
import { isStageWanted, recipientsOf, spelledAddress } from '../plan/recipients.ts';
import { askLead } from './ask-lead.ts';
import { deliver, type DeliveryContext, end, notNow, type Outcome } from './deliver.ts';

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
  if (reminder === null || connection.reminders === undefined) return { state: 'cancelled' };
  const { state, leadId, recipient, sendAt } = reminder;
  const settings = recipientSettings(connection.reminders, recipient);
  // A rescheduled reminder has its own job.
  if (reminder.round !== job.round || (state !== 'scheduled' && state !== 'sending')) return { state };
  const blocked = await notNow(context, reminder, settings);
  if (blocked !== null) return blocked;

  const deadline = Math.max(sendAt, job.requestedAt) + unaskedMs;
  const [known, background] = await Promise.all([
    currentCells(context, reminder, settings, deadline, signal),
    ledger.background({ connection: connection.name, leadId }),
  ]);
  if ('againAfterMs' in known) return { againAfterMs: known.againAfterMs, wholeQueue: false };
  const composed =
    reminder.kind === 'cancel'
      ? await cancellationFor(context, reminder, settings, known.cells)
      : reminderFor(context, reminder, settings, known, background);
  if (composed === null) {
    await end(context, reminder, 'cancelled', 'the follow-up has changed in the service');
    await context.addJobs(await planFromRead(pool, connection, leadId, known.cells));
    return { state: 'cancelled' };
  }
  signal.throwIfAborted();
  const mail = {
    key: JSON.stringify([connection.name, leadId, reminder.dueAt, mailName(reminder), recipient]),
    from: settings.from,
    to: spelledAddress(recipient, known.cells ?? {}, settings.rules),
    ...composed,
    thread: JSON.stringify([connection.name, leadId]),
  };
  return deliver(context, reminder, mail, settings, signal);
}

/** The mail about a follow-up; null when it no longer stands, or not for this recipient. */
function reminderFor(
  { connection, clock, templates }: ReminderContext,
  { leadId, dueAt, kind, offsetText, sequence, sendAt, recipient }: Reminder,
  settings: ReminderSettings,
  { cells, note }: Asked,
  { before, row }: LeadBackground,
): FollowUpMail | null {
  if (cells === null || cells[followUpField] !== new Date(dueAt).toISOString()) return null;
  if (!isFor(recipient, cells, settings)) return null;
  const now = clock.now();
  const late =
    now - sendAt < lateMs ? '' : `This mail is late: it was due at ${shownTime(sendAt, settings)}.`;
  const facts = {
    connection,
    settings,
    leadId,
    cells,
    dueAt,
    sequence,
    row,
    now,
    changes: changesOf(before, cells),
    note: [late, note ?? ''].filter(Boolean).join(' ') || null,
  };
  return kind === 'moved' ? composeMoved(facts, templates) : composeFor({ ...facts, offsetText }, templates);
}

/** The mail that cancels a calendar entry; null when the recipient gets a new reminder of the lead. */
async function cancellationFor(
  { pool, connection, clock }: ReminderContext,
  { leadId, dueAt, sequence, recipient }: Reminder,
  settings: ReminderSettings,
  known: Cells | null,
): Promise<FollowUpMail | null> {
  if (known !== null && (known[followUpField] ?? null) !== null && isFor(recipient, known, settings))
    return null;
  const cells = known ?? (await basesOf(pool, connection.name, [leadId])).get(leadId) ?? {};
  return composeCancellation({ connection, settings, leadId, cells, dueAt, sequence, now: clock.now() });
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
  settings: ReminderSettings,
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
  const at = run === null ? '' : ` at ${shownTime(run.finishedAt ?? run.createdAt, settings)}`;
  return {
    cells: bases.get(leadId) ?? null,
    note: `The Leads service was unavailable for half an hour: this mail shows what was known${at}.`,
  };
}

function isFor(recipient: string, cells: Cells, { rules }: ReminderSettings): boolean {
  return isStageWanted(cells, rules) && recipientsOf(cells, rules).includes(recipient);
}

function shownTime(at: number, { rules }: ReminderSettings): string {
  const { day, time, zone } = localTime(Math.floor(at), rules.timeZone);
  return `${time} ${zone} on ${day}`;
}

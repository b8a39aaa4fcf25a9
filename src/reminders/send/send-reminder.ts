import { type ConnectionConfig, recipientSettings, type ReminderSettings } from '../../config/config.ts';
import { followUpField } from '../../core/lead/mapping.ts';
import { type Lead, leadCells } from '../../core/lead/lead.ts';
import type { Cells } from '../../core/lead/value.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LeadsPort } from '../../ports/leads-service.ts';
import { mailName, type Reminder } from '../../store/mails.ts';
import { basesOf, isOutside } from '../../store/pairs.ts';
import { lastRun } from '../../store/runs.ts';
import { giveUpLeft, type LeadBackground, skipSame } from '../../store/sending.ts';
import {
  changesOf,
  composeFor,
  composeMessage,
  type CancelReason,
  type MailNotes,
} from '../compose/compose-reminder.ts';
import type { Templates } from '../compose/templates.ts';
import type { LinkMaker } from '../links/link-token.ts';
import { dueMoment, planFromRead, shownMinute } from '../plan/plan-reminders.ts';
import { isStageWanted, recipientsOf, spelledAddress } from '../plan/recipients.ts';
import { type CircuitBreakers, leadsPauseMs } from './circuit-breakers.ts';
import {
  deliver,
  type DeliveryContext,
  notNow,
  type Outcome,
  type Outgoing,
  outgoingMail,
  outgoingMessage,
} from './deliver.ts';
import type { Mailer } from './mail.ts';

export interface ReminderContext extends DeliveryContext {
  readonly connection: ConnectionConfig;
  readonly configured: readonly string[];
  readonly leads: LeadsPort;
  readonly templates: Templates;
  readonly mailer: Mailer;
  /** Null or absent: mails have no links that move a follow-up. */
  readonly linkMaker?: LinkMaker | null;
}

/** After this time (ms) a mail no longer waits for an unavailable service, and says so. */
const unaskedMs = 30 * 60_000;

/** A reminder waits so long (ms) at least for the digest of the same minute. */
const leastDigestWaitMs = 10_000;

/** From this delay (ms) on a mail says that it is late. */
const lateMs = 15 * 60_000;

/**
 * Reads the lead first: if its follow-up moved, was cleared, or no longer concerns this recipient, the reminder is cancelled and the lead
 * planned again. Throws only database and disk faults.
 */
export async function sendReminder(
  context: ReminderContext,
  reminder: Reminder,
  background: LeadBackground,
  signal: AbortSignal,
): Promise<Outcome> {
  const { pool, connection } = context;
  if (connection.reminders === undefined)
    return { state: 'cancelled', note: 'there are no reminders any more' };
  const settings = recipientSettings(connection.reminders, reminder.recipient);
  const told = (await toldBySame(context, reminder)) ?? (await notNow(context, reminder, settings));
  if (told !== null) return told;
  const wait = digestWaitMs(reminder, settings, context.clock.now());
  if (wait > 0) return { againAfterMs: wait };

  const known = await currentCells(context, reminder, signal);
  if ('againAfterMs' in known) return known;
  const outgoing = await outgoingFor(context, reminder, settings, known, background);
  if (outgoing === null)
    return {
      state: 'cancelled',
      note: 'the follow-up has changed in the service',
      andThen: () => planFromRead(pool, connection, reminder.leadId, known.cells),
    };
  signal.throwIfAborted();
  return deliver(context, reminder, outgoing, settings, signal);
}

/** What becomes of a mail when another connection sends the same one, or has ended it; null: none does. */
async function toldBySame(
  { pool, waits, configured }: ReminderContext,
  { told }: Reminder,
): Promise<Outcome | null> {
  if (told === null) return null;
  if (told.state === 'sending') {
    if (await giveUpLeft(pool, told.id, configured, waits)) return null;
    return { againAfterMs: waits.doubtMs };
  }
  await skipSame(pool, [told.id]);
  return { state: 'skipped', note: 'another connection has sent the same mail' };
}

/**
 * How long (ms) a reminder waits for the digest of the same minute, which makes it superfluous; only when the digest can say the same. A
 * calendar entry comes with the reminder alone.
 */
function digestWaitMs(
  { awaitsDigest, sendAt }: Reminder,
  { calendar, rules }: ReminderSettings,
  now: number,
): number {
  if (!awaitsDigest || calendar || rules.digestAt === null) return 0;
  const [waited, left] = [now - sendAt, sendAt + unaskedMs - now];
  return Math.max(0, Math.min(left, Math.max(leastDigestWaitMs, waited / 2)));
}

/**
 * The mail or message about a follow-up; null when it no longer stands, or not for this recipient; of one that cancels a calendar
 * entry, when it does.
 */
async function outgoingFor(
  context: ReminderContext,
  reminder: Reminder,
  settings: ReminderSettings,
  { cells: known, notes }: Asked,
  { before, row, place }: LeadBackground,
): Promise<Outgoing | null> {
  const { pool, connection, clock, templates, mailer, linkMaker = null } = context;
  const { name } = connection;
  const { leadId, dueAt, offsetText, sequence, sendAt, recipient } = reminder;
  const isCancel = reminder.kind === 'cancel';
  const outside = isCancel && (await isOutside(pool, name, leadId)) ? 'outside' : null;
  const reason = known === null ? 'deleted' : (cancelReason(known, recipient, settings) ?? outside);
  const isMoved = shownMinute(dueMoment(known ?? {})) !== shownMinute(dueAt);
  if (isCancel ? reason === null : reason !== null || isMoved) return null;
  const cells = known ?? (await basesOf(pool, name, [leadId])).get(leadId) ?? {};
  const now = clock.now();
  const isLate = !isCancel && now - sendAt >= lateMs;
  const { chat } = settings;
  const channel = chat?.recipient === recipient ? chat : null;
  const lead = { leadId, cells, dueAt, sequence, row, place };
  const facts = {
    ...lead,
    kind: isCancel ? ('cancelled' as const) : reminder.kind,
    reason,
    connection,
    settings,
    recipient,
    offsetText,
    now,
    changes: isCancel ? [] : changesOf(before, cells),
    notes: { ...notes, ...(isLate && { lateSince: sendAt }) },
    // A channel is nobody who could have moved it.
    linkMaker: channel === null ? linkMaker : null,
  };
  if (channel !== null)
    return outgoingMessage(channel, composeMessage(facts, templates, channel.kind), clock);
  return outgoingMail(mailer, {
    key: JSON.stringify([name, leadId, shownMinute(dueAt), mailName(reminder), recipient]),
    from: settings.from,
    to: spelledAddress(recipient, known ?? {}, settings.rules),
    ...composeFor(facts, templates),
    thread: JSON.stringify([name, leadId]),
  });
}

/** Why a lead that is there does not concern a recipient; null: it does. */
function cancelReason(cells: Cells, recipient: string, { rules }: ReminderSettings): CancelReason | null {
  if ((cells[followUpField] ?? null) === null) return 'cleared';
  if (dueMoment(cells) === null) return 'unreadable';
  if (!isStageWanted(cells, rules)) return 'closed';
  return recipientsOf(cells, rules).includes(recipient) ? null : 'reassigned';
}

interface Asked {
  readonly cells: Cells | null;
  readonly notes: MailNotes;
}

/** The lead in the service now; its baseline when the service stayed unavailable for as long as a mail waits. */
async function currentCells(
  context: ReminderContext,
  { leadId, sendAt, takenAt }: Reminder,
  signal: AbortSignal,
): Promise<Asked | Extract<Outcome, { againAfterMs: number }>> {
  const { pool, connection, log, clock } = context;
  const since = Math.max(sendAt, takenAt ?? 0);
  const asked = await askLead(context, leadId, since, signal);
  const isNull = 'lead' in asked && asked.lead === null;
  const answer = isNull && (await isForeign(context)) ? { againAfterMs: foreignWaitMs, fault: null } : asked;
  if ('lead' in answer) {
    return { cells: answer.lead && leadCells(answer.lead, connection.fields), notes: {} };
  }
  const { fault } = answer;
  if (fault !== null && fault.retryAfterMs === undefined)
    log.warn({ lead: leadId, code: fault.code }, fault.message);
  const left = since + unaskedMs - clock.now();
  if (left > 0)
    return {
      againAfterMs: Math.min(answer.againAfterMs, left),
      ...(fault !== null && { note: fault.message, isTry: true }),
    };
  const bases = await basesOf(pool, connection.name, [leadId]);
  const run = await lastRun(pool, connection.name, 'sync');
  return {
    cells: bases.get(leadId) ?? null,
    notes: { uncheckedSince: run === null ? null : Math.floor(run.finishedAt ?? run.createdAt) },
  };
}

/** How long (ms) a mail waits for the right key before it asks again. */
const foreignWaitMs = 5 * 60_000;

/** Whether the last sync found the key to be another organization's: then a lead that it does not show is not gone. */
async function isForeign({ pool, connection }: ReminderContext): Promise<boolean> {
  const run = await lastRun(pool, connection.name, 'sync');
  return run?.refusals.some(({ code }) => code === 'other-service') ?? false;
}

/** The lead, null when it is gone, or when (in ms) to try again and the fault; without a fault no request was sent. */
export type Answer =
  | { readonly lead: Lead | null }
  | { readonly againAfterMs: number; readonly fault: LeadsyncError | null };

interface AskContext {
  readonly connection: { readonly name: string };
  readonly leads: LeadsPort;
  readonly clock: Clock;
  readonly breakers: CircuitBreakers;
}

/** Minimum wait for a lead after a fault (ms): others come first after a pause. */
const leastWaitMs = 2 * leadsPauseMs;

/**
 * For a mail that has waited since `since` (epoch ms). After a fault only this lead waits, twice as long each time; the service is paused at
 * its request, or when several leads in a row fail.
 */
export async function askLead(
  { connection: { name }, leads, clock, breakers }: AskContext,
  id: string,
  since: number,
  signal: AbortSignal,
): Promise<Answer> {
  using _turn = await breakers.leadsTurn(name);
  const wait = breakers.leadsUntil(name) - clock.now();
  if (wait > 0) {
    return { againAfterMs: wait + (breakers.hasFailed(name, id) ? leadsPauseMs : 0), fault: null };
  }
  try {
    const lead = await leads.get(id, signal);
    breakers.leadsAnswered(name);
    return { lead };
  } catch (error) {
    if (signal.aborted || !(error instanceof LeadsyncError) || !error.code.startsWith('leads.')) throw error;
    const now = clock.now();
    const { retryAfterMs } = error;
    if (error.code !== 'leads.rejected') breakers.leadFailed(name, id, now, retryAfterMs);
    const leastMs = retryAfterMs === undefined ? leastWaitMs : 2 * retryAfterMs;
    return { againAfterMs: Math.max(leastMs, now - since), fault: error };
  }
}

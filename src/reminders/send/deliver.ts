import type pg from 'pg';
import type { Logger } from 'pino';
import type { ReminderSettings } from '../../config/config.ts';
import { LeadsyncError } from '../../errors.ts';
import type { MailLedger } from '../../store/mail-ledger.ts';
import type { SentBy } from '../../store/mail-sender.ts';
import { type Claim, type MailTable, putOffMail } from '../../store/sending.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Mail, Mailer } from './mail.ts';
import { longestSendMs, stopwatch } from './mail-times.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import { nextAllowed } from '../plan/send-time.ts';

/** The outcome of one attempt: settled, or to be repeated. `wholeQueue`: no other mail can be sent earlier either. */
export type Outcome<State extends string> =
  | { readonly state: State }
  | { readonly againAfterMs: number; readonly wholeQueue: boolean };

/** The dependencies of sending. */
export interface DeliveryContext {
  readonly pool: pg.Pool;
  readonly ledger: MailLedger;
  readonly log: Logger;
  readonly clock: Clock;
  readonly waits: MailWaits;
  readonly mailer: Mailer;
  readonly breakers: CircuitBreakers;
}

/** A mail to be sent, from its table. Times are epoch ms. */
export interface Owed extends Omit<Claim, 'firstTriedAt'>, SentBy {
  readonly table: MailTable;
  /** How often the mail server left open whether it accepted the mail. */
  readonly unknownOutcomes: number;
  readonly attempts: number;
  readonly firstTriedAt: number | null;
  readonly recipient: string;
}

/** How long mails wait (ms). */
export interface MailWaits {
  /** Before resending a mail whose outcome the server left open. */
  readonly doubtMs: number;
  /** After the start of an attempt whose process is gone: by then it has arrived or never will. */
  readonly cutOffMs: number;
  /** Before the next attempt, and its random extension. */
  readonly retryMs: number;
  readonly retrySpreadMs: number;
  /** While no mail can be sent: interval between attempts. */
  readonly stoppedMs: number;
}

/** Attempts are 5 to 15 minutes apart, as greylisting servers require. */
export const usualWaits: MailWaits = {
  doubtMs: 60_000,
  cutOffMs: longestSendMs + 20_000,
  retryMs: 300_000,
  retrySpreadMs: 600_000,
  stoppedMs: 300_000,
};

/** Maximum resends of a mail whose process ended at an unknown point. */
const maxResends = 3;

/** Attempts for a recipient refused by policy, with no others to compare. */
const policyTries = 5;

/** The delay (ms) before the next attempt. */
export function retryDelayMs({ waits, clock }: Pick<DeliveryContext, 'waits' | 'clock'>): number {
  return Math.round(waits.retryMs + clock.random() * waits.retrySpreadMs);
}

/**
 * Whether a mail may be sent now; null: yes. `missed`: its grace period is over. `failed`: an attempt with unknown outcome
 * must not be repeated. Otherwise it waits while no mail may be sent, or while a live process sends it.
 */
export async function notNow(
  { pool, ledger, log, clock, waits, breakers }: DeliveryContext,
  owed: Owed,
  { rules, onUnknown }: Pick<ReminderSettings, 'rules' | 'onUnknown'>,
): Promise<Outcome<'missed' | 'failed'> | null> {
  const now = clock.now();
  const { table, id, sendAt, recipient, sender } = owed;
  if (owed.state === 'sending') {
    if (ledger.isUnderWay(table, owed)) return later(waits.doubtMs);
    const wait = (sender === null ? waits.doubtMs : waits.cutOffMs) - owed.idleMs;
    if (wait > 0) return later(wait);
    if (owed.unknownOutcomes > 1 || owed.resends >= maxResends || onUnknown === 'hold')
      return inDoubt(ledger, log, owed, null);
  }
  if (sendAt > now) return later(sendAt - now);
  if (now - sendAt > rules.graceMs) {
    const doubt = owed.state === 'sending' ? '; it may have been sent nevertheless' : '';
    const note = `it could not be sent in time, nor within the grace period${doubt}`;
    await ledger.end(table, { id, state: 'missed', note, sender });
    return { state: 'missed' };
  }
  const refusedAt = breakers.refusedAt(recipient);
  if (refusedAt !== null && refusedAt + 2 * waits.stoppedMs > now)
    return later(refusedAt + 2 * waits.stoppedMs - now);
  const allowedAt = nextAllowed(now, rules);
  if (allowedAt === now) return null;
  await putOffMail(pool, table, id, allowedAt);
  return later(allowedAt - now);
}

/**
 * Sends a mail once, in turn. `sending` is committed before the hand-over and stays while the outcome is unknown: the next
 * attempt sends once more with the same Message-ID and Date, then it fails. A mail interrupted by the process's end is
 * resent up to three times. Null: somebody else has it.
 */
export async function deliver(
  context: DeliveryContext,
  owed: Owed,
  mail: Omit<Mail, 'date'>,
  settings: Pick<ReminderSettings, 'rules' | 'onUnknown'>,
  stop: AbortSignal,
): Promise<Outcome<'sent' | 'failed' | 'missed'> | null> {
  const { ledger, log, breakers } = context;
  const { table, id, recipient } = owed;
  const tried = await tryInTurn(context, owed, mail, settings, stop);
  if (tried === null || !('sender' in tried)) return tried;
  const { sender, reply, fault } = tried;
  if (fault instanceof LeadsyncError)
    return undelivered(context, owed, mail.from, fault, settings, sender, stop);
  if (reply === undefined) {
    // A file system error: the outbox is not writable.
    await ledger.end(table, { id, state: 'scheduled', note: String(fault), sender }, stop);
    throw fault;
  }
  await ledger.end(table, { id, state: 'sent', note: reply, sender }, stop);
  if (breakers.mailSent(mail.from, recipient)) log.info({ recipient }, 'mails can be sent again');
  return { state: 'sent' };
}

/** The result of an attempt. */
interface Tried {
  readonly sender: string;
  readonly reply?: string;
  readonly fault?: unknown;
}

async function tryInTurn(
  context: DeliveryContext,
  owed: Owed,
  mail: Omit<Mail, 'date'>,
  settings: Pick<ReminderSettings, 'rules' | 'onUnknown'>,
  stop: AbortSignal,
): Promise<Tried | Outcome<'missed' | 'failed'> | null> {
  const { ledger, mailer, clock } = context;
  using turn = await mailer.turn(stop);
  // It may have waited long.
  const blocked = await notNow(context, owed, settings);
  if (blocked !== null) return blocked;
  const firstTriedAt = owed.firstTriedAt ?? clock.now();
  const elapsed = stopwatch();
  const sender = await ledger.begin(owed.table, { ...owed, firstTriedAt });
  if (sender === null) return null;
  try {
    return { sender, reply: await turn.send({ ...mail, date: firstTriedAt }, elapsed) };
  } catch (fault) {
    return { sender, fault };
  }
}

async function undelivered(
  context: DeliveryContext,
  owed: Owed,
  from: string,
  error: LeadsyncError,
  { onUnknown }: Pick<ReminderSettings, 'onUnknown'>,
  sender: string,
  stop: AbortSignal,
): Promise<Outcome<'failed'>> {
  const { ledger, log, waits, breakers } = context;
  const { table, id, recipient, unknownOutcomes, resends, attempts } = owed;
  const about = { [table]: id, recipient, code: error.code };
  if (error.code === 'mail.outcome-unknown') {
    if (unknownOutcomes > 0 || resends >= maxResends || onUnknown === 'hold')
      return inDoubt(ledger, log, { ...owed, sender }, error, stop);
    await ledger.unknown(table, id, sender, stop);
    log.warn(about, `${error.message}; leadsync sends it once more, with the same Message-ID`);
    return later(waits.doubtMs);
  }
  const policy =
    error.code === 'mail.policy-refused'
      ? breakers.refusedByPolicy(from, recipient, context.clock.now())
      : null;
  if (error.retry === 'never' || policy === 'his' || (policy === 'unclear' && attempts + 1 >= policyTries)) {
    await ledger.end(table, { id, state: 'failed', note: error.message, sender }, stop);
    log.error(about, `a mail was not sent: ${error.message}`);
    return { state: 'failed' };
  }
  // Certainly not sent this time.
  await ledger.end(table, { id, state: 'scheduled', note: error.message, sender }, stop);
  const whose = whoseMailStops(error, policy, from);
  if (whose === null) {
    log.warn(about, `${error.message}; leadsync tries again`);
    return later(retryDelayMs(context));
  }
  if (breakers.mailStopped(whose)) {
    log.error({ ...about, help: error.help }, `no mail can be sent; all mails wait: ${error.message}`);
  }
  return { againAfterMs: waits.stoppedMs, wholeQueue: true };
}

/** Whose mails a fault stops: a sender's, all (`server`), or none (null). */
function whoseMailStops({ code }: LeadsyncError, policy: string | null, from: string): string | null {
  if (code === 'mail.credentials') return 'server';
  return code === 'mail.sender-refused' || policy === 'ours' ? from : null;
}

async function inDoubt(
  ledger: MailLedger,
  log: Logger,
  { table, id, recipient, resends, state, sender }: Owed,
  error: LeadsyncError | null,
  stop?: AbortSignal,
): Promise<Outcome<'failed'>> {
  const why = error?.message ?? 'the process ended while the mail was being sent: it may have arrived or not';
  const times = 1 + resends + (error !== null && state === 'sending' ? 1 : 0);
  const note = `${why}; it ${times > 1 ? `was sent ${times === 2 ? 'twice' : `${times} times`} and is` : 'is'} not sent again`;
  await ledger.end(table, { id, state: 'failed', note, sender }, stop);
  log.error({ [table]: id, recipient, code: error?.code ?? 'mail.outcome-unknown' }, note);
  return { state: 'failed' };
}

function later(againAfterMs: number): { readonly againAfterMs: number; readonly wholeQueue: false } {
  return { againAfterMs, wholeQueue: false };
}

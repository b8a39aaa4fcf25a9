import type pg from 'pg';
import type { Logger } from 'pino';
import type { ReminderSettings } from '../config/config.ts';
import { LeadsyncError } from '../errors.ts';
import type { MailLedger } from '../store/mail-ledger.ts';
import { type Claim, type MailTable, noteUnknown, putOffMail } from '../store/sending.ts';
import type { Clock } from '../sync/clock.ts';
import type { Mail, Mailer } from './mail.ts';
import type { Pauses } from './pauses.ts';
import { nextAllowed } from './send-time.ts';

/** What became of one try: settled, or to be tried again. `wholeQueue`: no other mail can be sent before either. */
export type Outcome<State extends string> =
  | { readonly state: State }
  | { readonly againAfterMs: number; readonly wholeQueue: boolean };

/** What sending works with. */
export interface DeliveryContext {
  readonly pool: pg.Pool;
  readonly ledger: MailLedger;
  readonly log: Logger;
  readonly clock: Clock;
  readonly waits: MailWaits;
  readonly mailer: Mailer;
  readonly pauses: Pauses;
}

/** A mail that is owed to somebody, as its table has it. Times are epoch ms. */
export interface Owed extends Omit<Claim, 'firstTriedAt'> {
  readonly table: MailTable;
  /** How often the mail server itself left it open whether it had taken the mail. */
  readonly unknowns: number;
  readonly attempts: number;
  readonly firstTriedAt: number | null;
  readonly recipient: string;
  readonly sendAt: number;
  readonly updatedAt: number;
}

/** How long mails wait (ms). */
export interface MailWaits {
  /** One of which nobody knows whether it has left is left alone for so long: whoever sends it may be at it still. */
  readonly doubtMs: number;
  /** Before a next try, and by how much that is drawn out by chance. */
  readonly retryMs: number;
  readonly retrySpreadMs: number;
  /** No mail can be sent: one is tried after so long. */
  readonly stoppedMs: number;
}

/** Tries are 5 to 15 minutes apart: how long a greylisting server wants to be left alone. */
export const usualWaits: MailWaits = {
  doubtMs: 60_000,
  retryMs: 300_000,
  retrySpreadMs: 600_000,
  stoppedMs: 300_000,
};

/** So often at most a mail is sent again of which nobody knows whether it has left, because the process ended. */
const maxResends = 3;

/** So often a recipient is tried whom the mail server refuses by policy, and nobody else is there to compare. */
const policyTries = 5;

/** How long (ms) a mail that could not be sent waits for its next try. */
export function retryDelayMs({ waits, clock }: Pick<DeliveryContext, 'waits' | 'clock'>): number {
  return Math.round(waits.retryMs + clock.random() * waits.retrySpreadMs);
}

/**
 * Whether an owed mail may be sent now. Null: yes. It is settled when its time of grace is over (`missed`), or when it
 * was begun, nobody knows how it ended, and it is not to be sent again (`failed`). It is put off while no mail may leave.
 */
export async function notNow(
  { pool, ledger, log, clock, waits, pauses }: DeliveryContext,
  owed: Owed,
  { rules, onUnknown }: Pick<ReminderSettings, 'rules' | 'onUnknown'>,
): Promise<Outcome<'missed' | 'failed'> | null> {
  const now = clock.now();
  const { table, id, sendAt, recipient } = owed;
  if (owed.state === 'sending') {
    const wait = owed.updatedAt + waits.doubtMs - now;
    if (wait > 0) return later(wait);
    if (owed.unknowns > 1 || owed.doubts >= maxResends || onUnknown === 'hold')
      return inDoubt(ledger, log, owed, null);
  }
  if (sendAt > now) return later(sendAt - now);
  if (now - sendAt > rules.graceMs) {
    const doubt = owed.state === 'sending' ? '; it may have been sent all the same' : '';
    const note = `it could not be sent in time, nor within the time of grace${doubt}`;
    await ledger.end(table, { id, state: 'missed', note });
    return { state: 'missed' };
  }
  const refusedAt = pauses.refusedAt(recipient);
  if (refusedAt !== null && refusedAt + 2 * waits.stoppedMs > now)
    return later(refusedAt + 2 * waits.stoppedMs - now);
  const allowedAt = nextAllowed(now, rules);
  if (allowedAt === now) return null;
  await putOffMail(pool, table, id, allowedAt);
  return later(allowedAt - now);
}

/**
 * Sends a mail once. `sending` is committed before it leaves and stays when nobody knows whether it was taken: the next
 * try sends it once more, with the same Message-ID and Date, and after that it is failed. A mail that was cut off by the
 * end of the process is sent again up to three times.
 */
export async function deliver(
  context: DeliveryContext,
  owed: Owed,
  mail: Omit<Mail, 'date'>,
  { onUnknown }: Pick<ReminderSettings, 'onUnknown'>,
): Promise<Outcome<'sent' | 'failed'> | null> {
  const { ledger, log, mailer, pauses, clock } = context;
  const { table, id, recipient } = owed;
  const firstTriedAt = owed.firstTriedAt ?? clock.now();
  if (!(await ledger.begin(table, { ...owed, firstTriedAt }))) return null;
  let reply: string;
  try {
    reply = await mailer.send({ ...mail, date: firstTriedAt });
  } catch (error) {
    if (error instanceof LeadsyncError) return undelivered(context, owed, mail.from, error, onUnknown);
    // Of the file system: the outbox could not be written.
    await ledger.end(table, { id, state: 'scheduled', note: String(error) });
    throw error;
  }
  await ledger.end(table, { id, state: 'sent', note: reply });
  if (pauses.mailSent(mail.from, recipient)) log.info({ recipient }, 'mails can be sent again');
  return { state: 'sent' };
}

async function undelivered(
  context: DeliveryContext,
  owed: Owed,
  from: string,
  error: LeadsyncError,
  onUnknown: ReminderSettings['onUnknown'],
): Promise<Outcome<'failed'>> {
  const { pool, ledger, log, waits, pauses } = context;
  const { table, id, recipient, unknowns, doubts, attempts } = owed;
  const about = { [table]: id, recipient, code: error.code };
  if (error.code === 'mail.outcome-unknown') {
    if (unknowns > 0 || doubts >= maxResends || onUnknown === 'hold')
      return inDoubt(ledger, log, owed, error);
    await noteUnknown(pool, table, id);
    log.warn(about, `${error.message}; it is sent once more, with the same Message-ID`);
    return later(waits.doubtMs);
  }
  const policy =
    error.code === 'mail.policy-refused'
      ? pauses.refusedByPolicy(from, recipient, context.clock.now())
      : null;
  if (error.retry === 'never' || policy === 'his' || (policy === 'unclear' && attempts + 1 >= policyTries)) {
    await ledger.end(table, { id, state: 'failed', note: error.message });
    log.error(about, `a mail was not sent: ${error.message}`);
    return { state: 'failed' };
  }
  // Certainly not sent this time.
  await ledger.end(table, { id, state: 'scheduled', note: error.message });
  const whose = whoseMailStops(error, policy, from);
  if (whose === null) {
    log.warn(about, `${error.message}; it is tried again`);
    return later(retryDelayMs(context));
  }
  if (pauses.mailStopped(whose)) {
    log.error(
      { ...about, help: error.help },
      `no mail can be sent; all wait until it works: ${error.message}`,
    );
  }
  return { againAfterMs: waits.stoppedMs, wholeQueue: true };
}

/** Whose mails a fault of the mail server stops: those of a sender, all (`server`), or none (null). */
function whoseMailStops({ code }: LeadsyncError, policy: string | null, from: string): string | null {
  if (code === 'mail.credentials') return 'server';
  return code === 'mail.sender-refused' || policy === 'ours' ? from : null;
}

async function inDoubt(
  ledger: MailLedger,
  log: Logger,
  { table, id, recipient, doubts, state }: Owed,
  error: LeadsyncError | null,
): Promise<Outcome<'failed'>> {
  const why = error?.message ?? 'the process ended while the mail was being sent: it may have arrived or not';
  const times = 1 + doubts + (error !== null && state === 'sending' ? 1 : 0);
  const note = `${why}; it ${times > 1 ? `was sent ${times === 2 ? 'twice' : `${times} times`} and is` : 'is'} not sent again`;
  await ledger.end(table, { id, state: 'failed', note });
  log.error({ [table]: id, recipient, code: error?.code ?? 'mail.outcome-unknown' }, note);
  return { state: 'failed' };
}

function later(againAfterMs: number): { readonly againAfterMs: number; readonly wholeQueue: false } {
  return { againAfterMs, wholeQueue: false };
}

import type pg from 'pg';
import type { Logger } from 'pino';
import { type ChatChannel, isChannel } from '../../config/chat-webhook.ts';
import type { ReminderSettings } from '../../config/config.ts';
import { recipientRules } from '../../config/recipients.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MailLedger } from '../../store/mail-ledger.ts';
import type { SentBy } from '../../store/mails.ts';
import { type Claim, deferMail, type Ending } from '../../store/sending.ts';
import { postMessage } from '../chat/post-message.ts';
import { nextAllowed } from '../plan/send-time.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import { longestSendMs, stopwatch } from './mail-limits.ts';
import type { Mail, Mailer } from './mail.ts';

/**
 * The outcome of one attempt: settled, or to be repeated. `wholeQueue`: no other mail can be sent earlier either; `ofSender`: none
 * of the same connection.
 */
export type Outcome<State extends string> =
  | { readonly state: State }
  | { readonly againAfterMs: number; readonly wholeQueue: boolean; readonly ofSender?: boolean };

export interface DeliveryContext {
  readonly pool: pg.Pool;
  readonly ledger: MailLedger;
  readonly log: Logger;
  readonly clock: Clock;
  readonly waits: MailWaits;
  readonly breakers: CircuitBreakers;
}

export interface Outgoing {
  /** Whose messages a lasting refusal stops: the sender of mails, or the channel. */
  readonly whose: string;
  /** Waits for its turn; rejects with the reason of `stop` when aborted. */
  turn(stop: AbortSignal): Promise<OutgoingTurn>;
}

interface OutgoingTurn extends Disposable {
  /**
   * `date`: of the first attempt (epoch ms); `elapsed`: ms since this one began, after `longestSendMs` nothing leaves any more. Returns where it
   * went. Throws as mail-error.ts and chat/post-message.ts say.
   */
  send(date: number, elapsed: () => number): Promise<string>;
}

/** A mail to be sent, or a chat message. Times are epoch ms. */
export interface Owed extends Omit<Claim, 'firstTriedAt'>, SentBy {
  /** How often the mail server left open whether it accepted the mail. */
  readonly unknownOutcomes: number;
  readonly attempts: number;
  readonly firstTriedAt: number | null;
  readonly recipient: string;
  /** Of a digest, see `Ending`. */
  readonly tells?: readonly number[];
}

/** Ms. */
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

/** Of a mail whose process ended at an unknown point. */
const maxResends = 3;

/** Attempts for a recipient refused by policy, with no others to compare. */
const policyTries = 5;

export function retryDelayMs({ waits, clock }: Pick<DeliveryContext, 'waits' | 'clock'>): number {
  return Math.round(waits.retryMs + clock.random() * waits.retrySpreadMs);
}

/** Null: it may be sent. `missed`: its grace period is over. `failed`: an attempt with unknown outcome must not be repeated. Otherwise it waits. */
export async function notNow(
  context: DeliveryContext,
  owed: Owed,
  { rules }: Pick<ReminderSettings, 'rules'>,
): Promise<Outcome<'missed' | 'failed'> | null> {
  const { pool, ledger, clock, waits, breakers } = context;
  const now = clock.now();
  const { id, sendAt, recipient, sender } = owed;
  if (owed.state === 'sending') {
    if (ledger.isUnderWay(owed)) return later(waits.doubtMs);
    const wait = (sender === null ? waits.doubtMs : waits.cutOffMs) - owed.idleMs;
    if (wait > 0) return later(wait);
    if (owed.unknownOutcomes > 1 || owed.resends >= maxResends) return inDoubt(context, owed, null);
  }
  if (sendAt > now) return later(sendAt - now);
  if (now - sendAt > rules.graceMs) {
    const doubt = owed.state === 'sending' ? '; it may have been sent nevertheless' : '';
    await end(context, owed, 'missed', `it could not be sent in time, nor within the grace period${doubt}`);
    return { state: 'missed' };
  }
  const refusedAt = breakers.refusedAt(recipient);
  if (refusedAt !== null && refusedAt + 2 * waits.stoppedMs > now)
    return later(refusedAt + 2 * waits.stoppedMs - now);
  const allowedAt = nextAllowed(now, recipientRules(rules, recipient));
  if (allowedAt === now) return null;
  await deferMail(pool, id, allowedAt);
  return later(allowedAt - now);
}

/**
 * `sending` is committed before the hand-over and stays while the outcome is unknown: the next attempt sends once more with the same
 * Message-ID and Date, then it fails. A mail interrupted by the process's end is resent up to three times. `sending`: another worker sends it.
 */
export async function deliver(
  context: DeliveryContext,
  owed: Owed,
  outgoing: Outgoing,
  settings: Pick<ReminderSettings, 'rules'>,
  stop: AbortSignal,
): Promise<Outcome<'sending' | 'sent' | 'failed' | 'missed'>> {
  const { log, breakers } = context;
  const attempt = await attemptInTurn(context, owed, outgoing, settings, stop);
  if (!('begun' in attempt)) return attempt;
  const { begun, result } = attempt;
  if (result.status === 'fulfilled') {
    await end(context, begun, 'sent', result.value, stop);
    const { whose } = outgoing;
    const isBack = isChannel(owed.recipient)
      ? breakers.messagePosted(whose)
      : breakers.mailSent(whose, owed.recipient);
    if (isBack) log.info({ recipient: owed.recipient }, 'mails can be sent again');
    return { state: 'sent' };
  }
  const fault: unknown = result.reason;
  if (fault instanceof LeadsyncError) return undelivered(context, begun, outgoing.whose, fault, stop);
  // A file system error: the outbox is not writable.
  await end(context, begun, 'scheduled', String(fault), stop);
  throw fault;
}

type Begun = Owed & { readonly sender: string };

interface Attempt {
  readonly begun: Begun;
  readonly result: PromiseSettledResult<string>;
}

async function attemptInTurn(
  context: DeliveryContext,
  owed: Owed,
  outgoing: Outgoing,
  settings: Pick<ReminderSettings, 'rules'>,
  stop: AbortSignal,
): Promise<Attempt | Outcome<'sending' | 'missed' | 'failed'>> {
  const { ledger, clock } = context;
  using turn = await outgoing.turn(stop);
  // It may have waited long.
  const blocked = await notNow(context, owed, settings);
  if (blocked !== null) return blocked;
  const firstTriedAt = owed.firstTriedAt ?? clock.now();
  const elapsed = stopwatch();
  const sender = await ledger.begin({ ...owed, firstTriedAt });
  if (sender === null) return { state: 'sending' };
  const [result] = await Promise.allSettled([turn.send(firstTriedAt, elapsed)]);
  return { begun: { ...owed, sender }, result };
}

async function undelivered(
  context: DeliveryContext,
  owed: Begun,
  sentBy: string,
  error: LeadsyncError,
  stop: AbortSignal,
): Promise<Outcome<'failed'>> {
  const { ledger, log, waits, breakers, clock } = context;
  const { id, recipient, unknownOutcomes, resends, attempts, sender } = owed;
  const about = { mail: id, recipient, code: error.code };
  if (error.code === 'mail.outcome-unknown' || error.code === 'chat.outcome-unknown') {
    if (unknownOutcomes > 0 || resends >= maxResends) return inDoubt(context, owed, error, stop);
    await ledger.unknown(id, sender, stop);
    log.warn(about, `${error.message}; leadsync sends it once more`);
    return later(waits.doubtMs);
  }
  const policy =
    error.code === 'mail.policy-refused' ? breakers.refusedByPolicy(sentBy, recipient, clock.now()) : null;
  if (
    error.retry === 'never' ||
    policy === 'recipient' ||
    (policy === 'unclear' && attempts + 1 >= policyTries)
  ) {
    await end(context, owed, 'failed', error.message, stop);
    log.error(about, `a reminder was not sent: ${error.message}`);
    return { state: 'failed' };
  }
  // Certainly not sent this time.
  await end(context, owed, 'scheduled', error.message, stop);
  const whose = whoseMailStops(error, policy, sentBy);
  if (whose === null) {
    log.warn(about, `${error.message}; leadsync tries again`);
    // Asked for by a chat, whose messages have a queue of their own.
    const { retryAfterMs } = error;
    return retryAfterMs === undefined
      ? later(retryDelayMs(context))
      : { againAfterMs: retryAfterMs, wholeQueue: true };
  }
  if (breakers.mailStopped(whose)) {
    const what = isChannel(recipient)
      ? 'message can be posted; all messages wait'
      : 'mail can be sent; all mails wait';
    log.error({ ...about, help: error.help }, `no ${what}: ${error.message}`);
  }
  // A chat has a queue of its own.
  const wholeQueue = whose === 'server' || isChannel(recipient);
  return { againAfterMs: waits.stoppedMs, wholeQueue, ...(!wholeQueue && { ofSender: true }) };
}

/** Whose messages a fault stops: a sender's or channel's, all mails (`server`), or none (null). */
function whoseMailStops({ code }: LeadsyncError, policy: string | null, sentBy: string): string | null {
  if (code === 'mail.credentials') return 'server';
  const isSender = ['mail.sender-refused', 'chat.channel-gone'].includes(code) || policy === 'sender';
  return isSender ? sentBy : null;
}

async function inDoubt(
  context: Pick<DeliveryContext, 'ledger' | 'log'>,
  owed: Owed,
  error: LeadsyncError | null,
  stop?: AbortSignal,
): Promise<Outcome<'failed'>> {
  const { id, recipient, resends, state } = owed;
  const why = error?.message ?? 'the process ended while the mail was being sent: it may have arrived or not';
  const times = 1 + resends + (error !== null && state === 'sending' ? 1 : 0);
  const sent = times > 1 ? `was sent ${times === 2 ? 'twice' : `${times} times`} and is` : 'is';
  const note = `${why}; it ${sent} not sent again`;
  await end(context, owed, 'failed', note, stop);
  context.log.error({ mail: id, recipient, code: error?.code ?? 'mail.outcome-unknown' }, note);
  return { state: 'failed' };
}

/** Settles a mail, or schedules it again. With `stop` it waits for an unavailable database: only here is the outcome known. */
export function end(
  { ledger }: Pick<DeliveryContext, 'ledger'>,
  { id, sender, tells = [] }: Owed,
  state: Ending['state'],
  note: string,
  stop?: AbortSignal,
): Promise<void> {
  return ledger.end({ id, state, note, sender, tells }, stop);
}

function later(againAfterMs: number): { readonly againAfterMs: number; readonly wholeQueue: false } {
  return { againAfterMs, wholeQueue: false };
}

/** A mail without its date, which is that of the first attempt. */
export function outgoingMail(mailer: Mailer, mail: Omit<Mail, 'date'>): Outgoing {
  return {
    whose: mail.from,
    async turn(stop) {
      const turn = await mailer.turn(stop);
      return {
        send: (date, elapsed) => turn.send({ ...mail, date }, elapsed),
        [Symbol.dispose]: () => turn[Symbol.dispose](),
      };
    },
  };
}

/** A message to a chat channel. It waits for no turn: the queue of a connection's chat hands over one at a time. */
export function outgoingMessage(channel: ChatChannel, text: string, clock: Clock): Outgoing {
  return {
    whose: channel.recipient,
    turn: async () => ({
      send: (_date, elapsed) => postMessage(channel, text, { elapsed, clock }),
      [Symbol.dispose]: () => {},
    }),
  };
}

import type pg from 'pg';
import type { Logger } from 'pino';
import { type ChatChannel, isChannel } from '../../config/chat-webhook.ts';
import { recipientRules, type ReminderSettings } from '../../config/config.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MailLedger } from '../../store/mail-ledger.ts';
import type { Digest, Reminder } from '../../store/mails.ts';
import { type Ending, postponeMail } from '../../store/sending.ts';
import { postMessage } from '../chat/post-message.ts';
import { nextAllowed } from '../plan/send-time.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import { type MailWaits, stopwatch } from './mail-limits.ts';
import type { Mail, Mailer } from './mail.ts';

/**
 * The outcome of one attempt: settled, or to be repeated. `isOfServer`: no other mail can be sent earlier either;
 * `isOfSender`: none of the same connection, or to its chat.
 */
export type Outcome =
  | (Pick<Ending, 'tells'> & {
      readonly state: EndState;
      readonly note: string;
      /** To be done once that is stored. */
      readonly andThen?: () => Promise<void>;
    })
  | (Partial<Pick<Ending, 'note' | 'isTry' | 'isUnknown'>> & {
      readonly againAfterMs: number;
      /** It was begun, and is certainly not sent. */
      readonly state?: 'scheduled';
      readonly isOfServer?: true;
      readonly isOfSender?: true;
    });

type EndState = Exclude<Ending['state'], 'scheduled' | null>;

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
  turn(stop: AbortSignal): Promise<Disposable>;
  /**
   * In its turn. `date`: of the first attempt (epoch ms); `elapsed`: ms since this one began, after `longestSendMs` nothing leaves any more. Returns where it
   * went. Throws as `mailError` and chat/post-message.ts say.
   */
  send(date: number, elapsed: () => number): Promise<string>;
}

/** A mail to be sent, or a chat message. */
export type Owed = Reminder | Digest;

/** Of a mail whose process ended at an unknown point. */
const maxResends = 3;

/** Attempts for a recipient refused by policy, with no others to compare. */
const policyTries = 5;

export function retryDelayMs({ waits, clock }: Pick<DeliveryContext, 'waits' | 'clock'>): number {
  return Math.round(waits.retryMs + clock.random() * waits.retrySpreadMs);
}

/** Null: it may be sent. `missed`: it is too late for it. `failed`: an attempt with unknown outcome must not be repeated. Otherwise it waits. */
export async function notNow(
  context: DeliveryContext,
  owed: Owed,
  { rules }: Pick<ReminderSettings, 'rules'>,
): Promise<Outcome | null> {
  const { pool, clock, waits, breakers } = context;
  const now = clock.now();
  const { id, sendAt, recipient, state } = owed;
  if (state === 'sending' && (owed.unknownOutcomes > 1 || owed.resends >= maxResends))
    return inDoubt(context, owed, null);
  if (sendAt > now) return { againAfterMs: sendAt - now };
  if (now - sendAt > rules.graceMs) {
    const doubt = state === 'sending' ? '; it may have been sent nevertheless' : '';
    return {
      state: 'missed',
      note: `it could not be sent in time, nor in the 24 hours after${doubt}`,
    };
  }
  const refusedAt = breakers.refusedAt(recipient);
  if (refusedAt !== null && refusedAt + 2 * waits.stoppedMs > now)
    return { againAfterMs: refusedAt + 2 * waits.stoppedMs - now };
  const allowedAt = nextAllowed(now, recipientRules(rules, recipient));
  if (allowedAt === now) return null;
  await postponeMail(pool, id, allowedAt);
  return { againAfterMs: allowedAt - now };
}

/**
 * `sending` is committed before the hand-over and stays while the outcome is unknown: the next attempt sends once more with the same
 * Message-ID and Date, then it fails. A mail interrupted by the process's end is resent up to three times.
 */
export async function deliver(
  context: DeliveryContext,
  owed: Owed,
  outgoing: Outgoing,
  settings: Pick<ReminderSettings, 'rules'>,
  stop: AbortSignal,
): Promise<Outcome> {
  const { ledger, clock, log, breakers } = context;
  const { whose } = outgoing;
  using _turn = await outgoing.turn(stop);
  // It may have waited long.
  const blocked = await notNow(context, owed, settings);
  if (blocked !== null) return blocked;
  const firstTriedAt = owed.firstTriedAt ?? clock.now();
  const elapsed = stopwatch();
  if (!(await ledger.begin({ ...owed, firstTriedAt }))) return { againAfterMs: 0 };
  try {
    const note = await outgoing.send(firstTriedAt, elapsed);
    const isBack = isChannel(owed.recipient)
      ? breakers.messagePosted(whose)
      : breakers.mailSent(whose, owed.recipient);
    if (isBack) log.info({ recipient: owed.recipient }, 'mails can be sent again');
    return { state: 'sent', note };
  } catch (error) {
    if (error instanceof LeadsyncError) return undelivered(context, owed, whose, error);
    // A file system error: the outbox is not writable.
    log.error({ err: error }, 'a mail was not sent; leadsync tries again');
    return { state: 'scheduled', note: String(error), againAfterMs: retryDelayMs(context) };
  }
}

function undelivered(context: DeliveryContext, owed: Owed, sentBy: string, error: LeadsyncError): Outcome {
  const { log, waits, breakers, clock } = context;
  const { id, recipient, unknownOutcomes, resends, attempts } = owed;
  const about = { mail: id, recipient, code: error.code };
  if (error.code === 'mail.outcome-unknown' || error.code === 'chat.outcome-unknown') {
    if (unknownOutcomes > 0 || resends >= maxResends) return inDoubt(context, owed, error);
    log.warn(about, `${error.message}; leadsync sends it once more`);
    return { isUnknown: true, againAfterMs: waits.doubtMs };
  }
  const policy =
    error.code === 'mail.policy-refused' ? breakers.refusedByPolicy(sentBy, recipient, clock.now()) : null;
  if (
    error.retry === 'never' ||
    policy === 'recipient' ||
    (policy === 'unclear' && attempts + 1 >= policyTries)
  ) {
    log.error(about, `a reminder was not sent: ${error.message}`);
    return { state: 'failed', note: error.message };
  }
  const notSent = { state: 'scheduled', note: error.message } as const;
  const whose = whoseMailStops(error, policy, sentBy);
  if (whose === null) {
    log.warn(about, `${error.message}; leadsync tries again`);
    // Asked for by a chat.
    const { retryAfterMs } = error;
    return retryAfterMs === undefined
      ? { ...notSent, againAfterMs: retryDelayMs(context) }
      : { ...notSent, againAfterMs: retryAfterMs, isOfSender: true };
  }
  if (breakers.mailStopped(whose)) {
    const what = isChannel(recipient)
      ? 'message can be posted; all messages wait'
      : 'mail can be sent; all mails wait';
    log.error({ ...about, help: error.help }, `no ${what}: ${error.message}`);
  }
  const stops = whose === 'server' ? ({ isOfServer: true } as const) : ({ isOfSender: true } as const);
  return { ...notSent, ...stops, againAfterMs: waits.stoppedMs };
}

/** Whose messages a fault stops: a sender's or channel's, all mails (`server`), or none (null). */
function whoseMailStops({ code }: LeadsyncError, policy: string | null, sentBy: string): string | null {
  if (code === 'mail.credentials') return 'server';
  const isSender = ['mail.sender-refused', 'chat.channel-gone'].includes(code) || policy === 'sender';
  return isSender ? sentBy : null;
}

function inDoubt({ log }: Pick<DeliveryContext, 'log'>, owed: Owed, error: LeadsyncError | null): Outcome {
  const { id, recipient, resends, state } = owed;
  const why = error?.message ?? 'the process ended while the mail was being sent: it may have arrived or not';
  const times = 1 + resends + (error !== null && state === 'sending' ? 1 : 0);
  const sent = times > 1 ? `was sent ${times === 2 ? 'twice' : `${times} times`} and is` : 'is';
  const note = `${why}; it ${sent} not sent again`;
  log.error({ mail: id, recipient, code: error?.code ?? 'mail.outcome-unknown' }, note);
  return { state: 'failed', note };
}

/** A mail without its date, which is that of the first attempt. */
export function outgoingMail(mailer: Mailer, mail: Omit<Mail, 'date'>): Outgoing {
  return {
    whose: mail.from,
    turn: (stop) => mailer.turn(stop),
    send: (date, elapsed) => mailer.send({ ...mail, date }, elapsed),
  };
}

/** A message to a chat channel. It waits for no turn: a connection's messages are sent one at a time. */
export function outgoingMessage(channel: ChatChannel, text: string, clock: Clock): Outgoing {
  return {
    whose: channel.recipient,
    turn: async () => ({ [Symbol.dispose]() {} }),
    send: (_date, elapsed) => postMessage(channel, text, { elapsed, clock }),
  };
}

import type pg from 'pg';
import type { Logger } from 'pino';
import type { AlertSettings, ConnectionConfig } from '../config/config.ts';
import { faultText, LeadsyncError } from '../lib/errors.ts';
import { callAddress } from '../http/connection.ts';
import type { Clock } from '../ports/clock.ts';
import type { Mail, Mailer } from '../reminders/send/mail.ts';
import { type AlertDelivery, claimDeliveries, endDelivery, putOffDelivery } from '../store/alerts.ts';
import { type AlertText, alertMail, alertPayload, describeAlert } from './describe-alert.ts';

export interface AlertContext {
  readonly alerts: AlertSettings;
  readonly connections: readonly {
    readonly name: string;
    readonly sync: Pick<ConnectionConfig['sync'], 'schedule' | 'timeZone'>;
  }[];
  /** The names of all connections, also when a worker is narrowed to one of them. */
  readonly configured: readonly string[];
  readonly pool: pg.Pool;
  readonly mailer: Mailer;
  readonly log: Logger;
  readonly clock: Clock;
  /** Timeout (ms) of a call of the webhook or the heartbeat; 10 s by default. */
  readonly callMs?: number;
}

/** Every other channel is an e-mail address. */
export const webhookChannel = 'webhook';

/** A claim outlasts (ms) any attempt: a mail server has two minutes to answer. */
const claimMs = 5 * 60_000;

/** Ms between attempts: at first, and at most; they double. */
const firstWaitMs = 60_000;
const longestWaitMs = 3_600_000;

/** After this long (ms) without success leadsync gives a delivery up. */
const giveUpMs = 3 * 24 * 3_600_000;

const deliveriesAtOnce = 20;

export function channelsOf({ email, webhook }: AlertSettings): readonly string[] {
  return [...email, ...(webhook === undefined ? [] : [webhookChannel])];
}

/**
 * All at once: no channel waits for another. Failed deliveries are retried later, also by another process; a process that dies between sending
 * and noting it causes a duplicate. Throws faults of the database alone.
 */
export async function deliverAlerts(context: AlertContext, signal: AbortSignal): Promise<void> {
  const { pool, alerts, clock } = context;
  const channels = channelsOf(alerts);
  while (!signal.aborted) {
    const deliveries = await claimDeliveries(pool, channels, clock.now(), claimMs, deliveriesAtOnce);
    await Promise.all(deliveries.map((delivery) => deliver(context, delivery, signal)));
    if (deliveries.length === 0) return;
  }
}

async function deliver(context: AlertContext, delivery: AlertDelivery, signal: AbortSignal): Promise<void> {
  const { pool, log, clock } = context;
  const { alertId, event, level, channel, createdAt, connection, kind, detail } = delivery;
  const about = { connection, problem: kind, event, channel };
  try {
    const mail = {
      key: JSON.stringify(['alert', alertId, event, level, channel]),
      thread: JSON.stringify(['alert', alertId, channel]),
      date: createdAt,
      message: event === 'over' ? null : (detail.message ?? null),
    };
    await sendText(context, channel, describeAlert(delivery), mail, signal);
  } catch (error) {
    const fault = faultText(error);
    const now = clock.now();
    const isHopeless = error instanceof LeadsyncError && error.retry === 'never' && !signal.aborted;
    if (isHopeless || now - createdAt >= giveUpMs) {
      log.error({ ...about, fault }, 'an alert was not delivered and is given up');
      return endDelivery(pool, delivery);
    }
    const waitMs = signal.aborted ? 0 : Math.min(longestWaitMs, firstWaitMs * 2 ** (delivery.attempts - 1));
    log.warn({ ...about, fault, waitMs }, 'an alert was not delivered; leadsync tries again');
    return putOffDelivery(pool, delivery, now + waitMs);
  }
  return endDelivery(pool, delivery);
}

/**
 * Once; returns where a mail went, as the mailer does. `message`: a fault's own words, for a mail alone. Throws LeadsyncError, as the mailer
 * and `callOnce` do.
 */
export async function sendText(
  context: Pick<AlertContext, 'alerts' | 'mailer' | 'callMs' | 'clock'>,
  channel: string,
  text: AlertText,
  { message, ...mail }: Pick<Mail, 'key' | 'thread' | 'date'> & { readonly message: string | null },
  signal: AbortSignal,
): Promise<string | null> {
  const { alerts, mailer } = context;
  if (channel !== webhookChannel)
    return mailer.send({ ...mail, from: alerts.from, to: channel, ...alertMail(text, message) });
  if (alerts.webhook !== undefined)
    await callOnce(context, alerts.webhook.reveal(), signal, alertPayload(text));
  return null;
}

/**
 * By POST with `json`, else by GET; only the status counts. Throws `alert.not-called` (retry later) for anything but 2xx, or the signal's
 * reason. Path and query are a key: no message has them.
 */
export async function callOnce(
  { callMs = 10_000, clock }: Pick<AlertContext, 'callMs' | 'clock'>,
  url: string,
  signal: AbortSignal,
  json?: object,
): Promise<void> {
  const refused = ({ status }: { readonly status: number }): LeadsyncError =>
    notCalled(
      status < 400
        ? `it answered with a redirect (${status}), which is not followed`
        : `it answered ${status}`,
    );
  const faults = { lost: ({ message }: Error) => notCalled(message), refused };
  const body = json === undefined ? 'none' : { json };
  await callAddress(url, { body, totalMs: callMs, signal, clock, faults });
}

/** Without a cause: nothing of the address may get into a log. */
function notCalled(why: string): LeadsyncError {
  return new LeadsyncError('alert.not-called', why, { retry: 'later' });
}

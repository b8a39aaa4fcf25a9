import type { AlertSettings } from '../config/config.ts';
import type { Mail } from '../reminders/send/mail.ts';
import type { AlertContext } from './alert-context.ts';
import { callAddress } from './call-address.ts';
import { alertMail, alertPayload } from './compose-alert.ts';
import type { AlertText } from './describe-alert.ts';

/** The webhook's name among the channels; every other one is an e-mail address. */
export const webhookChannel = 'webhook';

/** Everything that is told of a problem, each by itself. */
export function channelsOf({ email, webhook }: AlertSettings): readonly string[] {
  return [...email, ...(webhook === undefined ? [] : [webhookChannel])];
}

/**
 * Sends a text through one channel, once. `message`: a fault's own words, for a mail alone. Throws LeadsyncError, as the
 * mailer and `callAddress` do.
 */
export async function sendText(
  { alerts, mailer, clock, callMs }: Pick<AlertContext, 'alerts' | 'mailer' | 'clock' | 'callMs'>,
  channel: string,
  text: AlertText,
  mail: Pick<Mail, 'key' | 'thread' | 'date'> & { readonly message: string | null },
  signal: AbortSignal,
): Promise<void> {
  if (channel !== webhookChannel) {
    const { message, ...rest } = mail;
    await mailer.send({ ...rest, from: alerts.from, to: channel, ...alertMail(text, message) });
    return;
  }
  if (alerts.webhook === undefined) return;
  const timeoutMs = callMs === undefined ? {} : { timeoutMs: callMs };
  await callAddress({ url: alerts.webhook.reveal(), json: alertPayload(text), clock, signal, ...timeoutMs });
}

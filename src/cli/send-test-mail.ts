import type { App } from '../app.ts';
import { openMailer } from '../worker/open-worker.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { addressKey, isEmailAddress } from '../core/lead/email-address.ts';
import type { Cells } from '../core/lead/value.ts';
import { channelName } from '../reminders/chat/chat-error.ts';
import { postMessage } from '../reminders/chat/post-message.ts';
import { followUpField } from '../core/lead/follow-up.ts';
import { composeFor, composeMessage } from '../reminders/compose/compose-follow-up.ts';
import { print, printJson } from './output.ts';

/** Fictitious; the mail says so. */
const sample: Cells = {
  companyName: 'Sample & Söhne GmbH',
  segment: 'Sample',
  city: 'Lübeck',
  region: 'SH',
  stage: 'qualified',
};

/** `leadsync reminders --send-test` takes this in the place of an address. */
const chat = 'chat';

/**
 * With the sender, templates and settings of the first connection with reminders; `chat` in the place of an address: to the channel of the
 * first connection that has one. Throws as the mail server and the chat do.
 */
export async function sendTestMail(app: App, address: string, json: boolean): Promise<void> {
  if (address !== chat && !isEmailAddress(address)) {
    throw new LeadsyncError('usage.not-an-address', `${JSON.stringify(address)} is not one e-mail address`, {
      help: `For a test of a chat channel write ${chat} in its place.`,
    });
  }
  const context = [...app.contexts.values()].find(({ connection: { reminders } }) =>
    address === chat ? reminders?.chat : reminders,
  );
  const settings = context?.connection.reminders;
  const templates = context && (await app.templates.get(context.connection.name)?.());
  if (!context || !settings || !templates) throw address === chat ? noChannel() : noReminders();
  const { connection, clock } = context;
  const now = clock.now();
  const facts = {
    connection,
    settings,
    recipient: addressKey(address),
    leadId: 'sample',
    cells: { ...sample, [followUpField]: new Date(now).toISOString() },
    dueAt: now,
    offsetText: '0m',
    sequence: 0,
    changes: [],
    row: null,
    notes: { isTest: true as const },
    now,
  };
  if (settings.chat && address === chat) {
    const text = composeMessage(facts, templates, settings.chat.kind);
    const reply = await postMessage(settings.chat, text, { elapsed: () => 0, clock });
    const to = channelName(settings.chat);
    if (json) return printJson({ to: settings.chat.recipient, reply, sent: true });
    return print(`${to} took the message: ${reply}`);
  }
  const composed = composeFor(facts, templates);
  const key = JSON.stringify(['test', connection.name, address, now]);
  const mail = { key, from: settings.from, to: address, ...composed, thread: key, date: now };
  await using mailer = openMailer(app);
  const reply = await mailer.send(mail);
  const { smtpUrl } = app.config;
  if (json) return printJson({ to: address, from: settings.from, reply, sent: smtpUrl !== undefined });
  print(
    smtpUrl === undefined
      ? `no SMTP_URL is set: the mail to ${address} was written to ${reply}`
      : `the mail server accepted the mail from ${settings.from} to ${address}: ${reply}`,
  );
}

function noChannel(): LeadsyncError {
  return new LeadsyncError('usage.no-channel', 'no connection has a chat channel', {
    help: 'Add `webhook` to the `reminders` of a connection in leadsync.yaml, or set REMINDER_WEBHOOK.',
  });
}

export function noReminders(): LeadsyncError {
  return new LeadsyncError('usage.no-reminders', 'the configuration has no reminders', {
    help: 'Add `reminders` with `to` or `webhook` to a connection in leadsync.yaml, or set REMINDER_TO or REMINDER_WEBHOOK.',
  });
}

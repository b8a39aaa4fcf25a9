import { beforeWords, print, printEachJson, printJson } from './output.ts';
import { addressKey, isEmailAddress } from '../core/lead/email-address.ts';
import type { App } from '../app.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { isChannel } from '../config/chat-webhook.ts';
import { leadCells } from '../core/lead/lead.ts';
import type { Cells } from '../core/lead/value.ts';
import {
  type MailNotes,
  changesOf,
  composeFor,
  composeMessage,
  type FollowUpMail,
} from '../reminders/compose/compose-reminder.ts';
import { followUpField } from '../core/lead/mapping.ts';
import { localTime } from '../reminders/plan/local-time.ts';
import { type WantedReminder, wantedReminders } from '../reminders/plan/send-time.ts';
import { dueReminders } from '../store/mails.ts';
import { basesOf } from '../store/pairs.ts';
import { leadBackgrounds } from '../store/sending.ts';
import type { SyncContext } from '../sync/context.ts';
import { never } from '../lib/waiting.ts';
import { findLead } from './find-lead.ts';
import { openMailer } from '../worker/open-worker.ts';
import { channelName, postMessage } from '../reminders/chat/post-message.ts';

type Preview = Awaited<ReturnType<typeof previewOf>>;

export async function previewReminder(app: App, lead: string, json: boolean): Promise<void> {
  const found = await findLead(app.pool, app.config.connections, lead);
  const usable = found.filter(({ connection }) => connection.reminders !== undefined);
  if (usable.length === 0) throw noReminders();
  const previews: Preview[] = [];
  for (const { connection, leadId } of usable) {
    const context = app.contexts.get(connection.name);
    if (context !== undefined) previews.push(await previewOf(app, context, leadId));
  }
  if (json) return printEachJson('previews', previews.map(previewJson));
  print(previews.map(describe).join('\n\n'));
}

/** Of the mails, `past`: its time is over; `shown`: the one that is rendered. Throws `usage.no-follow-up` and `usage.lead-gone`. */
export async function previewOf(app: App, context: SyncContext, leadId: string) {
  const { connection, clock, pool } = context;
  const { settings, templates } = await openReminders(app, context);
  const { cells, notes } = await cellsOf(context, leadId);
  const due = cells[followUpField];
  const dueAt = typeof due === 'string' ? Date.parse(due) : Number.NaN;
  if (Number.isNaN(dueAt)) {
    throw new LeadsyncError(
      'usage.no-follow-up',
      `the lead ${leadId} has no follow-up date: no mail is sent`,
    );
  }
  const { reminders } = wantedReminders({ leadId, dueAt, cells }, settings.rules);
  const now = clock.now();
  // Late mails are still sent while they are scheduled.
  const late = await dueReminders(pool, connection.name, leadId);
  const isPast = ({ sendAt, ...mail }: WantedReminder): boolean =>
    sendAt <= now &&
    !late.some(
      (one) => one.dueAt === dueAt && one.offsetText === mail.offsetText && one.recipient === mail.recipient,
    );
  const next = reminders.find((mail) => !isPast(mail)) ?? reminders.at(-1);
  const recipient = next?.recipient ?? addressKey(settings.rules.to[0] ?? '');
  const mails = reminders.map((one) => ({ ...one, past: isPast(one), shown: one === next }));
  const [background] = await leadBackgrounds(pool, [{ connection: connection.name, leadId }]);
  const { before, ...where } = background ?? { before: {}, row: null, place: null };
  const about = { kind: 'reminder', leadId, cells, dueAt, sequence: 0, notes, ...where } as const;
  const { offsetText, sendAt } = next ?? { offsetText: '0m', sendAt: now };
  const changes = changesOf(before, cells);
  const facts = {
    connection,
    settings,
    recipient,
    ...about,
    offsetText,
    changes,
    now: Math.max(now, sendAt),
  };
  const { chat } = settings;
  /** A chat message is a text alone. */
  const mail: FollowUpMail | Pick<FollowUpMail, 'text'> =
    chat?.recipient === recipient
      ? { text: composeMessage(facts, templates, chat.kind) }
      : composeFor(facts, templates);
  const { timeZone } = settings.rules;
  return { connection: connection.name, leadId, from: settings.from, timeZone, mails, mail };
}

/** Throws `usage.no-reminders`. */
async function openReminders(app: App, { connection }: SyncContext) {
  const { reminders: settings, name } = connection;
  const templates = await app.templates.get(name)?.();
  if (settings === undefined || templates === undefined) throw noReminders();
  return { settings, templates };
}

/** The lead in the service now; its baseline when the service is unavailable. */
async function cellsOf(
  { leads, pool, connection }: SyncContext,
  leadId: string,
): Promise<{ readonly cells: Cells; readonly notes: MailNotes }> {
  try {
    const lead = await leads.get(leadId, never);
    if (lead !== null) return { cells: leadCells(lead, connection.fields), notes: {} };
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    const bases = await basesOf(pool, connection.name, [leadId]);
    const base = bases.get(leadId);
    if (base === undefined) throw error;
    return { cells: base, notes: { uncheckedSince: null } };
  }
  throw new LeadsyncError(
    'usage.lead-gone',
    `the lead ${leadId} is no longer in the service: no mail is sent`,
  );
}

function previewJson({ mails, mail, timeZone: _, ...rest }: Preview): object {
  const to = mails.map(({ recipient, sendAt, offsetText, past, shown }) => ({
    recipient,
    sendAt: new Date(sendAt).toISOString(),
    before: offsetText,
    past,
    shown,
  }));
  return { ...rest, mails: to, ...mail };
}

function describe({ from, mails, mail, timeZone, connection }: Preview): string {
  const to = mails.map(({ recipient, sendAt, offsetText, past, shown }) => {
    const { day, time, zone } = localTime(sendAt, timeZone);
    const more = [
      past && 'past, not to be sent',
      shown && `this is the ${isChannel(recipient) ? 'message' : 'mail'} below`,
    ].filter(Boolean);
    const about = [beforeWords(offsetText), ...more].join('; ');
    return `# ${day} ${time} ${zone}: to ${recipient} (${about})`;
  });
  const none = '# no mail about this lead is sent: its stage is left out, or it has no address';
  return [
    `# ${connection}: a preview, nothing was sent. Mails by the settings:`,
    ...(to.length === 0 ? [none] : to),
    ...('subject' in mail ? [`From: ${from}`] : []),
    ...linesOf(mail),
  ].join('\n');
}

export function linesOf(mail: Preview['mail']): readonly string[] {
  const subject = 'subject' in mail ? [`Subject: ${mail.subject}`, ''] : [];
  return [...subject, ...mail.text.trimEnd().split('\n')];
}

/** Fictitious; the mail says so. */
const sample: Cells = {
  companyName: 'Sample & Söhne GmbH',
  segment: 'Sample',
  city: 'Lübeck',
  region: 'SH',
  stage: 'qualified',
};

/** `leadsync check --send-test` takes this in the place of an address. */
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
  if (context === undefined) throw address === chat ? noChannel() : noReminders();
  const { settings, templates } = await openReminders(app, context);
  const { connection, clock } = context;
  const now = clock.now();
  const channel = address === chat ? settings.chat : null;
  const recipient = channel?.recipient ?? addressKey(address);
  const cells: Cells = { ...sample, [followUpField]: new Date(now).toISOString() };
  const about = { kind: 'reminder', leadId: 'sample', dueAt: now, offsetText: '0m', sequence: 0 } as const;
  const told = { changes: [], row: null, notes: { isTest: true } } as const;
  const facts = { connection, settings, recipient, cells, ...about, ...told, now };
  if (channel) {
    const text = composeMessage(facts, templates, channel.kind);
    const reply = await postMessage(channel, text, { elapsed: () => 0, clock });
    if (json) return printJson({ to: channel.recipient, reply, sent: true });
    return print(`${channelName(channel)} took the message: ${reply}`);
  }
  const key = JSON.stringify(['test', connection.name, address, now]);
  const ends = { from: settings.from, to: address };
  await using mailer = openMailer(app);
  const reply = await mailer.send({ ...composeFor(facts, templates), ...ends, key, thread: key, date: now });
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

function noReminders(): LeadsyncError {
  return new LeadsyncError('usage.no-reminders', 'the configuration has no reminders', {
    help: 'Add `reminders` with `to` or `webhook` to a connection in leadsync.yaml, or set REMINDER_TO or REMINDER_WEBHOOK.',
  });
}

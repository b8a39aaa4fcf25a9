import { beforeWords } from './names.ts';
import { addressKey } from '../core/lead/email-address.ts';
import type { App } from '../app.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { isChannel } from '../config/chat-webhook.ts';
import { leadCells } from '../core/lead/lead.ts';
import type { Cells } from '../core/lead/value.ts';
import type { MailNotes } from '../reminders/compose/compose-reminder.ts';
import { followUpField } from '../core/lead/follow-up.ts';
import {
  changesOf,
  composeFor,
  composeMessage,
  type FollowUpMail,
} from '../reminders/compose/compose-follow-up.ts';
import { localTime } from '../reminders/plan/local-time.ts';
import { wantedReminders, type WantedReminder } from '../reminders/plan/wanted.ts';
import { dueReminders } from '../store/mails.ts';
import { basesOf } from '../store/pairs.ts';
import { leadBackgrounds } from '../store/sending.ts';
import type { SyncContext } from '../sync/context.ts';
import { never } from './check-line.ts';
import { findLead } from './find-lead.ts';
import { print, printEachJson } from './output.ts';
import { noReminders } from './send-test-mail.ts';

/** `past`: its time is over. `shown`: the one that is rendered. */
interface PreviewedMail extends WantedReminder {
  readonly past: boolean;
  readonly shown: boolean;
}

interface Preview {
  readonly connection: string;
  readonly leadId: string;
  readonly from: string;
  readonly timeZone: string;
  readonly mails: readonly PreviewedMail[];
  /** A chat message is a text alone. */
  readonly mail: FollowUpMail | Pick<FollowUpMail, 'text'>;
}

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

/** Throws `usage.no-follow-up` and `usage.lead-gone`. */
export async function previewOf(app: App, context: SyncContext, leadId: string): Promise<Preview> {
  const { connection, clock, pool } = context;
  const settings = connection.reminders;
  const templates = await app.templates.get(connection.name)?.();
  if (settings === undefined || templates === undefined) throw noReminders();
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
  const late = await dueReminders(pool, [connection.name], 0, leadId);
  const isPast = ({ sendAt, ...mail }: WantedReminder): boolean =>
    sendAt <= now &&
    !late.some(
      (one) => one.dueAt === dueAt && one.offsetText === mail.offsetText && one.recipient === mail.recipient,
    );
  const next = reminders.find((mail) => !isPast(mail)) ?? reminders.at(-1);
  const recipient = next?.recipient ?? addressKey(settings.rules.to[0] ?? '');
  const mails = reminders.map((one) => ({ ...one, past: isPast(one), shown: one === next }));
  const [background] = await leadBackgrounds(pool, [{ connection: connection.name, leadId }]);
  const { before, row } = background ?? { before: {}, row: null };
  const facts = {
    connection,
    settings,
    recipient,
    leadId,
    cells,
    dueAt,
    offsetText: next?.offsetText ?? '0m',
    sequence: 0,
    changes: changesOf(before, cells),
    row,
    notes,
    now: Math.max(now, next?.sendAt ?? now),
  };
  const { chat } = settings;
  const mail =
    chat?.recipient === recipient
      ? { text: composeMessage(facts, templates, chat.kind) }
      : composeFor(facts, templates);
  const { timeZone } = settings.rules;
  return { connection: connection.name, leadId, from: settings.from, timeZone, mails, mail };
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

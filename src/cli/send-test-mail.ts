import type { App } from '../app.ts';
import { LeadsyncError } from '../errors.ts';
import { isEmailAddress } from '../core/lead/email-address.ts';
import type { Cells } from '../core/lead/value.ts';
import { followUpField } from '../reminders/plan/plan-reminders.ts';
import { composeFor } from '../reminders/compose/compose-follow-up.ts';
import { print, printJson } from './output.ts';

/** Fictitious; the mail says so. */
const sample: Cells = {
  companyName: 'Sample & Söhne GmbH',
  segment: 'Sample',
  city: 'Lübeck',
  region: 'SH',
  stage: 'qualified',
};

/**
 * `leadsync reminders --send-test ADDRESS`: sends a sample like any mail, with the sender, templates and settings of the
 * first connection with reminders. Prints where it went; throws as the mail server does.
 */
export async function sendTestMail(app: App, address: string, json: boolean): Promise<void> {
  if (!isEmailAddress(address)) {
    throw new LeadsyncError('usage.not-an-address', `${JSON.stringify(address)} is not one e-mail address`);
  }
  const context = [...app.contexts.values()].find(({ connection }) => connection.reminders !== undefined);
  const settings = context?.connection.reminders;
  const templates = context && (await app.templates.get(context.connection.name)?.());
  if (!context || !settings || !templates) throw noReminders();
  const { connection, clock } = context;
  const now = clock.now();
  const composed = composeFor(
    {
      connection,
      settings,
      recipient: address.toLowerCase(),
      leadId: 'sample',
      cells: { ...sample, [followUpField]: new Date(now).toISOString() },
      dueAt: now,
      offsetText: '0m',
      sequence: 0,
      changes: [],
      row: null,
      notes: { isTest: true },
      now,
    },
    templates,
  );
  const key = JSON.stringify(['test', connection.name, address, now]);
  const reply = await app.mailer.send({
    key,
    from: settings.from,
    to: address,
    ...composed,
    thread: key,
    date: now,
  });
  const { smtpUrl } = app.config;
  if (json) return printJson({ to: address, from: settings.from, reply, sent: smtpUrl !== undefined });
  print(
    smtpUrl === undefined
      ? `no SMTP_URL is set: the mail to ${address} was written to ${reply}`
      : `the mail server accepted the mail from ${settings.from} to ${address}: ${reply}`,
  );
}

export function noReminders(): LeadsyncError {
  return new LeadsyncError('usage.no-reminders', 'the configuration has no reminders', {
    help: 'Add `reminders` with `to` to a connection in leadsync.yaml, or set REMINDER_TO.',
  });
}

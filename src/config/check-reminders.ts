import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { addressKey, isEmailAddress } from '../core/lead/email-address.ts';
import { followUpField, headingKey } from '../core/lead/mapping.ts';
import { isLoopback } from '../lib/loopback.ts';
import { isQuiet } from './values.ts';
import { readFault } from './environment.ts';
import { fieldMappings } from './fields.ts';
import { didYouMean } from '../core/lead/nearest-name.ts';
import type { Readable } from './readable.ts';
import type { ConnectionSettings } from './schema.ts';
import type { Path } from './settings.ts';
import { type Report, type Source, valueAt } from './source.ts';

const googleCalendars = 'apidata.googleusercontent.com';

export function checkReminders(
  report: Report,
  source: Source,
  path: Path,
  connection: Readable<ConnectionSettings>,
  smtpIsSet: boolean,
): void {
  const { reminders } = connection;
  if (reminders === undefined) return;
  const mistake = (key: string, message: string) => report(['reminders', key], message);
  const { from, to, webhook, before, calendar, digest, quietHours, skipStages, toColumn } = reminders;
  const fields = fieldMappings(connection);
  const names = fields.map(({ field }) => field);

  const isMailed = [to, toColumn, reminders.routes].some((one) => one !== undefined);
  if (to === undefined && webhook === undefined)
    mistake('to', 'is missing: name the recipients, or a chat channel in webhook');
  // Discord's Slack format protects nobody from the mentions in a lead's text.
  if (
    webhook !== undefined &&
    /^\/api(\/v\d+)?\/webhooks\/\d+\/[^/]+\/slack$/.test(new URL(webhook.reveal()).pathname)
  )
    mistake('webhook', 'must be the address as Discord shows it, without /slack at its end');

  if (smtpIsSet && from === undefined && isMailed)
    mistake(
      'from',
      'is missing: a mail server is set (SMTP_URL), so reminders need a sender such as Sales <sales@example.com>',
    );

  const followUp = fields.find(({ field }) => field === followUpField);
  if (names.length > 0 && followUp?.type !== 'instant')
    report(
      ['reminders'],
      `needs the field nextFollowUpAt to be ${followUp === undefined ? 'mapped to a column' : 'of type instant'}`,
    );

  if (before?.length === 0 && digest === undefined)
    mistake('before', 'must hold a time such as 0m, unless there is a digest: nothing would be sent');
  if (before?.length === 0 && calendar === true)
    mistake('calendar', 'must be left out: with before: [] there is no mail that would carry an entry');

  const { from: start, to: end } = quietHours ?? {};
  if (
    digest !== undefined &&
    start !== undefined &&
    end !== undefined &&
    isQuiet(digest, { from: start, to: end })
  ) {
    const written = valueAt(source.raw, [...path, 'reminders', 'quietHours']);
    mistake('digest', `must not be in the quiet hours (${String(written)})`);
  }

  if (skipStages !== undefined && !names.includes('stage'))
    mistake('skipStages', 'needs the field stage to be mapped to a column');

  for (const [index, route] of (reminders.routes ?? []).entries())
    for (const field of Object.keys(route?.when ?? {}))
      if (!names.includes(field))
        report(
          ['reminders', 'routes', index, 'when', field],
          `is no field of this connection; mapped are ${names.join(', ')}${didYouMean(field, names)}`,
        );

  const columns = fields.filter(({ type }) => type === 'text').map(({ column }) => column);
  if (toColumn !== undefined && !columns.map(headingKey).includes(headingKey(toColumn)))
    mistake(
      'toColumn',
      `must be the column of a mapped text field: ${columns.join(', ')}${didYouMean(toColumn, columns)}`,
    );

  checkAddresses(report, ['reminders', 'caldav'], reminders.caldav);
  for (const [address, { url, username, password } = {}] of Object.entries(reminders.caldav ?? {})) {
    if (url === undefined) continue;
    const { hostname } = new URL(url);
    const isGoogle = hostname === googleCalendars;
    const isWhole = username !== undefined && password !== undefined;
    const isBare = username === undefined && password === undefined;
    if (isGoogle && !isBare)
      report(
        ['reminders', 'caldav', address, 'password'],
        'must be left out, and username: Google takes its account alone (GOOGLE_APPLICATION_CREDENTIALS)',
      );
    else if (!isWhole && !(isBare && (isGoogle || isLoopback(hostname))))
      report(
        ['reminders', 'caldav', address, username === undefined ? 'username' : 'password'],
        `is missing: only ${googleCalendars} is opened with Google's account`,
      );
  }

  const fault =
    reminders.templates === undefined ? null : templatesFault(resolve(source.folder, reminders.templates));
  if (fault !== null)
    mistake(
      'templates',
      `must be a folder with templates such as reminder.text.liquid or de/reminder.text.liquid; ${fault}`,
    );
}

function templatesFault(folder: string): string | null {
  const isTemplate = (name: string): boolean => name.endsWith('.liquid');
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const below = entries.filter((entry) => entry.isDirectory() && !isTemplate(entry.name));
    const some =
      entries.some(({ name }) => isTemplate(name)) ||
      below.some(({ name }) => readdirSync(join(folder, name)).some(isTemplate));
    return some ? null : 'it has none';
  } catch (error) {
    return readFault(error);
  }
}

export function checkAddresses(report: Report, path: Path, people: object | undefined): void {
  const seen = new Map<string, string>();
  for (const address of Object.keys(people ?? {})) {
    const place = [...path, address];
    const earlier = seen.get(addressKey(address));
    if (!isEmailAddress(address))
      report(place, 'must be one e-mail address such as anna@example.com', 'name');
    else if (earlier !== undefined)
      report(
        place,
        `must be another person: ${earlier} is the same address, since case does not matter`,
        'name',
      );
    seen.set(addressKey(address), earlier ?? address);
  }
}

import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { isQuiet } from '../core/lead/quiet-hours.ts';
import { fieldMappings } from './fields.ts';
import { didYouMean } from './nearest-name.ts';
import type { Readable } from './readable.ts';
import type { ConnectionSettings } from './schema.ts';
import type { Path } from './settings.ts';
import { type Report, type Source, valueAt } from './source.ts';
import { headingKey } from './values.ts';

/** The templates that are looked for in the folder; leadsync has its own for those that are missing. */
const templateNames = ['reminder', 'digest'].flatMap((mail) =>
  ['subject', 'text', 'html'].map((part) => `${mail}.${part}.liquid`),
);

const folderFaults: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is no folder',
  EACCES: 'this user may not read it',
};

/** Mistakes of a connection's reminders that only show together with other settings; `path` is the connection's. */
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
  const fields = fieldMappings(connection);
  const isMapped = (name: string) => fields.some(({ field }) => field === name);
  const { from, before, calendar, digest, quietHours, skipStages, onlyStages, toColumn } = reminders;

  if (smtpIsSet && from === undefined)
    mistake(
      'from',
      'is missing: a mail server is set (SMTP_URL), so reminders need a sender such as Sales <sales@example.com>',
    );

  const followUp = fields.find(({ field }) => field === 'nextFollowUpAt');
  if (fields.length > 0 && followUp?.type !== 'instant')
    report(
      ['reminders'],
      `needs the field nextFollowUpAt to be ${followUp === undefined ? 'mapped to a column' : 'of type instant'}`,
    );

  const hasSingleMails = before?.length !== 0;
  if (!hasSingleMails && digest === undefined)
    mistake('before', 'must hold a time such as 0m, unless there is a digest: nothing would be sent');
  if (!hasSingleMails && calendar === true)
    mistake('calendar', 'must be left out: with before: [] there is no mail that would carry an entry');

  if (digest !== undefined && isQuietAt(digest, quietHours)) {
    const written = valueAt(source.raw, [...path, 'reminders', 'quietHours']);
    mistake('digest', `must not be in the quiet hours (${String(written)})`);
  }

  if (skipStages !== undefined && onlyStages !== undefined)
    mistake('onlyStages', 'must be left out: skipStages is set, and one of the two decides');
  else if ((skipStages !== undefined || onlyStages !== undefined) && !isMapped('stage'))
    mistake(
      skipStages === undefined ? 'onlyStages' : 'skipStages',
      'needs the field stage to be mapped to a column',
    );

  const names = fields.map(({ field }) => field);
  for (const [index, route] of (reminders.routes ?? []).entries())
    for (const field of Object.keys(route?.when ?? {}))
      if (!isMapped(field))
        report(
          ['reminders', 'routes', index, 'when', field],
          `is no field of this connection; mapped are ${names.join(', ')}${didYouMean(field, names)}`,
        );

  if (toColumn !== undefined) {
    const texts = fields.filter(({ type }) => type === 'text').map(({ column }) => column);
    if (!texts.some((column) => headingKey(column) === headingKey(toColumn)))
      mistake(
        'toColumn',
        `must be the column of a mapped text field: ${texts.join(', ')}${didYouMean(toColumn, texts)}`,
      );
  }

  const templates =
    reminders.templates === undefined ? null : templatesMistake(resolve(source.folder, reminders.templates));
  if (templates !== null) mistake('templates', templates);
}

function isQuietAt(
  time: number,
  hours: Readable<NonNullable<ConnectionSettings['reminders']>>['quietHours'],
): boolean {
  const { from, to } = hours ?? {};
  return from !== undefined && to !== undefined && isQuiet(time, { from, to });
}

function templatesMistake(folder: string): string | null {
  try {
    const names = readdirSync(folder);
    if (templateNames.some((name) => names.includes(name))) return null;
    return `must hold at least one of ${templateNames.join(', ')}`;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return `must be the folder of the templates; ${folderFaults[code] ?? `it cannot be read (${code})`}`;
  }
}

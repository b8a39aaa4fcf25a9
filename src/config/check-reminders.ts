import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isQuiet } from '../core/lead/quiet-hours.ts';
import type { Mistake } from './config-error.ts';
import { headingKey } from './heading-key.ts';
import { didYouMean } from './nearest-name.ts';
import type { Path } from './settings-lookup.ts';
import { mistakeAt, type Source, valueAt } from './source.ts';
import { parseQuietHours, parseTimeOfDay, quietHoursMistake, timeOfDayMistake } from './time-of-day.ts';

/** A mapped field as far as it could be read. */
export interface MappedField {
  readonly field: string;
  readonly column: string;
  readonly type: string;
}

/** The templates that are looked for in the folder; one that is missing is ours. */
const templateNames = ['reminder', 'digest'].flatMap((mail) =>
  ['subject', 'text', 'html'].map((part) => `${mail}.${part}.liquid`),
);

const folderFaults: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is no folder',
  EACCES: 'this user may not read it',
};

const maybeText = z.string().optional().catch(undefined);
const maybeList = z.array(z.unknown()).optional().catch(undefined);

/** Reads past what is wrong, as checkTogether does. */
const lenientReminders = z.object({
  from: z.unknown().optional(),
  before: maybeList,
  quietHours: maybeText,
  skipStages: z.unknown().optional(),
  onlyStages: z.unknown().optional(),
  routes: z
    .array(z.object({ when: z.record(z.string(), z.unknown()).catch({}) }).catch({ when: {} }))
    .optional()
    .catch(undefined),
  toColumn: maybeText,
  digest: maybeText,
  calendar: z.unknown().optional(),
  templates: maybeText,
});

type Lenient = z.output<typeof lenientReminders>;

interface Place {
  readonly source: Source;
  readonly path: Path;
  readonly fields: readonly MappedField[];
}

/** Mistakes of a connection's reminders that only show together with other settings; `path` is the connection's. */
export function checkReminders(
  source: Source,
  connection: Path,
  fields: readonly MappedField[],
  smtpIsSet: boolean,
): readonly Mistake[] {
  const path = [...connection, 'reminders'];
  const parsed = lenientReminders.safeParse(valueAt(source.raw, path));
  if (!parsed.success) return [];
  const place = { source, path, fields };
  return [
    ...senderMistakes(place, parsed.data, smtpIsSet),
    ...followUpMistakes(place),
    ...nothingToSend(place, parsed.data),
    ...calendarMistakes(place, parsed.data),
    ...digestMistakes(place, parsed.data),
    ...stageMistakes(place, parsed.data),
    ...routeMistakes(place, parsed.data),
    ...columnMistakes(place, parsed.data),
    ...templateMistakes(place, parsed.data),
  ];
}

function senderMistakes(place: Place, { from }: Lenient, smtpIsSet: boolean): readonly Mistake[] {
  if (!smtpIsSet || from !== undefined) return [];
  return report(
    place,
    ['from'],
    'is missing: a mail server is set (SMTP_URL), so reminders need a sender such as Sales <sales@example.com>',
  );
}

/** Without the field there is nothing to be reminded of. */
function followUpMistakes(place: Place): readonly Mistake[] {
  const known = place.fields.find(({ field }) => field === 'nextFollowUpAt');
  if (place.fields.length === 0 || known?.type === 'instant') return [];
  const message =
    known === undefined
      ? 'needs the field nextFollowUpAt to be mapped to a column'
      : 'needs the field nextFollowUpAt to be of type instant';
  return report(place, [], message);
}

function nothingToSend(place: Place, { before, digest }: Lenient): readonly Mistake[] {
  if (before?.length !== 0 || digest !== undefined) return [];
  return report(
    place,
    ['before'],
    'must hold a time such as 0m, unless there is a digest: nothing would be sent',
  );
}

function calendarMistakes(place: Place, { before, calendar }: Lenient): readonly Mistake[] {
  if (before?.length !== 0 || calendar !== true) return [];
  return report(
    place,
    ['calendar'],
    'must be left out: with before: [] there is no mail that would carry an entry',
  );
}

function digestMistakes(place: Place, { digest, quietHours }: Lenient): readonly Mistake[] {
  if (digest === undefined || quietHours === undefined) return [];
  if (timeOfDayMistake(digest) !== null || quietHoursMistake(quietHours) !== null) return [];
  if (!isQuiet(parseTimeOfDay(digest), parseQuietHours(quietHours))) return [];
  return report(place, ['digest'], `must not be in the quiet hours (${quietHours})`);
}

function stageMistakes(place: Place, { skipStages, onlyStages }: Lenient): readonly Mistake[] {
  const used = [
    ...(skipStages === undefined ? [] : ['skipStages']),
    ...(onlyStages === undefined ? [] : ['onlyStages']),
  ];
  if (used.length === 2) {
    return report(place, ['onlyStages'], 'must be left out: skipStages is set, and one of the two decides');
  }
  const [key] = used;
  if (key === undefined || isMapped(place, 'stage')) return [];
  return report(place, [key], 'needs the field stage to be mapped to a column');
}

function routeMistakes(place: Place, { routes }: Lenient): readonly Mistake[] {
  const names = place.fields.map(({ field }) => field);
  return (routes ?? []).flatMap(({ when }, index) =>
    Object.keys(when)
      .filter((field) => field.trim() !== '' && !isMapped(place, field))
      .flatMap((field) =>
        report(
          place,
          ['routes', index, 'when', field],
          `is no field of this connection; mapped are ${names.join(', ')}${didYouMean(field, names)}`,
        ),
      ),
  );
}

function columnMistakes(place: Place, { toColumn }: Lenient): readonly Mistake[] {
  if (toColumn === undefined || toColumn.trim() === '') return [];
  const mapped = place.fields.find(({ column }) => headingKey(column) === headingKey(toColumn));
  if (mapped?.type === 'text') return [];
  const names = place.fields.filter(({ type }) => type === 'text').map(({ column }) => column);
  const message = `must be the column of a mapped text field: ${names.join(', ')}${didYouMean(toColumn, names)}`;
  return report(place, ['toColumn'], message);
}

function templateMistakes(place: Place, { templates }: Lenient): readonly Mistake[] {
  if (templates === undefined || templates.trim() === '' || templates.includes('\0')) return [];
  let names: readonly string[];
  try {
    names = readdirSync(resolve(place.source.folder, templates));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const reason = folderFaults[code] ?? `it cannot be read (${code})`;
    return report(place, ['templates'], `must be the folder of the templates; ${reason}`);
  }
  if (templateNames.some((name) => names.includes(name))) return [];
  return report(place, ['templates'], `must hold at least one of ${templateNames.join(', ')}`);
}

function isMapped({ fields }: Place, field: string): boolean {
  return fields.some((mapped) => mapped.field === field);
}

function report({ source, path }: Place, below: Path, message: string): readonly Mistake[] {
  const place = [...path, ...below];
  return source.isKnownBad(place) ? [] : [mistakeAt(source, place, message)];
}

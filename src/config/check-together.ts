import { resolve } from 'node:path';
import { z } from 'zod';
import { optInProperty } from '../core/lead/opt-in-property.ts';
import type { Mistake } from './config-error.ts';
import { effectiveDirection } from './direction.ts';
import { headingKey } from './heading-key.ts';
import { checkReminders, type MappedField } from './check-reminders.ts';
import { connectionNamePattern, directionSchema } from './schema.ts';
import type { Path } from './settings-lookup.ts';
import { mistakeAt, type Source } from './source.ts';
import { spreadsheetId, spreadsheetMistake } from './spreadsheet.ts';
import { tableNameMistake } from './table-name.ts';
import { defaultFieldsOf, defaultIdColumn, usualMatchBy } from './target-defaults.ts';
import { tablePlace } from './target-name.ts';
import { isExcelPath, realTargetPath, targetPathMistake } from './target-path.ts';

const lenientField = z
  .union([
    z.string(),
    z.object({
      column: z.string().optional().catch(undefined),
      direction: directionSchema.optional().catch(undefined),
      type: z.string().optional().catch(undefined),
      values: z.unknown().optional(),
    }),
  ])
  .optional()
  .catch(undefined);

/** Reads past what is wrong: each rule below looks at the settings it needs, whatever else is wrong. */
const lenientConnection = z.object({
  target: z
    .object({
      type: z.string().optional().catch(undefined),
      path: z.string().optional().catch(undefined),
      spreadsheet: z.string().optional().catch(undefined),
      tab: z.string().catch('Leads'),
      token: z.string().optional().catch(undefined),
      url: z.string().optional().catch(undefined),
      table: z.string().optional().catch(undefined),
      sheet: z.unknown().optional(),
      idColumn: z.string().optional().catch(undefined),
      statusColumn: z.string().optional().catch(undefined),
    })
    .catch({ tab: 'Leads' }),
  fields: z.record(z.string(), lenientField).optional().catch({}),
  sync: z
    .object({
      direction: directionSchema.catch('two-way'),
      match: z.string().catch('off'),
      matchBy: z.array(z.string()).optional().catch([]),
    })
    .catch({ direction: 'two-way', match: 'off' }),
  reminders: z.object({ from: z.unknown().optional() }).optional().catch(undefined),
});
const lenientFile = z.object({
  connections: z.record(z.string(), lenientConnection.optional().catch(undefined)),
  alerts: z
    .object({ email: z.unknown().optional(), from: z.unknown().optional() })
    .optional()
    .catch(undefined),
});

/** Of a HubSpot property. */
const propertyName = /^[a-z][a-z0-9_]{0,99}$/;
const propertyAllowed =
  'must be the internal name of a company property: a to z, 0 to 9 and _, beginning with a letter';

const optInMistake = `must be another property: by ${optInProperty} a person asks for a lead`;

type Lenient = z.output<typeof lenientConnection>;

/** Mistakes that only show when several settings are seen together. */
export function checkTogether(source: Source, smtpIsSet: boolean): readonly Mistake[] {
  const file = lenientFile.safeParse(source.raw);
  if (!file.success) return [];
  const connections = Object.entries(file.data.connections);
  return [
    ...connections.flatMap(([name, connection]) => {
      const path = ['connections', name];
      return [
        ...nameMistakes(source, path, name),
        ...(connection === undefined
          ? []
          : [
              ...columnMistakes(source, path, connection),
              ...directionMistakes(source, path, connection),
              ...sheetMistakes(source, path, connection),
              ...listMistakes(source, path, connection),
              ...matchMistakes(source, path, connection),
              ...checkReminders(source, path, mappedFields(connection), smtpIsSet),
            ]),
      ];
    }),
    ...sharedTargets(source, connections),
    ...alertMistakes(source, file.data, smtpIsSet),
  ];
}

/** A mail server takes no mail without a sender. */
function alertMistakes(
  source: Source,
  { alerts, connections }: z.output<typeof lenientFile>,
  smtpIsSet: boolean,
): readonly Mistake[] {
  const senders = [alerts, ...Object.values(connections).map((connection) => connection?.reminders)];
  if (!smtpIsSet || alerts?.email === undefined || senders.some((one) => one?.from !== undefined)) return [];
  const message =
    'is missing: a mail server is set (SMTP_URL), so alerts need a sender such as leadsync <ops@example.com>';
  return report(source, ['alerts', 'from'], message);
}

function nameMistakes(source: Source, path: Path, name: string): readonly Mistake[] {
  if (connectionNamePattern.test(name)) return [];
  return [{ ...source.locate(path), message: 'must have a name of 1 to 64 letters, digits, "_" and "-"' }];
}

function columnMistakes(source: Source, path: Path, { target, fields }: Lenient): readonly Mistake[] {
  const mapped =
    fields === undefined
      ? defaultFieldsOf(target.type).map(({ field, column }) => ({
          use: field,
          column,
          path: [...path, 'fields'],
        }))
      : Object.entries(fields).flatMap(([field, entry]) => {
          const place = [...path, 'fields', field];
          if (typeof entry === 'string') return [{ use: field, column: entry, path: place }];
          return entry?.column === undefined
            ? []
            : [{ use: field, column: entry.column, path: [...place, 'column'] }];
        });
  const idColumn = target.idColumn ?? defaultIdColumn(target.type);
  const own = [{ use: 'the id', column: idColumn, path: [...path, 'target', 'idColumn'] }];
  if (target.statusColumn !== undefined) {
    own.push({ use: 'the status', column: target.statusColumn, path: [...path, 'target', 'statusColumn'] });
  }
  // Columns of the default mapping stand nowhere in the file, so the blame goes to the one that does.
  const uses = fields === undefined ? [...mapped, ...own] : [...own, ...mapped];
  const first = new Map<string, string>();
  return uses.flatMap((use) => {
    const key = headingKey(use.column);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, use.use);
      if (target.type !== 'hubspot') return [];
      if (use.column === optInProperty) return report(source, use.path, optInMistake);
      return propertyName.test(use.column) ? [] : report(source, use.path, propertyAllowed);
    }
    return report(source, use.path, `must be a column of its own: it is the column of ${earlier} already`);
  });
}

function directionMistakes(source: Source, path: Path, { fields, sync }: Lenient): readonly Mistake[] {
  return Object.entries(fields ?? {}).flatMap(([field, entry]) => {
    if (typeof entry !== 'object' || entry.direction === undefined) return [];
    if (effectiveDirection(sync.direction, entry.direction) !== null) return [];
    const message = `must be ${sync.direction} or two-way, because the connection's sync.direction is ${sync.direction}`;
    return report(source, [...path, 'fields', field, 'direction'], message);
  });
}

/** Only a new workbook has lists to choose from, and a moment is no choice. */
function listMistakes(source: Source, path: Path, { target, fields }: Lenient): readonly Mistake[] {
  return Object.entries(fields ?? {}).flatMap(([field, entry]) => {
    if (typeof entry !== 'object' || entry.values === undefined) return [];
    const place = [...path, 'fields', field, 'values'];
    const instant = (entry.type ?? (field === 'nextFollowUpAt' ? 'instant' : 'text')) === 'instant';
    if (instant) return report(source, place, 'must be left out: an instant is not chosen from a list');
    if (target.type === 'postgres-table')
      return report(source, place, 'must be left out: a table has no lists to choose from');
    const csv = target.path !== undefined && !isExcelPath(target.path);
    return csv ? report(source, place, 'must be left out: a CSV file has no lists to choose from') : [];
  });
}

/** Records are matched by what both sides show. */
function matchMistakes(source: Source, path: Path, connection: Lenient): readonly Mistake[] {
  const { match, matchBy } = connection.sync;
  const mapped = mappedFields(connection).map(({ field }) => field);
  const unknown = (matchBy ?? []).find((field) => !mapped.includes(field));
  if (unknown !== undefined)
    return report(source, [...path, 'sync', 'matchBy'], `must name mapped fields: ${unknown} is none`);
  if (match === 'off' || matchBy !== undefined || usualMatchBy.some((field) => mapped.includes(field)))
    return [];
  return report(source, [...path, 'sync', 'matchBy'], 'is missing: neither companyName nor city is mapped');
}

function sheetMistakes(source: Source, path: Path, { target }: Lenient): readonly Mistake[] {
  if (target.sheet === undefined || target.path === undefined || isExcelPath(target.path)) return [];
  if (targetPathMistake(target.path) !== null) return [];
  return report(source, [...path, 'target', 'sheet'], 'must be left out: a CSV file has no sheets');
}

/** The mapped fields as far as they can be read, with their columns and types. */
function mappedFields({ fields, target }: Lenient): readonly MappedField[] {
  if (fields === undefined) return defaultFieldsOf(target.type);
  return Object.entries(fields).flatMap(([field, entry]) => {
    const { column, type } = typeof entry === 'string' ? { column: entry, type: undefined } : (entry ?? {});
    if (column === undefined) return [];
    return [{ field, column, type: type ?? (field === 'nextFollowUpAt' ? 'instant' : 'text') }];
  });
}

function sharedTargets(
  source: Source,
  connections: readonly (readonly [string, Lenient | undefined])[],
): readonly Mistake[] {
  const first = new Map<string, string>();
  return connections.flatMap(([name, connection]) => {
    const place = connection === undefined ? null : placeOf(source, connection.target);
    if (place === null) return [];
    const earlier = first.get(place.name);
    if (earlier === undefined) {
      first.set(place.name, name);
      return [];
    }
    const message = `must be ${place.own}: connection ${earlier} writes to the same one`;
    return report(source, ['connections', name, 'target', place.key], message);
  });
}

/** One name for one place, however it is written; null when it is missing or wrong. */
function placeOf(
  source: Source,
  { type, path, spreadsheet, tab, token, url, table }: Lenient['target'],
): { readonly name: string; readonly own: string; readonly key: string } | null {
  if (type === 'google-sheets') {
    if (spreadsheet === undefined || spreadsheetMistake(spreadsheet) !== null) return null;
    // Titles of tabs do not differ in case alone.
    const name = `${spreadsheetId(spreadsheet)}/${tab.toLowerCase()}`;
    return { name, own: 'a tab of its own', key: 'tab' };
  }
  if (type === 'hubspot') {
    return token === undefined
      ? null
      : { name: `hubspot:${token}`, own: 'of a portal of its own', key: 'token' };
  }
  if (type === 'postgres-table') {
    if (url === undefined || table === undefined || !URL.canParse(url) || tableNameMistake(table) !== null)
      return null;
    return { name: tablePlace(url, table), own: 'a table of its own', key: 'table' };
  }
  if (path === undefined || targetPathMistake(path) !== null) return null;
  return { name: realTargetPath(resolve(source.folder, path)), own: 'a file of its own', key: 'path' };
}

function report(source: Source, path: Path, message: string): readonly Mistake[] {
  return source.isKnownBad(path) ? [] : [mistakeAt(source, path, message)];
}

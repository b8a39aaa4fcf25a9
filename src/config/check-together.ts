import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { optInProperty } from '../core/lead/opt-in-property.ts';
import { checkReminders } from './check-reminders.ts';
import { defaultIdColumn, effectiveDirection, fieldMappings, usualMatchBy } from './fields.ts';
import type { Readable } from './readable.ts';
import { type ConnectionSettings, connectionNamePattern, type FileSettings } from './schema.ts';
import type { Report, Source } from './source.ts';
import { tablePlace } from './target-name.ts';
import { headingKey } from './values.ts';

type Connection = Readable<ConnectionSettings>;

/** Of a HubSpot property. */
const propertyName = /^[a-z][a-z0-9_]{0,99}$/;
const propertyAllowed =
  'must be the internal name of a company property: a to z, 0 to 9 and _, beginning with a letter';

/**
 * Reports mistakes that only show when several settings are seen together.
 * @param file the settings as far as they could be read: each rule looks at those it needs, whatever else is wrong
 */
export function checkTogether(
  report: Report,
  source: Source,
  file: Readable<FileSettings>,
  smtpIsSet: boolean,
): void {
  const connections = Object.entries(file.connections ?? {});
  const places = new Map<string, string>();
  for (const [name, connection] of connections) {
    const path = ['connections', name];
    const below: Report = (inner, message) => report([...path, ...inner], message);
    if (!connectionNamePattern.test(name))
      report(path, 'must have a name of 1 to 64 letters, digits, "_" and "-"', 'name');
    if (connection === undefined) continue;
    checkColumns(below, connection);
    checkDirections(below, connection);
    checkSheet(below, connection);
    checkChoices(below, connection);
    checkMatch(below, connection);
    checkReminders(below, source, path, connection, smtpIsSet);
    checkPlace(below, source.folder, connection, places, name);
  }
  const { alerts } = file;
  const senders = [alerts, ...connections.map(([, connection]) => connection?.reminders)];
  // A mail server takes no mail without a sender.
  if (smtpIsSet && alerts?.email !== undefined && senders.every((one) => one?.from === undefined))
    report(
      ['alerts', 'from'],
      'is missing: a mail server is set (SMTP_URL), so alerts need a sender such as leadsync <ops@example.com>',
    );
}

function checkColumns(report: Report, connection: Connection): void {
  const { target, fields } = connection;
  const mapped = fieldMappings(connection).map(({ field, column }) => {
    const entry = fields?.[field];
    const path =
      entry === undefined ? ['fields'] : ['fields', field, ...(typeof entry === 'string' ? [] : ['column'])];
    return { use: field, column, path };
  });
  const own = [
    {
      use: 'the id',
      column: target?.idColumn ?? defaultIdColumn(target?.type),
      path: ['target', 'idColumn'],
    },
    ...(target?.statusColumn === undefined
      ? []
      : [{ use: 'the status', column: target.statusColumn, path: ['target', 'statusColumn'] }]),
  ];
  const first = new Map<string, string>();
  // Columns of the default mapping stand nowhere in the file, so the blame goes to the one that does.
  for (const { use, column, path } of fields === undefined ? [...mapped, ...own] : [...own, ...mapped]) {
    const earlier = first.get(headingKey(column));
    if (earlier !== undefined) {
      report(path, `must be a column of its own: it is the column of ${earlier} already`);
      continue;
    }
    first.set(headingKey(column), use);
    if (target?.type !== 'hubspot') continue;
    if (column === optInProperty)
      report(path, `must be another property: by ${optInProperty} a person requests a lead`);
    else if (!propertyName.test(column)) report(path, propertyAllowed);
  }
}

/** The fields in the long form. */
function longFields({ fields }: Connection) {
  return Object.entries(fields ?? {}).flatMap(([field, entry]) =>
    typeof entry === 'object' ? [{ field, ...entry }] : [],
  );
}

function checkDirections(report: Report, connection: Connection): void {
  const whole = connection.sync?.direction ?? 'two-way';
  for (const { field, direction } of longFields(connection)) {
    if (direction === undefined || effectiveDirection(whole, direction) !== null) continue;
    report(
      ['fields', field, 'direction'],
      `must be ${whole} or two-way, because the connection's sync.direction is ${whole}`,
    );
  }
}

/** Only a new workbook has lists to choose from, and a moment is no choice. */
function checkChoices(report: Report, connection: Connection): void {
  const { target } = connection;
  for (const { field, values, type } of longFields(connection)) {
    if (values === undefined) continue;
    const isInstant = (type ?? (field === 'nextFollowUpAt' ? 'instant' : 'text')) === 'instant';
    const reason = isInstant
      ? 'an instant is not chosen from a list'
      : target?.type === 'postgres-table'
        ? 'a table has no lists to choose from'
        : isCsv(target) && 'a CSV file has no lists to choose from';
    if (reason !== false) report(['fields', field, 'values'], `must be left out: ${reason}`);
  }
}

function checkSheet(report: Report, { target }: Connection): void {
  if (target?.type === 'workbook' && target.sheet !== undefined && isCsv(target))
    report(['target', 'sheet'], 'must be left out: a CSV file has no sheets');
}

function isCsv(target: Connection['target']): boolean {
  return target?.type === 'workbook' && /\.csv$/i.test(target.path ?? '');
}

/** Records are matched by what both sides show. */
function checkMatch(report: Report, connection: Connection): void {
  const { match, matchBy } = connection.sync ?? {};
  const mapped = fieldMappings(connection).map(({ field }) => field);
  const path = ['sync', 'matchBy'];
  const unknown = matchBy?.find((field) => field !== undefined && !mapped.includes(field));
  if (unknown !== undefined) report(path, `must name mapped fields: ${unknown} is none`);
  else if (match !== 'off' && matchBy === undefined && !usualMatchBy.some((one) => mapped.includes(one)))
    report(path, 'is missing: neither companyName nor city is mapped');
}

/** Two connections must not write to the same place, however it is written. */
function checkPlace(
  report: Report,
  folder: string,
  { target }: Connection,
  known: Map<string, string>,
  name: string,
): void {
  const found = placeOf(target, folder);
  if (found === undefined) return;
  const { place, own, key } = found;
  const earlier = known.get(place);
  if (earlier === undefined) known.set(place, name);
  else report(['target', key], `must be ${own}: connection ${earlier} writes to the same one`);
}

function placeOf(target: Connection['target'], folder: string) {
  switch (target?.type) {
    case 'google-sheets': {
      const { spreadsheet, tab } = target;
      if (spreadsheet === undefined) return undefined;
      // Titles of tabs do not differ in case alone.
      return { place: `${spreadsheet}/${tab?.toLowerCase()}`, own: 'a tab of its own', key: 'tab' };
    }
    case 'hubspot':
      if (target.token === undefined) return undefined;
      return { place: `hubspot:${target.token.reveal()}`, own: 'of a portal of its own', key: 'token' };
    case 'postgres-table': {
      const { url, table } = target;
      if (url === undefined || table === undefined) return undefined;
      return { place: tablePlace(url.reveal(), table), own: 'a table of its own', key: 'table' };
    }
    case 'workbook':
      if (target.path === undefined) return undefined;
      return { place: realPath(resolve(folder, target.path)), own: 'a file of its own', key: 'path' };
    default:
      return undefined;
  }
}

/** One name for one file, however it is reached; for a file that is not there yet, as far as its folder is. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    try {
      return join(realpathSync(dirname(path)), basename(path));
    } catch {
      return path;
    }
  }
}

import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { headingKey, optInProperty } from '../core/lead/mapping.ts';
import { checkAddresses, checkReminders } from './check-reminders.ts';
import { defaultIdColumn, effectiveDirection, fieldMappings, fieldType, usualMatchBy } from './fields.ts';
import type { Readable } from './readable.ts';
import { connectionNamePattern, type ConnectionSettings, type FileSettings } from './schema.ts';
import type { Report, Source } from './source.ts';
import { driveMark, isSharingLink, isWebAddress } from './addresses.ts';
import { fileFormats, formatOf, linkedFormat } from './file-formats.ts';
import { filePlace, tablePlace } from './config.ts';

type Connection = Readable<ConnectionSettings>;

/** `file`: the settings as far as they could be read: each rule looks at those it needs, whatever else is wrong. */
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
      report(path, 'must have a name of 1 to 64 letters from a to z, digits, "_" and "-"', 'name');
    if (connection === undefined) continue;
    checkColumns(below, connection);
    checkFields(below, connection);
    checkMatch(below, connection);
    checkLogin(below, connection);
    checkReminders(below, source, path, connection, smtpIsSet);
    const { blame, kind, place } = placeOf(connection.target ?? {}, source.folder);
    const earlier = place === undefined ? undefined : places.get(place);
    if (earlier !== undefined)
      below(['target', blame], `must be another ${kind}: connection ${earlier} writes to this one`);
    else if (place !== undefined) places.set(place, name);
  }
  checkAddresses(report, ['recipients'], file.recipients);
}

/** Each column has one use; the columns of a HubSpot portal are properties. */
function checkColumns(report: Report, connection: Connection): void {
  const { target, fields } = connection;
  const mapped = fieldMappings(connection).map(({ field, column }) => {
    const key = typeof fields?.[field] === 'string' ? [] : ['column'];
    return { use: field, column, path: fields === undefined ? ['fields'] : ['fields', field, ...key] };
  });
  const own = [
    {
      use: 'the id',
      column: target?.idColumn ?? defaultIdColumn(target?.type),
      path: ['target', 'idColumn'],
    },
    { use: 'the status', column: target?.statusColumn, path: ['target', 'statusColumn'] },
    { use: 'the pauses', column: target?.pauseColumn, path: ['target', 'pauseColumn'] },
  ];
  const uses = new Map<string, string>();
  // Columns of the default mapping are not in the file: blame the one that is.
  for (const { use, column, path } of fields === undefined ? [...mapped, ...own] : [...own, ...mapped]) {
    if (column === undefined) continue;
    const earlier = uses.get(headingKey(column));
    if (earlier !== undefined)
      report(path, `must be a column of its own: it is the column of ${earlier} already`);
    else if (target?.type === 'hubspot' && column === optInProperty)
      report(path, `must be another property: by ${optInProperty} a person requests a lead`);
    else if (target?.type === 'hubspot' && !/^[a-z][a-z0-9_]{0,99}$/.test(column))
      report(
        path,
        'must be the internal name of a company property: a to z, 0 to 9 and _, beginning with a letter',
      );
    uses.set(headingKey(column), earlier ?? use);
  }
}

/** Edits of a field travel where those of the connection do; only a new workbook has lists to choose from. */
function checkFields(report: Report, { target, fields = {}, sync }: Connection): void {
  const whole = sync?.direction ?? 'two-way';
  const workbook = target?.type === 'workbook' ? target : undefined;
  const format = fileFormats[formatOf(workbook?.path ?? '') ?? linkedFormat];
  const unlisted =
    target?.type === 'postgres-table' ? 'a table' : format.hasSheets ? undefined : format.title;
  for (const [field, entry] of Object.entries(fields)) {
    if (typeof entry !== 'object') continue;
    const { direction, values } = entry;
    if (direction !== undefined && effectiveDirection(whole, direction) === null)
      report(
        ['fields', field, 'direction'],
        `must be ${whole} or two-way, because the connection's sync.direction is ${whole}`,
      );
    const isInstant = fieldType(field, entry.type) === 'instant';
    const isList = Array.isArray(values);
    if (values !== undefined && (isInstant || (isList && unlisted !== undefined)))
      report(
        ['fields', field, 'values'],
        `must be left out: ${isInstant ? 'an instant is not chosen from a list' : `${unlisted} has no lists to choose from`}`,
      );
    else if (values !== undefined && !isList)
      checkWords(
        (inner, message) => report(['fields', field, 'values', ...inner], message),
        Object.entries(values),
        effectiveDirection(whole, direction ?? 'two-way') === 'to-leads',
      );
  }
  if (!format.hasSheets && workbook?.sheet !== undefined)
    report(['target', 'sheet'], `must be left out: ${format.title} has no sheets`);
}

/** Each word of the table is one; two may mean the same only where nothing travels back. */
function checkWords(
  report: Report,
  words: readonly (readonly [string, string | undefined])[],
  isToLeads: boolean,
): void {
  const rows = new Map<string, string>();
  const leads = new Map<string, readonly [row: string, lead: string]>();
  for (const [row, lead] of words) {
    const twin = rows.get(headingKey(row));
    if (headingKey(row) === '') report([row], 'must not be empty: an empty cell is an empty value');
    else if (twin !== undefined)
      report([row], `must be another word than ${JSON.stringify(twin)}: case and spaces make no other`);
    rows.set(headingKey(row), row);
    if (twin !== undefined || lead === undefined) continue;
    const [before, spelled] = leads.get(headingKey(lead)) ?? [];
    if (before === undefined) leads.set(headingKey(lead), [row, lead]);
    else if (spelled !== lead)
      report([row], `must be spelled as for ${JSON.stringify(before)}: ${JSON.stringify(spelled)}`);
    else if (!isToLeads)
      report(
        [row],
        `must be another word than that of ${JSON.stringify(before)}: what the service has could not be told apart on its way back. Leave one of the two and correct the cells, or set direction: to-leads`,
      );
  }
}

/** A file on a server has a user with a password, or neither; a file on this machine has none of them. */
function checkLogin(report: Report, { target }: Connection): void {
  if (target?.type !== 'workbook') return;
  const { path, user, password } = target;
  const set = Object.entries({ user, password }).filter(([, value]) => value !== undefined);
  const other =
    path === undefined || (isWebAddress(path) && !isSharingLink(path))
      ? null
      : isSharingLink(path)
        ? 'a sharing link, which the app of MSGRAPH_CLIENT_ID opens'
        : path.startsWith(driveMark)
          ? 'a file of Microsoft 365, which the app of MSGRAPH_CLIENT_ID opens'
          : 'a file of this machine, not an address';
  if (other !== null) for (const [key] of set) report(['target', key], `must be left out: path is ${other}`);
  else if (user !== undefined && password === undefined)
    report(['target', 'password'], 'is missing: user has a password');
  else if (password !== undefined && user === undefined)
    report(['target', 'user'], 'is missing: the password is that of a user');
}

function checkMatch(report: Report, connection: Connection): void {
  const { match, matchBy } = connection.sync ?? {};
  const mapped = fieldMappings(connection).map(({ field }) => field);
  const path = ['sync', 'matchBy'];
  const unknown = matchBy?.find((field) => field !== undefined && !mapped.includes(field));
  if (unknown !== undefined) report(path, `must name mapped fields: ${unknown} is none`);
  else if (match !== 'off' && matchBy === undefined && !usualMatchBy.some((one) => mapped.includes(one)))
    report(path, 'is missing: neither companyName nor city is mapped');
}

function placeOf(target: NonNullable<Connection['target']>, folder: string) {
  switch (target.type) {
    case 'google-sheets': {
      const { spreadsheet, tab } = target;
      // Titles of tabs do not differ in case alone.
      const place = spreadsheet && `${spreadsheet}/${tab?.toLowerCase()}`;
      return { blame: 'tab', kind: 'tab', place };
    }
    case 'hubspot':
      return { blame: 'token', kind: 'portal', place: target.token && `hubspot:${target.token.reveal()}` };
    case 'postgres-table': {
      const { url, table } = target;
      return { blame: 'table', kind: 'table', place: url && table && tablePlace(url.reveal(), table) };
    }
    case 'workbook': {
      if (target.path === undefined) return { blame: 'path', kind: 'file', place: undefined };
      const { drive, path } = filePlace(folder, target.path);
      // SharePoint's paths do not differ in case alone.
      const place = drive === undefined ? realPath(path) : `${drive}/${path.toLowerCase()}`;
      return { blame: 'path', kind: 'file', place };
    }
    default:
      return { blame: 'type', kind: 'target', place: undefined };
  }
}

/** Of a file that is not there yet, the folder's. */
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

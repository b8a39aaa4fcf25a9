import { readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { followUpField, headingKey, optInProperty } from '../core/lead/mapping.ts';
import {
  defaultIdColumn,
  effectiveDirection,
  fieldMappings,
  fieldType,
  filePlace,
  tablePlace,
  usualMatchBy,
} from './config.ts';
import type { Path, Readable } from './settings.ts';
import { connectionNamePattern, type ConnectionSettings, type FileSettings } from './schema.ts';
import type { Report, Source } from './mistakes.ts';
import { valueAt } from '../lib/foreign-text.ts';
import { driveMark, isSharingLink, isWebAddress } from './addresses.ts';
import { fileFormats, formatOf, linkedFormat } from './file-formats.ts';
import { addressKey, isEmailAddress } from '../core/lead/email-address.ts';
import { isLoopback } from '../lib/loopback.ts';
import { isQuiet } from './values.ts';
import { readFault } from './environment.ts';
import { didYouMean } from '../core/lead/wording.ts';

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

const googleCalendars = 'apidata.googleusercontent.com';

function checkReminders(
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

function checkAddresses(report: Report, path: Path, people: object | undefined): void {
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

import { addressKey } from '../core/lead/email-address.ts';
import { resolve } from 'node:path';
import { defaultFields, type Direction, type FieldMapping, headingKey } from '../core/lead/mapping.ts';
import { driveMark, drivePath, fileAddress, isSharingLink, isWebAddress } from './addresses.ts';
import { chatChannel } from './chat-webhook.ts';
import type { ProcessSettings } from './process-schema.ts';
import type { ConnectionSettings, FileSettings } from './schema.ts';
import { shortestGap } from './values.ts';
import type { Secret } from './secret.ts';
import type { FieldType } from '../core/lead/value.ts';
import { leadFields } from '../core/lead/lead-fields.ts';
import type { Readable } from './settings.ts';
import { isThisMachine } from '../lib/loopback.ts';
import { parseRedisAddress } from './redis-address.ts';

/** What cannot be changed any more, at any depth. */
type Frozen<T> = T extends Secret ? T : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** Made by load.ts, the only file that reads the environment. Paths are absolute. */
export interface Config extends Frozen<ProcessSettings> {
  readonly connections: readonly ConnectionConfig[];
  /** All of them, also when a command is narrowed to one. */
  readonly configured: readonly ConnectionConfig[];
  readonly alerts?: AlertSettings;
  readonly publicUrl?: string;
  readonly statusPage?: Frozen<NonNullable<FileSettings['statusPage']>>;
  /** What OpenTelemetry's variables ask for. */
  readonly telemetry?: { readonly traces: boolean; readonly metrics: boolean };
}

/** The schema (and docs/settings.md) explains each setting. */
export type ConnectionConfig = Frozen<ReturnType<typeof buildConnection>>;
export type TargetConfig = ConnectionConfig['target'];
/** A file; `path` is absolute, an address, or within `drive`. */
export type WorkbookConfig = Extract<TargetConfig, { type: 'workbook' }>;
export type ReminderSettings = NonNullable<ConnectionConfig['reminders']>;
export type ReminderRules = ReminderSettings['rules'];
export type CalendarSettings = ReminderSettings['calendars'][number];
export type AlertSettings = Frozen<ReturnType<typeof buildAlerts>>;

/** Closed stages, as services name them: by default they get no reminders (without `skipStages`). */
export const closedStages: readonly string[] = (
  'won, closed won, closed-won, closed_won, closedwon, gewonnen, ' +
  'lost, closed lost, closed-lost, closed_lost, closedlost, verloren'
).split(', ');

/** Minutes since midnight: when mails about a day leave, without a digest. */
const usualMorning = 8 * 60;

/** A schedule that runs more often than this (ms) would prove a delete while somebody moves a row. */
const oftenMs = 6 * 3_600_000;

/** Sender of mails that are only written to the outbox. */
const localSender = 'leadsync@localhost';

/** A connection from settings that are right, with all defaults filled in; `folder` is what paths are relative to. */
export function buildConnection(
  name: string,
  settings: ConnectionSettings,
  folder: string,
  people: NonNullable<FileSettings['recipients']> = {},
) {
  const { leads, target, reminders } = settings;
  // How long history is kept decides nothing, so it is no part of `sync`.
  const { retention: retentionDays, matchBy = usualMatchBy, ...sync } = settings.sync;
  const fields = fieldMappings(settings);
  const dayZone = ('timeZone' in target ? target.timeZone : undefined) ?? sync.timeZone;
  return {
    name,
    leads,
    target: buildTarget(target, folder, sync.timeZone),
    fields,
    /** `matchBy`: mapped fields only; the first names a record. */
    sync: {
      ...sync,
      proveAfter: sync.proveAfter ?? (shortestGap(sync.schedule) < oftenMs ? oftenMs : 0),
      matchBy: matchBy.filter((one) => fields.some(({ field }) => field === one)),
    },
    retentionDays,
    /** IANA zone in which dates of the table are meant, and in which people see dates. */
    timeZone: dayZone,
    ...(reminders && {
      reminders: buildReminders(reminders, fields, sync.timeZone, dayZone, folder, people),
    }),
  };
}

function buildTarget(target: ConnectionSettings['target'], folder: string, timeZone: string) {
  const common = {
    /** Also the default one. For HubSpot an internal name of a property, as are the columns of the fields and `statusColumn`. */
    idColumn: target.idColumn ?? defaultIdColumn(target.type),
  };
  if (target.type === 'google-sheets') {
    const { spreadsheet, ...others } = target;
    return { ...others, ...common, spreadsheetId: spreadsheet };
  }
  /** IANA zone in which a date without an offset is meant. */
  const inZone = { ...common, timeZone: target.timeZone ?? timeZone };
  switch (target.type) {
    case 'workbook':
      return { ...target, ...inZone, ...filePlace(folder, target.path) };
    case 'hubspot':
      return { ...target, ...inZone };
    case 'postgres-table':
      return { ...target, ...inZone, isZoneSet: target.timeZone !== undefined };
    default:
      return target satisfies never;
  }
}

/** In one spelling, absolute unless it is within a drive. */
export function filePlace(folder: string, path: string): { readonly path: string; readonly drive?: string } {
  if (isSharingLink(path)) return { path };
  return drivePath(path) ?? { path: isWebAddress(path) ? fileAddress(path) : resolve(folder, path) };
}

function buildReminders(
  settings: NonNullable<ConnectionSettings['reminders']>,
  fields: readonly FieldMapping[],
  timeZone: string,
  dayZone: string,
  folder: string,
  people: NonNullable<FileSettings['recipients']>,
) {
  const { from, to = [], before, workingDays, calendar, leadUrl, toColumn, webhook, templates } = settings;
  const chat = webhook === undefined ? null : chatChannel(webhook);
  const toField = fields.find(({ column }) => headingKey(column) === headingKey(toColumn ?? ''))?.field;
  return {
    from: from ?? localSender,
    // plan-reminders.ts hashes them in this order: another one would plan every reminder again.
    rules: {
      /** Of recipients without their own: see recipients.ts. */
      timeZone: settings.timeZone ?? timeZone,
      timeZones: timeZonesOf(people),
      /** In which the table's dates without a time are read: an instant that is midnight there is a day (`dayOf`). */
      dayZone,
      /** Minutes since midnight: when mails about a day leave. */
      dateOnlyAt: usualMorning,
      /** Empty: no single mails, the digest alone. */
      before,
      /** `from` may be later than `to`: over midnight. */
      quietHours: settings.quietHours ?? null,
      workingDays,
      /** A delayed mail is still sent within this time (ms); afterwards it is missed. */
      graceMs: 86_400_000,
      skipStages: settings.skipStages ?? closedStages,
      to,
      /** The chat channel, which gets what everybody gets; null: none. */
      channel: chat?.recipient ?? null,
      /** The first whose fields all match a lead goes before `to`. */
      routes: settings.routes ?? [],
      /** The lead field with the recipient's address: goes before routes. checkReminders refuses a column that is not mapped. */
      toField: toField ?? null,
      /** Local time of the daily digest. Null: none. */
      digestAt: settings.digest ?? null,
    },
    language: settings.language,
    chat,
    calendar,
    /** By recipient. */
    calendars: Object.entries(settings.caldav ?? {}).map(([recipient, { as, url, username, password }]) => ({
      url,
      /** Null: Google's account. */
      login: username === undefined || password === undefined ? null : { username, password },
      recipient: addressKey(recipient),
      components: as === 'both' ? (['event', 'task'] as const) : ([as] as const),
    })),
    /** With `{id}` for the lead's id; null: no link. */
    leadUrl: leadUrl ?? null,
    /** Absolute path of the folder with the user's own templates, or null. */
    templates: templates === undefined ? null : resolve(folder, templates),
  };
}

/** Calendars without a login are opened with Google's account. */
export function hasGoogleCalendars({ configured }: Pick<Config, 'configured'>): boolean {
  return configured.some(({ reminders }) => reminders?.calendars.some(({ login }) => login === null));
}

/** By address in lower case. */
function timeZonesOf(people: NonNullable<FileSettings['recipients']>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(people).flatMap(([address, { timeZone }]) =>
      timeZone === undefined ? [] : [[addressKey(address), timeZone]],
    ),
  );
}

/** `senders`: that of the first reminders with one comes first. Without any it is their first recipient: a mail server takes no mail without. */
export function buildAlerts(
  { email = [], ...addresses }: NonNullable<FileSettings['alerts']>,
  senders: readonly string[],
) {
  return { ...addresses, email, from: senders[0] ?? email[0] ?? localSender };
}

/** A key does not tell its HubSpot portal. */
export function targetName(target: TargetConfig): string {
  switch (target.type) {
    case 'workbook':
      return target.drive === undefined ? target.path : `${driveMark}${target.drive}/${target.path}`;
    case 'google-sheets':
      return `google-sheets:${target.spreadsheetId}/${target.tab}`;
    case 'hubspot':
      return 'hubspot:companies';
    case 'postgres-table':
      return `postgres-table:${tablePlace(target.url.reveal(), target.table)}`;
    default:
      return target satisfies never;
  }
}

/** Server, database and table without user and password; `leads` is `public.leads`. */
export function tablePlace(url: string, table: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname.toLowerCase()}:${port || '5432'}${pathname}/${table.includes('.') ? table : `public.${table}`}`;
}

/** Here and below the recipient is an address in lower case. */
export function recipientTimeZone(
  { timeZone, timeZones }: Pick<ReminderRules, 'timeZone' | 'timeZones'>,
  recipient: string,
): string {
  return timeZones[recipient] ?? timeZone;
}

export function recipientSettings(settings: ReminderSettings, recipient: string): ReminderSettings {
  return { ...settings, rules: recipientRules(settings.rules, recipient) };
}

export function recipientRules(rules: ReminderRules, recipient: string): ReminderRules {
  return { ...rules, timeZone: recipientTimeZone(rules, recipient) };
}

function usualColumn({ field, column }: FieldMapping, targetType: string | undefined): string {
  if (targetType === 'hubspot') return leadFields[field]?.hubspot ?? `lead_${field}`;
  return targetType === 'postgres-table'
    ? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : column;
}

export function defaultIdColumn(targetType: string | undefined): string {
  return targetType === 'hubspot' || targetType === 'postgres-table' ? 'lead_id' : 'Lead ID';
}

export const usualMatchBy: readonly string[] = ['companyName', 'city'];

/** The mapping of a connection: as written, without what lacks a column, or the usual one of its kind of target. */
export function fieldMappings({
  fields,
  target,
  sync,
}: Readable<ConnectionSettings>): readonly FieldMapping[] {
  const direction = sync?.direction ?? 'two-way';
  if (fields === undefined)
    return defaultFields.map((mapping) => ({
      ...mapping,
      column: usualColumn(mapping, target?.type),
      direction,
    }));
  return Object.entries(fields).flatMap(([field, entry]): FieldMapping[] => {
    const written = typeof entry === 'string' ? { column: entry } : entry;
    if (written?.column === undefined) return [];
    const { column, type } = written;
    // checkTogether refuses directions that exclude each other.
    const own = effectiveDirection(direction, written.direction ?? 'two-way') ?? direction;
    return [{ field, column, type: fieldType(field, type), direction: own, ...offered(written.values) }];
  });
}

/** The words of the table, and what they mean in the service where that is told. */
function offered(
  written: readonly (string | undefined)[] | Readonly<Record<string, string | undefined>> | undefined,
): Pick<FieldMapping, 'values' | 'words'> {
  if (written === undefined) return {};
  const isList = Array.isArray(written);
  const words = Object.entries(written).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const values = words.map(([row, lead]) => (isList ? lead : row));
  return isList ? { values } : { values, words };
}

export function fieldType(field: string, written: FieldType | undefined): FieldType {
  return written ?? leadFields[field]?.type ?? 'text';
}

/** The field's own direction, unless the connection's is narrower. Null when the two exclude each other, so that nothing could travel. */
export function effectiveDirection(connection: Direction, field: Direction): Direction | null {
  if (connection === 'two-way' || connection === field) return field;
  return field === 'two-way' ? connection : null;
}

type Places = Pick<Config, 'databaseUrl' | 'redisUrl'> & {
  readonly connections: readonly Pick<ConnectionConfig, 'name' | 'target'>[];
};

/** A setting that has a password and data go to another machine without TLS, and how it is to be written. */
export interface ClearText {
  readonly setting: string;
  readonly message: string;
}

/** The settings by which Postgres or Redis on another machine is reached without TLS. */
export function clearTextOf({ databaseUrl, redisUrl, connections }: Places): readonly ClearText[] {
  const found: ClearText[] = [];
  if (databaseUrl !== undefined && isPostgresInClear(databaseUrl.reveal()))
    found.push(inClear('DATABASE_URL', 'add ?sslmode=verify-full'));
  if (redisUrl !== undefined && isRedisInClear(redisUrl.reveal()))
    found.push(inClear('REDIS_URL', 'begin it with rediss'));
  for (const { name, target } of connections) {
    if (target.type === 'postgres-table' && isPostgresInClear(target.url.reveal()))
      found.push(inClear(`connections.${name}.target.url`, 'add ?sslmode=verify-full'));
  }
  return found;
}

function inClear(setting: string, how: string): ClearText {
  return {
    setting,
    message: `leads to another machine without TLS, so that others on the way can read the password or the data; ${how}`,
  };
}

/** As pg reads a URL: any `sslmode` but `disable` is TLS. */
function isPostgresInClear(text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  const settings = url.searchParams;
  const host = settings.get('host') ?? decodeURIComponent(url.hostname);
  if (isThisMachine(host === '' ? 'localhost' : host)) return false;
  const mode = settings.get('sslmode');
  if (mode !== null) return mode === 'disable';
  const isOn =
    ['true', '1'].includes(settings.get('ssl') ?? '') || settings.get('sslnegotiation') === 'direct';
  return !isOn && !['sslcert', 'sslkey', 'sslrootcert'].some((name) => settings.has(name));
}

function isRedisInClear(text: string): boolean {
  const { tls, hosts } = parseRedisAddress(text);
  return !tls && hosts.some(({ host }) => !isThisMachine(host));
}

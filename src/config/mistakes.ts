import type { z } from 'zod';
import { didYouMean } from '../core/lead/wording.ts';
import { homeOf, keysBelow, type Path, settingAround, settingAt, soundsSecret } from './settings.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { valueAt } from '../lib/foreign-text.ts';

type Issue = z.core.$ZodIssue;

export function schemaMistakes(
  source: Source,
  issues: readonly Issue[],
  base: Path = [],
): readonly Mistake[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...(issue.path as Path)];
    const value = valueAt(source.raw, path);
    if (value === unreadable) return [];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(source, path, key));
    if (issue.code === 'invalid_key')
      return [{ ...source.locate(path), message: issue.issues[0]?.message ?? issue.message }];
    const branch = issue.code === 'invalid_union' ? branchMeant(issue) : undefined;
    if (branch !== undefined) return schemaMistakes(source, branch, path);
    const isMissing = value === undefined && issue.code !== 'custom';
    return [mistakeAt(source, path, isMissing ? missing(source, path) : messageOf(issue, value))];
  });
}

/** The mistakes of the one form of a setting whose kind of value (text, mapping) was found; undefined: none or several. */
function branchMeant({ errors }: z.core.$ZodIssueInvalidUnion): readonly Issue[] | undefined {
  const [meant, ...others] = errors.filter(
    (branch) => !branch.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  );
  return others.length === 0 ? meant : undefined;
}

function messageOf(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return expectation(issue.expected, value);
    case 'invalid_value':
      return choice(issue.values.map(String), value);
    case 'invalid_union':
      return 'options' in issue && issue.options !== undefined
        ? choice(issue.options.map(String), value)
        : issue.message;
    default:
      return issue.message;
  }
}

function unknownKey(source: Source, parent: Path, key: string): Mistake {
  const former = noLongerSetting([...parent, key]);
  if (former !== undefined) return { ...source.locate([...parent, key]), message: former };
  const kind = valueAt(source.raw, [...parent, 'type']);
  const allowed = keysBelow(parent).filter((known) => {
    const only = settingAt([...parent, known])?.only;
    return only === undefined || only.some((type) => type === kind);
  });
  const meant = didYouMean(key, allowed);
  const home = meant === '' ? homeOf(key) : undefined;
  const hint = home === undefined ? meant : `; ${home}`;
  return {
    ...source.locate([...parent, key]),
    message: `is not a known key; allowed here: ${allowed.join(', ')}${hint}`,
  };
}

function missing(source: Source, path: Path): string {
  const keys = keysBelow(path);
  const what =
    settingAt(path)?.meaning ?? (keys.length > 0 ? `a mapping with ${keys.join(', ')}` : undefined);
  return `is missing${what === undefined ? '' : `: ${what}`}${source.hint?.(path) ?? ''}`;
}

const kindNames: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

function expectation(expected: string, value: unknown): string {
  const isBare = expected === 'string' && (typeof value === 'number' || typeof value === 'boolean');
  return `must be ${kindNames[expected] ?? `a ${expected}`}${isBare ? ': put it in quotes' : ''}`;
}

function choice(allowed: readonly string[], value: unknown): string {
  return `must be one of ${allowed.join(', ')}${typeof value === 'string' ? didYouMean(value, allowed) : ''}`;
}

/** Replaces an unavailable value, such as that of an unset variable, whose mistake is listed already. */
export const unreadable = Symbol('unreadable');

/** Settings as they were written, before they are checked, and where each was written. */
export interface Source {
  readonly raw: unknown;
  /** Absolute folder that paths in it are relative to. */
  readonly folder: string;
  locate(path: Path): Pick<Mistake, 'where' | 'line' | 'path'>;
  /** The end of a sentence about a missing setting: what may have been meant instead. */
  hint?(path: Path): string;
  /** Whether the value came out of a secret, though the setting is none. */
  isSecret?(path: Path): boolean;
}

/** Adds a mistake of the setting at this place; `name`: of its name, whatever its value is. */
export type Report = (path: Path, message: string, of?: 'name') => void;

/** A mistake at a place, with the value found there unless it is a secret. */
export function mistakeAt(source: Source, path: Path, message: string): Mistake {
  const value = valueAt(source.raw, path);
  const found = value === undefined ? undefined : showFound(source, path, value);
  return { ...source.locate(path), message, ...(found !== undefined && { found }) };
}

function showFound(source: Source, path: Path, value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (source.isSecret?.(path) || isSecretPlace(path) || hasCredentials(text, path)) return '[secret]';
  return JSON.stringify(typeof value === 'string' && text.length > 80 ? `${text.slice(0, 80)}…` : value);
}

function isSecretPlace(path: Path): boolean {
  const name = path.findLast((key) => typeof key === 'string');
  return settingAround(path)?.secret === true || (name !== undefined && soundsSecret(name));
}

/** Addresses carry credentials before an `@`, and the Leads service's might in a query. */
function hasCredentials(text: string, path: Path): boolean {
  return /:\/\/.*@/s.test(text) || (path.at(-1) === 'baseUrl' && /[@?#]/.test(text));
}

/** One wrong setting. Nothing in it is a secret: such values are shown as `[secret]`. */
export interface Mistake {
  /** The environment variable's name, or the file as it should be shown. */
  readonly where: string;
  /** 1-based line of the file. */
  readonly line?: number;
  /** The setting's place in the file, such as `connections.berlin.sync.schedule`; empty for a variable or the whole file. */
  readonly path: string;
  readonly found?: string;
  readonly message: string;
}

/** `message` is the list for people. */
export class ConfigError extends LeadsyncError {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`;
    super('config.invalid', `The configuration has ${count}:\n${mistakes.map(describeMistake).join('\n')}`, {
      help: 'Nothing was started, read or written. leadsync.example.yaml and docs/settings.md explain each setting.',
    });
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}

function describeMistake({ where, line, path, found, message }: Mistake): string {
  const place = `${where}${line === undefined ? '' : `:${line}`}${path === '' ? '' : ` ${path}`}`;
  return `  ${place}: ${message}${found === undefined ? '' : ` (found ${found})`}`;
}

/** Settings that leadsync had once, by their place or variable: what makes each needless, or what does the same. */
const former: Readonly<Record<string, string>> = {
  'connections.NAME.target.accessToken': 'set user and password, which every WebDAV server takes',
  'connections.NAME.target.dates': "leadsync writes a Google spreadsheet's own dates",
  'connections.NAME.target.drive': 'begin path with it: msgraph:DRIVE/PATH',
  'connections.NAME.target.marker': 'a mark always travels with the table (docs/which-is-which.md)',
  'connections.NAME.target.portal': 'leadsync finds the portal by the token',
  'connections.NAME.target.readsPerMinute': "leadsync keeps to Google's own quota",
  'connections.NAME.target.writesPerMinute': "leadsync keeps to Google's own quota",
  'connections.NAME.reminders.calendarFeed':
    'leadsync status --feeds gives each recipient a feed, and shows its address',
  'connections.NAME.reminders.caldavDone':
    'the follow-up stays when its entry is deleted or completed, and leadsync status --reminders lists it',
  'connections.NAME.reminders.dateOnlyAt': 'mails about a date without a time leave at 08:00',
  'connections.NAME.reminders.grace': 'a late mail is sent within 24 hours',
  'connections.NAME.reminders.onlyStages': 'skipStages names the stages that get no mails',
  'connections.NAME.reminders.onUnknown':
    'a mail of unknown outcome is sent once more, with the same Message-ID',
  'connections.NAME.reminders.webhookKind':
    'leadsync knows the chat by the address; Mattermost and Rocket.Chat take the form of Slack',
  'recipients.NAME.language': 'the mails of a connection have one language: reminders.language',
  'alerts.from':
    'alerts come from the sender of the reminders; without one (REMINDER_FROM), from the first of alerts.email',
  'alerts.noSuccessFor': 'an alert comes 2 hours after a sync was due by sync.schedule',
  DATABASE_POOL_MAX: 'leadsync finds out how many connections the database allows',
  MSGRAPH_CERTIFICATE: 'MSGRAPH_CLIENT_SECRET takes the private key and its certificate, too',
  MSGRAPH_DRIVE: 'begin TARGET with it: msgraph:DRIVE/PATH',
  MSGRAPH_LOGIN_URL: 'leadsync finds the login by MSGRAPH_URL',
  REDIS_PREFIX:
    'keys begin with leadsync:, and another leadsync on this Redis has a database of its own in REDIS_URL, such as /1',
  SMTP_RATE: 'leadsync sends as fast as the mail server takes',
  WEBDAV_TOKEN: 'set WEBDAV_USER and WEBDAV_PASSWORD, which every WebDAV server takes',
};

/** What is below these has a name of the user's own. */
const named: ReadonlySet<unknown> = new Set(['connections', 'recipients']);

/** The end of a message about a setting that is none any more; undefined: it never was one. */
export function noLongerSetting(place: Path | string): string | undefined {
  const key =
    typeof place === 'string'
      ? place
      : place.map((part, index) => (index === 1 && named.has(place[0]) ? 'NAME' : part)).join('.');
  return Object.hasOwn(former, key) ? `is no longer a setting: ${former[key]}` : undefined;
}

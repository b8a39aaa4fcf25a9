import { readFileSync } from 'node:fs';
import { codeOf } from '../lib/errors.ts';
import { isSharingLink, isWebAddress } from './addresses.ts';
import { type Mistake, noLongerSetting, type Source, unreadable } from './mistakes.ts';
import { nearestName } from '../core/lead/wording.ts';
import {
  fileSettings,
  type Path,
  processSettings,
  type Setting,
  settingAround,
  settingOf,
  settings,
  soundsSecret,
} from './settings.ts';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';

const readFaults: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'it, or a part of its path, is not a folder',
};

/** The end of a sentence. */
export function readFault(error: unknown): string {
  const code = codeOf(error) ?? 'unknown error';
  return readFaults[code] ?? code;
}

interface Found {
  readonly value: string;
  readonly isSecret: boolean;
}

/** The environment it is given, with `NAME_FILE` read. An empty variable counts as unset, as compose files leave them. */
export class Environment {
  readonly #env: NodeJS.ProcessEnv;
  readonly #mistakes: Mistake[];
  readonly #looked = new Map<string, Found | undefined | typeof unreadable>();
  readonly #files = new Map<string, string>();

  /** `mistakes`: the list to which it adds what is wrong with a variable that is read. */
  constructor(env: NodeJS.ProcessEnv, mistakes: Mistake[]) {
    this.#env = env;
    this.#mistakes = mistakes;
  }

  /** One of our own settings; undefined when it is unset. */
  get(name: string): string | undefined | typeof unreadable {
    if (settingOf(name)?.secret !== true) return this.plain(name);
    const looked = this.lookup(name);
    return typeof looked === 'object' ? looked.value : looked;
  }

  /** Any variable, also through `NAME_FILE`; undefined when it is unset. */
  lookup(name: string): Found | undefined | typeof unreadable {
    if (!this.#looked.has(name)) this.#looked.set(name, this.#look(name));
    return this.#looked.get(name);
  }

  plain(name: string): string | undefined {
    return this.#env[name] || undefined;
  }

  similar(name: string): string | undefined {
    const others = Object.keys(this.#env).filter(
      (other) => other !== name && this.plain(other) !== undefined,
    );
    return nearestName(name, others);
  }

  /** Whether a file that was read holds something else now. One that cannot be read for the moment does not count. */
  hasChanged(): boolean {
    return [...this.#files].some(([file, content]) => {
      try {
        return readFileSync(file, 'utf8') !== content;
      } catch {
        return false;
      }
    });
  }

  /** Variables that meant something once. */
  former(): readonly Mistake[] {
    return Object.keys(this.#env).flatMap((where) => {
      const message = this.plain(where) && noLongerSetting(where.replace(/_FILE$/, ''));
      return message ? [{ where, path: '', message }] : [];
    });
  }

  /** Unread variables that differ from an unset one of our own only in their `_`. Call it after all reads. */
  misspelled(): readonly Mistake[] {
    const names = Object.keys(this.#env);
    const ours = settings.flatMap(({ variable }) =>
      variable === undefined ? [] : [variable, `${variable}_FILE`],
    );
    return names.flatMap((where) => {
      const meant = ours.find((name) => withoutBars(name) === withoutBars(where) && !names.includes(name));
      if (meant === undefined || ours.includes(where) || this.#looked.has(where)) return [];
      return [{ where, path: '', message: `is no setting; did you mean ${meant}?` }];
    });
  }

  #look(name: string): Found | undefined | typeof unreadable {
    const value = this.plain(name);
    const file = this.plain(`${name}_FILE`);
    if (file === undefined) {
      const isSecret = settingOf(name)?.secret === true || soundsSecret(name);
      return value === undefined ? undefined : { value, isSecret };
    }
    if (value !== undefined) return this.#fail(name, `is set and so is ${name}_FILE: unset one of them`);
    const found = JSON.stringify(file);
    try {
      const read = readFileSync(file, 'utf8');
      this.#files.set(file, read);
      const content = read.replace(/[\r\n]+$/, '');
      if (content !== '') return { value: content, isSecret: true };
      return this.#fail(`${name}_FILE`, 'must name a file that holds the value; this one is empty', found);
    } catch (error) {
      return this.#fail(`${name}_FILE`, `must name a file that can be read; ${readFault(error)}`, found);
    }
  }

  #fail(where: string, message: string, found?: string): typeof unreadable {
    this.#mistakes.push({ where, path: '', message, ...(found !== undefined && { found }) });
    return unreadable;
  }
}

const withoutBars = (name: string): string => name.replaceAll('_', '');

type Raw = Readonly<Record<string, unknown>>;

/** Right below `place` (with dots), by their last key. */
function readVariables(environment: Environment, from: readonly Setting[], place: string): Raw {
  const start = place === '' ? '' : `${place}.`;
  return Object.fromEntries(
    from.flatMap(({ variable, place: at, list }) => {
      const key = at.startsWith(start) ? at.slice(start.length) : '.';
      const value = variable === undefined || key.includes('.') ? undefined : environment.get(variable);
      if (value === undefined) return [];
      return [[key, list === true && typeof value === 'string' ? splitList(value) : value]];
    }),
  );
}

function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function processSource(environment: Environment, cwd: string): Source {
  const read = (place: string) => readVariables(environment, processSettings, place);
  return sourceOf(environment, cwd, {
    ...read(''),
    http: read('http'),
    msgraph: read('msgraph'),
  });
}

/** The environment's one connection, `default`, its alerts and other settings. Paths are relative to `cwd`. */
export function connectionSource(environment: Environment, cwd: string): Source {
  const read = (place: string) => readVariables(environment, fileSettings, place);
  const reminders = read('connections.NAME.reminders');
  const isReminded = 'to' in reminders || 'webhook' in reminders;
  const alerts = read('alerts');
  const connection = {
    leads: read('connections.NAME.leads'),
    target: targetOf(read('connections.NAME.target')),
    sync: read('connections.NAME.sync'),
  };
  return sourceOf(environment, cwd, {
    ...read(''),
    connections: { default: isReminded ? { ...connection, reminders } : connection },
    ...(Object.keys(alerts).length > 0 && { alerts }),
  });
}

function sourceOf(environment: Environment, folder: string, raw: Raw): Source {
  const variableAt = (path: Path) =>
    settingAround(path)?.variable ?? (path[2] === 'target' ? 'TARGET' : 'environment');
  return {
    raw,
    folder,
    locate: (path) => ({ where: variableAt(path), path: '' }),
    hint: (path) => {
      const similar = environment.similar(variableAt(path));
      return similar === undefined ? '' : ` (${similar} is set: was it meant?)`;
    },
  };
}

/** TARGET as settings of leadsync.yaml; else a path or an address. What is secret stands in variables of its own. */
export function targetOf({ path, token, url, user, password, ...common }: Raw): Raw {
  if (typeof path !== 'string') return { type: 'workbook' };
  const [kind = '', rest] = path.split(/:(.*)/s);
  const type = kind.toLowerCase();
  if (path.startsWith('https://docs.google.com/spreadsheets/'))
    return { type: 'google-sheets', spreadsheet: path, ...common };
  if (type === 'google-sheets' && rest !== undefined) {
    const [spreadsheet, tab = ''] = isWebAddress(rest) ? [rest] : rest.split(/\/(.*)/s);
    return { type, spreadsheet, ...(tab !== '' && { tab }), ...common };
  }
  if (type === 'hubspot' && /^(companies)?$/i.test(rest ?? ''))
    return { type, ...(token !== undefined && { token }), ...common };
  if (type === 'postgres-table' && rest !== undefined)
    return { type, table: rest, ...(url !== undefined && { url }), ...common };
  const own = isWebAddress(path) && !isSharingLink(path) ? { user, password } : {};
  const set = Object.entries(own).filter(([, value]) => value !== undefined);
  return { type: 'workbook', path, ...Object.fromEntries(set), ...common };
}

/** Beside leadsync.yaml: variables for what is not in it, as NAME=value in lines. */
export const envFileName = 'leadsync.env';

export const isPath = (name: string): boolean =>
  name.endsWith('_FILE') || name === 'GOOGLE_APPLICATION_CREDENTIALS' || name === 'DATA_DIR';

/** The environment, and where it says nothing a leadsync.env in the folder, in which paths are relative to the folder. Adds to `mistakes`. */
export function withEnvFile(env: NodeJS.ProcessEnv, folder: string, mistakes: Mistake[]): NodeJS.ProcessEnv {
  const file = join(folder, envFileName);
  let content = '';
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT')
      mistakes.push({ where: file, path: '', message: `cannot be read: ${readFault(error)}` });
  }
  const found = Object.entries(parseEnv(content)).filter(([name]) => {
    // A variable and its _FILE variant override each other across sources; both in one source are a mistake.
    const bare = name.replace(/_FILE$/, '');
    return !env[bare] && !env[`${bare}_FILE`];
  });
  const added = found.map(([name, value = '']): [string, string] => [
    name,
    isPath(name) && value !== '' ? resolve(folder, value) : value,
  ]);
  return { ...env, ...Object.fromEntries(added) };
}

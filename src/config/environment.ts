import { readFileSync } from 'node:fs';
import type { Mistake } from './config-error.ts';
import { nearestName } from './nearest-name.ts';
import { settingOf, settings, soundsSecret } from './settings.ts';

const readFaults: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
};

/** Why a file could not be read, as the end of a sentence. */
export function readFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return readFaults[code] ?? code;
}

/** `failed`: it is set but cannot be used, and the mistake is in `mistakes` already. */
type Lookup =
  | { readonly status: 'found'; readonly value: string; readonly secret: boolean }
  | { readonly status: 'unset' }
  | { readonly status: 'failed' };

/** The environment it is given, with `NAME_FILE` read. An empty variable counts as unset, as compose files leave them. */
export class Environment {
  readonly #env: NodeJS.ProcessEnv;
  readonly #looked = new Map<string, Lookup>();
  readonly #mistakes: Mistake[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** What was wrong with the variables read so far. */
  get mistakes(): readonly Mistake[] {
    return this.#mistakes;
  }

  /** One of our own settings; undefined when unset or failed. */
  get(name: string): string | undefined {
    if (settingOf(name)?.secret !== true) return this.#plain(name);
    const looked = this.lookup(name);
    return looked.status === 'found' ? looked.value : undefined;
  }

  /** Any variable, also through `NAME_FILE`. */
  lookup(name: string): Lookup {
    const known = this.#looked.get(name);
    if (known !== undefined) return known;
    const looked = this.#look(name);
    this.#looked.set(name, looked);
    return looked;
  }

  /** Whether a variable, or its `NAME_FILE`, holds anything at all. */
  isSet(name: string): boolean {
    return this.lookup(name).status !== 'unset';
  }

  /** Whether a mistake of this variable is in `mistakes`. */
  isKnownBad(name: string): boolean {
    return this.#mistakes.some(({ where }) => where.replace(/_FILE$/, '') === name);
  }

  /** A variable that is set and whose name is close to one that is missing. */
  similar(name: string): string | undefined {
    const others = Object.keys(this.#env).filter(
      (other) => other !== name && this.#plain(other) !== undefined,
    );
    return nearestName(name, others);
  }

  /** Variables that were not read, written like one of ours that is unset but for its `_`. Call it last. */
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

  #look(name: string): Lookup {
    const value = this.#plain(name);
    const file = this.#plain(`${name}_FILE`);
    if (file === undefined) {
      if (value === undefined) return { status: 'unset' };
      return { status: 'found', value, secret: settingOf(name)?.secret === true || soundsSecret(name) };
    }
    if (value !== undefined) {
      return this.#fail(name, `is set and so is ${name}_FILE: unset one of them`);
    }
    try {
      const content = readFileSync(file, 'utf8').replace(/[\r\n]+$/, '');
      if (content !== '') return { status: 'found', value: content, secret: true };
      return this.#fail(`${name}_FILE`, 'must name a file that holds the value; this one is empty', file);
    } catch (error) {
      return this.#fail(`${name}_FILE`, `must name a file that can be read; ${readFault(error)}`, file);
    }
  }

  #fail(where: string, message: string, file?: string): Lookup {
    this.#mistakes.push({
      where,
      path: '',
      message,
      ...(file === undefined ? {} : { found: JSON.stringify(file) }),
    });
    return { status: 'failed' };
  }

  #plain(name: string): string | undefined {
    const value = this.#env[name];
    return value === '' ? undefined : value;
  }
}

const withoutBars = (name: string): string => name.replaceAll('_', '');

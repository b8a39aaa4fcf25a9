import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { codeOf } from '../lib/errors.ts';
import type { Mistake } from './config-error.ts';
import { readFault } from './environment.ts';

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

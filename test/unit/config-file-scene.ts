import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { ConfigError, type Mistake } from '../../src/config/mistakes.ts';
import { loadConfig } from '../../src/config/load.ts';

export const env = { LEADS_API_KEY: 'top-secret' };

type Options = { readonly env?: NodeJS.ProcessEnv; readonly at?: string; readonly file?: string };

/** Variables that are enough. */
export const minimal = {
  LEADS_BASE_URL: 'https://api.example.com/',
  LEADS_API_KEY: 'top-secret',
  TARGET: 'leads.csv',
};

/** A folder of its own for each test, and what an environment without a file comes to in it. */
export function environmentFolder() {
  const { folder } = configFolder();
  const load = (variables: NodeJS.ProcessEnv) => loadConfig({ env: variables, cwd: folder() });
  return { folder, load, mistakesOf: (variables: NodeJS.ProcessEnv) => mistakesIn(load(variables)) };
}

/** A folder of its own for each test of a file, and what a configuration file in it comes to. */
export function configFolder() {
  let cwd = '';
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'leadsync-config-'));
  });
  afterEach(() => rm(cwd, { recursive: true }));

  async function load(content: string | Uint8Array, options: Options = {}) {
    const path = join(cwd, options.at ?? 'leadsync.yaml');
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return loadConfig({
      env: options.env ?? env,
      cwd,
      ...(options.file === undefined ? {} : { file: options.file }),
    });
  }

  const mistakesOf = (...args: Parameters<typeof load>) => mistakesIn(load(...args));
  return { folder: () => cwd, load, mistakesOf };
}

/** What is wrong with a configuration that cannot be loaded; none of it is a secret. */
export async function mistakesIn(loading: Promise<unknown>): Promise<readonly Mistake[]> {
  const error = await loading.catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) throw new Error('a ConfigError was expected', { cause: error });
  expect(error.code).toBe('config.invalid');
  expect(JSON.stringify([error.message, error.mistakes, error.help])).not.toMatch(
    /secret-|top-secret|geheim/,
  );
  return error.mistakes;
}

/** A mistake in leadsync.yaml, as tests expect it; line 0: none. */
export function mistakeAt(line: number, path: string, message: string, found?: string) {
  return {
    where: 'leadsync.yaml',
    line,
    path,
    message: expect.stringContaining(message) as string,
    ...(found === undefined ? {} : { found }),
  };
}

/** Mistakes with line 0 for those that have none. */
export function withLines(mistakes: readonly Mistake[]) {
  return mistakes.map(({ line = 0, ...rest }) => ({ line, ...rest }));
}

/** A connection whose other settings are right. Lines: 1 connections, 2 a, 3 leads, 4 target, 5 what is added. */
export function connection(added: string, target = '{ type: workbook, path: a.csv }'): string {
  return `connections:\n  a:\n    leads: { baseUrl: https://api.example.com, apiKey: "\${LEADS_API_KEY}" }\n    target: ${target}\n${added}\n`;
}

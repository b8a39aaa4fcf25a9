import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { ConfigError, type Mistake } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load.ts';

export const env = { LEADS_API_KEY: 'top-secret' };

type Options = { readonly env?: NodeJS.ProcessEnv; readonly at?: string; readonly file?: string };

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

  async function mistakesOf(...args: Parameters<typeof load>): Promise<readonly Mistake[]> {
    const error = await load(...args).catch((thrown: unknown) => thrown);
    if (!(error instanceof ConfigError)) throw new Error('a ConfigError was expected', { cause: error });
    expect(JSON.stringify([error.message, error.mistakes])).not.toMatch(/top-secret|geheim/);
    return error.mistakes;
  }

  return { folder: () => cwd, load, mistakesOf };
}

/** A connection whose other settings are right. Lines: 1 connections, 2 a, 3 leads, 4 target, 5 what is added. */
export function connection(added: string, target = '{ type: workbook, path: a.csv }'): string {
  return `connections:\n  a:\n    leads: { baseUrl: https://api.example.com, apiKey: "\${LEADS_API_KEY}" }\n    target: ${target}\n${added}\n`;
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { mistakesIn } from './config-file-scene.ts';

export const to = 'to: [anna@example.com]';

/** A folder for each test of a file, and what loads a connection with reminders from there. */
export function reminderFiles() {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'leadsync-config-'));
  });
  afterEach(() => rm(cwd, { recursive: true }));

  /** The lines that are added begin with line 6. */
  async function load(lines: readonly string[], fields = '') {
    const content = `connections:
  a: ${fields === '' ? '' : `\n    fields: ${fields}`}
    leads: { baseUrl: https://x, apiKey: k }
    target: { type: workbook, path: a.csv }
    reminders:
${lines.map((line) => `      ${line}\n`).join('')}`;
    await writeFile(join(cwd, 'leadsync.yaml'), content.replace('  a: \n', '  a:\n'));
    return loadConfig({ env: {}, cwd });
  }

  const mistakesOf = (lines: readonly string[], fields = '') => mistakesIn(load(lines, fields));
  return { load, mistakesOf, folder: () => cwd };
}

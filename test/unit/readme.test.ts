import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { settingsTable } from '../../src/config/settings-table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = await readFile(join(root, 'README.md'), 'utf8');

describe('README.md', () => {
  test('the table of settings is what `npm run schema` writes now', () => {
    const [, table] = /<!-- settings:[^\n]*-->\n([\s\S]*?)<!-- \/settings -->/.exec(readme) ?? [];
    expect(table).toBe(settingsTable());
  });

  test('has each command of `leadsync --help`, and no other', async () => {
    const { stdout } = await promisify(execFile)(join(root, 'bin/leadsync.js'), ['--help']);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) (?:\[|<)/gm)].flatMap(([, name]) => name ?? []);
    const told = commands.filter((name) => name !== 'help').toSorted();
    expect(told.length).toBeGreaterThan(0);
    const table = section('Commands').split('| exit code')[0] ?? '';
    expect(firstWords(table, /^\| `([a-z]+)/gm)).toEqual(told);
    const used = firstWords(readme, /npx leadsync ([a-z]+)/g);
    expect(used.filter((name) => !told.includes(name))).toEqual([]);
  });

  test('has the exit codes of the contract (DESIGN 8)', () => {
    expect(firstWords(section('Commands'), /^\| (\d)/gm)).toEqual(['0', '1', '2', '3', '4']);
  });

  test('each npm script that it names is there', async () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
    const used = firstWords(readme, /npm run ([a-z:-]+)/g);
    expect(used.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('each file that it points to is there', () => {
    const linked = firstWords(readme, /\]\(([^)#:]+)\)/g);
    const named = firstWords(readme, /`((?:src|test|jobs|bin)\/[\w./-]+\.(?:ts|js))`/g);
    expect([...linked, ...named].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('each promise names tests that exist, or says that there is none', async () => {
    const rows = section('Promises')
      .split('\n')
      .filter((line) => line.startsWith('| **'));
    expect(rows).toHaveLength(8);
    for (const row of rows) {
      const named = [...row.matchAll(/`(test\/[\w./-]+)`: "([^"]+)"/g)];
      if (named.length === 0) expect(row).toMatch(/\| no test yet \|$/);
      for (const [, path, title] of named) {
        expect(await readFile(join(root, path ?? ''), 'utf8'), path).toContain(`'${title}'`);
      }
    }
  });
});

function section(title: string): string {
  return readme.split(/^## /m).find((part) => part.startsWith(title)) ?? '';
}

function firstWords(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap(([, word]) => word ?? []))].toSorted();
}

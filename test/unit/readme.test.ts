import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { settingsTable } from '../../src/config/settings-table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const readme = await page('README.md');
const commands = await page('docs/commands.md');
const folders = ['docs', 'bench'] as const;
const pages = [
  'README.md',
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : [])),
  ),
];
const texts = new Map(await Promise.all(pages.map(async (path) => [path, await page(path)] as const)));

describe('README.md and docs', () => {
  test('the front door has at most 150 lines', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(151);
  });

  test('the table of settings is what `npm run schema` writes now', () => {
    const [, table] =
      /<!-- settings:[^\n]*-->\n([\s\S]*?)<!-- \/settings -->/.exec(texts.get('docs/settings.md') ?? '') ??
      [];
    expect(table).toBe(settingsTable());
  });

  test('has each command of `leadsync --help`, and no other', async () => {
    const { stdout } = await promisify(execFile)(join(root, 'bin/leadsync.js'), ['--help']);
    const offered = [...stdout.matchAll(/^ {2}([a-z-]+) (?:\[|<)/gm)].flatMap(([, name]) => name ?? []);
    const told = offered.filter((name) => name !== 'help').toSorted();
    expect(told.length).toBeGreaterThan(0);
    const table = commands.split('| exit code')[0] ?? '';
    expect(firstWords(table, /^\| `([a-z-]+)/gm)).toEqual(told);
    const used = firstWords([...texts.values()].join('\n'), /npx leadsync ([a-z-]+)/g);
    expect(used.filter((name) => !told.includes(name))).toEqual([]);
  });

  test('has the exit codes of the contract (docs/architecture.md 8)', () => {
    expect(firstWords(commands, /^\| (\d)/gm)).toEqual(['0', '1', '2', '3', '4']);
  });

  test('each npm script that it names is there', async () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
    const used = firstWords([...texts.values()].join('\n'), /npm run ([a-z:-]+)/g);
    expect(used.filter((name) => !(name in scripts))).toEqual([]);
  });

  test.each(pages)('%s points to files that are there', (path) => {
    const text = texts.get(path) ?? '';
    const linked = firstWords(text, /\]\(([^)#:]+)[^):]*\)/g).map((link) => join(dirname(path), link));
    const named = firstWords(text, /`((?:src|test|jobs|bin)\/[\w./-]+\.(?:ts|js))`/g);
    expect([...linked, ...named].filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test('each promise names tests that exist, or says that there is none', async () => {
    const rows = (texts.get('docs/promises.md') ?? '').split('\n').filter((line) => line.startsWith('| **'));
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

function firstWords(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap(([, word]) => word ?? []))].toSorted();
}

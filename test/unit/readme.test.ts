import { execFile } from 'node:child_process';
import { existsSync, globSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { commandsTable } from '../docs/commands-table.ts';
import { metricsTable } from '../docs/metrics-table.ts';
import { settingsTable } from '../docs/settings-pages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const readme = await page('README.md');
const commands = await page('docs/commands.md');
const folders = ['docs', 'bench'] as const;
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : [])),
  ),
];
/** A test as pages name it: file and title. */
const testOfPage = /`(test\/[\w./-]+)`: "([^"]+)"/g;
const texts = new Map(await Promise.all(pages.map(async (path) => [path, await page(path)] as const)));

describe('README.md and docs', () => {
  test('the front door has at most 150 lines and 10 kB', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(151);
    expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(10_000);
  });

  test('the table of settings is what `npm run schema` writes now', () => {
    const [, table] =
      /<!-- settings:[^\n]*-->\n([\s\S]*?)<!-- \/settings -->/.exec(texts.get('docs/settings.md') ?? '') ??
      [];
    expect(table).toBe(settingsTable());
  });

  test('the tables of commands and metrics are what `npm run docs` writes now', async () => {
    const table = /<!-- table:[^\n]*-->\n([\s\S]*?)<!-- \/table -->/;
    expect(table.exec(commands)?.[1]).toBe(commandsTable());
    expect(table.exec(texts.get('docs/monitoring.md') ?? '')?.[1]).toBe(await metricsTable());
  });

  test('has each command of `leadsync --help`, and no other', async () => {
    const { stdout } = await promisify(execFile)(join(root, 'bin/leadsync.js'), ['--help']);
    const offered = [...stdout.matchAll(/^ {2}([a-z-]+) (?:\[|<)/gm)].flatMap(([, name]) => name ?? []);
    const told = offered.filter((name) => name !== 'help').toSorted();
    expect(told.length).toBeGreaterThan(0);
    const table = commands.split('| exit code')[0] ?? '';
    expect(firstWords(table, /^\|`([a-z-]+)/gm)).toEqual(told);
    const used = firstWords([...texts.values()].join('\n'), /npx leadsync ([a-z-]+)/g);
    expect(used.filter((name) => !told.includes(name))).toEqual([]);
  });

  test('has the exit codes of the contract (docs/architecture.md 8)', () => {
    expect(firstWords(commands, /^\| (\d+)/gm)).toEqual(['0', '1', '130', '2', '3', '4']);
  });

  test('each npm script that it names is there', async () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
    const used = firstWords([...texts.values()].join('\n'), /npm run ([a-z:-]+)/g);
    expect(used.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('docs/architecture.md says of each package that the sources import what it is for', async () => {
    const sources = await Promise.all(
      globSync('{src,jobs}/**/*.ts', { cwd: root }).map((path) => readFile(join(root, path), 'utf8')),
    );
    const imported = firstWords(
      sources.join('\n'),
      /(?:^import .*from |^\} from |\bimport\()'((?:@[\w-]+\/)?[\w.-]+)[^:']*'/gm,
    ).filter((name) => !name.startsWith('.') && name !== 'node');
    expect(imported).toContain('hono');
    const table = firstWords(
      texts.get('docs/architecture.md')?.split('## 9. Built on')[1] ?? '',
      /`([^`]+)`/g,
    );
    expect(imported.filter((name) => !table.includes(name))).toEqual([]);
  });

  test.each(pages)('%s points to files, headings and tests that are there', async (path) => {
    const text = texts.get(path) ?? '';
    const links = [...text.matchAll(/\]\(([^)#:]*)(?:#([^)]+))?\)/g)].map(([, file = '', heading]) => ({
      file: file === '' ? path : join(dirname(path), file),
      heading,
    }));
    const named = firstWords(text, /`((?:src|test|jobs|bin)\/[\w./-]+\.(?:ts|js))`/g);
    const files = [...links.map(({ file }) => file), ...named];
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    const lost = links.filter(
      ({ file, heading }) => heading !== undefined && !anchors(texts.get(file) ?? '').includes(heading),
    );
    expect(lost).toEqual([]);
    for (const [, file, title] of text.matchAll(testOfPage)) {
      expect(await page(file ?? ''), file).toContain(`'${title}'`);
    }
  });

  test('each of the eight promises names tests', () => {
    const [, ...promises] =
      (texts.get('docs/guarantees.md') ?? '').split('## How this is proven')[0]?.split(/^## \d\. /m) ?? [];
    expect(promises).toHaveLength(8);
    expect(promises.filter((promise) => promise.match(testOfPage) === null)).toEqual([]);
  });
});

/** The headings of a page as links name them. */
function anchors(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function firstWords(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap(([, word]) => word ?? []))].toSorted();
}

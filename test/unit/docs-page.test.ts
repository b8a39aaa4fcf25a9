import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { docsPage, docsPages } from '../../src/cli/docs-page.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Texts of this form in the sources that are no errors of a command, and errors with which no page helps. */
const withoutPage = new Set(
  [
    // A signal ended the command.
    'process init',
    // Of settings.
    'alerts',
    // Of a reply or a page, of a run that goes on, or of a library.
    'auth request create conflict delete commander',
    // Names of files, parts of templates, columns and hosts.
    'leadsync calendar digest reminder discord discordapp powerplatform service server leases c e p v x follow-up ical icon',
    'live style postmaster service-account no-host',
  ].flatMap((words) => words.split(' ')),
);

test('each family of codes has a page, or is here among those that have none', () => {
  const sources = globSync('{src,jobs}/**/*.ts', { cwd: root }).filter(
    (path) => !path.endsWith('docs-page.ts'),
  );
  const isFile = (text: string): boolean => text.endsWith('.json');
  const texts = sources.flatMap((path) =>
    [...read(path).matchAll(/'([a-z][a-z0-9-]*\.[a-z][a-z0-9-]*[a-z0-9])'/g)].map(([, code = '']) => code),
  );
  const [pages = [], codes = []] = [true, false].map((isPage) =>
    texts.filter((one) => one.endsWith('.md') === isPage && !isFile(one)),
  );
  expect(pages.filter((page) => !existsSync(join(root, 'docs', page)))).toEqual([]);
  expect(codes).toContain('config.missing');
  const unknown = codes.filter(
    (code) => docsPage(code) === null && !withoutPage.has(code.split('.')[0] ?? ''),
  );
  expect([...new Set(unknown)]).toEqual([]);
  const listed = Object.keys(docsPages).filter((key) => key.includes('.') && !codes.includes(key));
  expect(listed).toEqual([]);
});

test.each([...new Set(Object.values(docsPages))])('docs/%s is there', (page) => {
  const [file = '', anchor] = page.split('#');
  const headings = [...read(`docs/${file}`).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  expect(anchor === undefined || headings.includes(anchor)).toBe(true);
});

test('the tests that docs/security.md names are there', () => {
  const items = read('docs/security.md').match(/^- .*(?:\n {2}.*)*/gm) ?? [];
  const named = items.flatMap((item) =>
    [...(/: ((?:`[\w-]+`(?:,\s+)?)+)$/.exec(item)?.[1] ?? '').matchAll(/`([\w-]+)`/g)].map(
      ([, name = '']) => name,
    ),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => globSync(`test/**/${name}.test.ts`, { cwd: root }).length === 0)).toEqual([]);
});

test('a code goes before its family; a code of neither has no page', () => {
  expect(docsPage('database.lost')).toBe('docs/operations.md#when-the-database-or-redis-is-away');
  expect(docsPage('database.disk-full')).toBe('docs/operations.md#postgres');
  expect(docsPage('internal')).toBeNull();
});

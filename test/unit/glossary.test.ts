import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const rows = [...read('docs/glossary.md').matchAll(/^- \*\*(.+?)\*\* \(`([^`]+)`\): (.+)$/gm)];

test('the glossary has at most 40 terms, each once', () => {
  const terms = rows.flatMap(([, term = '']) => term.split(', '));
  expect(terms.length).toBeGreaterThan(20);
  expect(terms.length).toBeLessThanOrEqual(40);
  expect(terms).toEqual([...new Set(terms)]);
});

test('each line of its list is a term with a file that is there', () => {
  const lines = read('docs/glossary.md').match(/^- /gm) ?? [];
  expect(rows.length).toBe(lines.length);
  expect(rows.map(([, , path = '']) => path).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('a term is no name of anything else: a digest is a mail, deferred is an action, apart is a row or the answer to a match', () => {
  const named = (word: RegExp, ...folders: readonly string[]) =>
    folders
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
          join(folder, path),
        ),
      )
      .filter((path) => path.endsWith('.ts') && word.test(read(path)));
  // That of a hash is the word of node:crypto.
  expect(named(/digest(?!\('(?:hex|base64url)'\))/i, 'src/ports', 'src/targets', 'src/sync')).toEqual([]);
  expect(named(/defer(?!\()/i, 'src/leads-api', 'src/http', 'src/queue', 'src/worker')).toEqual([]);
  expect(named(/apart[A-Z]/, 'src/core', 'src/review', 'src/store')).toEqual([]);
});

test('each file that a recipe names is there', () => {
  const [, recipes = ''] = /^## Recipes$([\s\S]*?)^## /m.exec(read('CONTRIBUTING.md')) ?? [];
  const named = [...recipes.matchAll(/`([\w./-]+\.(?:ts|liquid|yaml|md))`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(30);
  const names = new Set(
    ['src', 'test'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => basename(path)),
    ),
  );
  expect(named.filter((name) => !existsSync(join(root, name)) && !names.has(name))).toEqual([]);
});

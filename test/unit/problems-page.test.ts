import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyCodes } from '../../src/core/merge/older-copy.ts';
import { guardCodes } from '../../src/core/merge/guard.ts';
import { families, problemsPage } from '../docs/problems-page.ts';

const root = join(import.meta.dirname, '../..');
const listed = families.flatMap(({ codes }) => Object.keys(codes));

/** The first words of codes. `auth` and `request` are words of the sandbox's own replies. */
const firstWords = new Set(listed.map((code) => code.split('.', 1)[0] ?? ''));

const sources = globSync('{src,jobs}/**/*.ts', { cwd: root }).map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}));

/** Texts of the form of a code that are names of files, templates or pages. */
const noCodes = /\.(?:md|ts|js|xlsx|csv|yaml|chat|key)$/;

/** Codes that are put together of a word and one of several: where, and of what. */
const composed: Readonly<Record<string, (text: string) => readonly string[]>> = {
  'src/cli/plan-file.ts usage.plan-': (text) => all(text, /refused\(\s*'([a-z-]+)'/g),
  'src/sync/report.ts receipt.': () => ['changed', 'unexplained'],
  'src/sync/report.ts guard.': () => [
    ...guardCodes,
    ...Object.values(copyCodes),
    ...all(textOf('src/sync/run.ts'), /\['([a-z.-]+)', null\]/g),
  ],
  'src/sync/requested-edits.ts edit.': () => ['conflict', 'failed'],
};

const all = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);
const textOf = (path: string): string => sources.find((one) => one.path === path)?.text ?? '';

test('docs/problems.md is what `npm run docs` writes now', () => {
  expect(readFileSync(join(root, 'docs/problems.md'), 'utf8')).toBe(problemsPage());
});

test('each code of the sources is on the page, and the page has no other', () => {
  const written = sources.flatMap(({ path, text }) =>
    all(text, /'([a-z]+(?:-[a-z]+)*\.[a-z]+(?:-[a-z]+)*)'/g).filter(
      (code) => !noCodes.test(code) && !path.endsWith('docs-page.ts'),
    ),
  );
  const templates = sources.flatMap(({ path, text }) =>
    all(text, /`([a-z-]+\.(?:[a-z]+-)?)\$\{/g)
      .filter((start) => firstWords.has(start.split('.', 1)[0] ?? ''))
      .map((start) => ({ key: `${path} ${start}`, start, text })),
  );
  const parts = templates.flatMap(({ key, start, text }) => {
    const words = composed[key]?.(text) ?? [];
    return words.length === 0 ? [`${key}: of which words?`] : words.map((word) => `${start}${word}`);
  });
  const placeNotes = all(textOf('src/sync/which-place.ts'), /note\('([a-z-]+)'/g).map(
    (code) => `place.${code}`,
  );
  const codes = new Set([
    ...written.filter((code) => firstWords.has(code.split('.', 1)[0] ?? '')),
    ...parts,
    ...placeNotes,
    'internal',
  ]);
  expect([...codes].filter((code) => !listed.includes(code))).toEqual([]);
  expect(listed.filter((code) => !codes.has(code))).toEqual([]);
});

test('no code stands twice, and each has a meaning and advice', () => {
  expect(listed.filter((code, index) => listed.indexOf(code) !== index)).toEqual([]);
  const texts = families.flatMap(({ codes }) => Object.values(codes).flat());
  expect(texts.filter((text) => !/^\W?[\p{Lu}\d`-].*[.…?]$/u.test(text))).toEqual([]);
});

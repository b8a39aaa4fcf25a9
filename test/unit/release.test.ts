import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { checkTag, releaseNotes } from '../../deploy/release-notes.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('the notes of a release', () => {
  const changelog = [
    '# Changelog',
    '## [Unreleased]',
    '- Later.',
    '## [0.2.0] - 2026-12-01',
    '',
    '### Added',
    '- Chat ([docs/chat.md](docs/chat.md#slack), [Slack](https://slack.com), [below](#x)).',
    '',
    '## [0.2.0-rc.1] - 2026-11-30',
    '- A candidate.',
    '## [0.1.0]',
    '- No date.',
    '## [0.0.1] - 2026-01-01',
    '',
    '[0.2.0]: https://example.com/compare',
  ].join('\n');
  const repository = 'https://github.com/acme/leadsync';

  test('are the section of its version, with addresses in place of paths', () => {
    expect(releaseNotes(changelog, 'v0.2.0', repository)).toBe(
      '### Added\n- Chat ([docs/chat.md](https://github.com/acme/leadsync/blob/v0.2.0/docs/chat.md#slack), ' +
        '[Slack](https://slack.com), [below](#x)).\n',
    );
    expect(releaseNotes(changelog, 'v0.2.0-rc.1', repository)).toBe('- A candidate.\n');
  });

  test.each([
    ['v0.3.0', 'CHANGELOG.md has no section "## [0.3.0]"'],
    ['v0.2', 'CHANGELOG.md has no section "## [0.2]"'],
    ['v0.1.0', 'CHANGELOG.md must head it "## [0.1.0] - YYYY-MM-DD", not "## [0.1.0]"'],
    ['v0.0.1', 'CHANGELOG.md says nothing about 0.0.1'],
  ])('%s: %s', (tag, message) => {
    expect(() => releaseNotes(changelog, tag, repository)).toThrow(message);
  });

  test('a tag is the version of package.json', () => {
    checkTag('v0.1.0', '0.1.0');
    for (const tag of ['0.1.0', 'v0.1.1', 'v0.1.0-rc.1', ''])
      expect(() => checkTag(tag, '0.1.0')).toThrow(tag);
  });
});

const step = z.strictObject({
  name: z.string().optional(),
  id: z.string().optional(),
  if: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  run: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
});
const job = z.looseObject({
  permissions: z.record(z.string(), z.enum(['read', 'write'])),
  'timeout-minutes': z.number().optional(),
  uses: z.string().optional(),
  steps: z.array(step).default([]),
});
const workflow = z.looseObject({
  // Nothing, unless a job says what it needs.
  permissions: z.strictObject({}),
  jobs: z.record(z.string(), job),
});
const files = globSync('.github/workflows/*.{yml,yaml}', { cwd: root });

test('there are workflows for changes, releases, each week, and what GitHub and OpenSSF find', () => {
  expect(files.toSorted()).toEqual(
    ['ci', 'codeql', 'release', 'scorecard', 'weekly'].map((name) => `.github/workflows/${name}.yml`),
  );
});

describe.each(files)('%s', (file) => {
  const text = read(file);
  const jobs = Object.entries(workflow.parse(parse(text)).jobs);
  const steps = jobs.flatMap(([, { steps: own }]) => own);

  test('takes each action by its full commit hash, and says which version that is', () => {
    const uses = [...text.matchAll(/^[ -]*uses: *(.*)$/gm)].map(([, value = '']) => value);
    expect(uses).toHaveLength(
      steps.filter((each) => each.uses).length + jobs.filter(([, each]) => each.uses).length,
    );
    const pinned = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(uses.filter((value) => !value.startsWith('./') && !pinned.test(value))).toEqual([]);
  });

  test('writes only where its subject is to publish, and no job can last for hours', () => {
    for (const [name, { permissions, steps: own, 'timeout-minutes': minutes }] of jobs) {
      const isPublishing = file.endsWith('release.yml') && ['image', 'npm', 'page'].includes(name);
      // What an analysis found is published on a page of the repository, and nowhere else.
      const written = Object.keys(permissions).filter((what) => permissions[what] === 'write');
      const isAnalysis = /(?:codeql|scorecard)\.yml$/.test(file) && written.join() === 'security-events';
      expect(isPublishing || isAnalysis || written.length === 0, name).toBe(true);
      expect(own.length === 0 || (minutes ?? 360) <= 60, name).toBe(true);
    }
  });

  test('publishes what other jobs have built: who may publish runs nothing of the repository', () => {
    for (const [name, { permissions, steps: own }] of jobs) {
      if (permissions['id-token'] !== 'write' && permissions['contents'] !== 'write') continue;
      const commands = own.map(({ run = '', uses = '' }) => `${uses} ${run}`).join('\n');
      expect(commands, name).not.toMatch(/checkout@|build-push|npm (?:ci|install|pack|run)|npx /);
    }
  });

  test('leaves no token of the repository in a clone', () => {
    const clones = steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'));
    expect(clones.filter((each) => each.with?.['persist-credentials'] !== false)).toEqual([]);
  });

  test('puts nothing of an event into a shell', () => {
    expect(steps.filter(({ run = '' }) => run.includes('${{'))).toEqual([]);
  });

  test('runs scripts and files that are there', () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')));
    const runs = steps.flatMap(({ run = '' }) => run).join('\n');
    const named = [...runs.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    const paths = [...runs.matchAll(/(?:^|\s)((?:\.ci|\.github|deploy|test)\/[\w./*-]+)/g)].map(
      ([, path = '']) => path,
    );
    expect(paths.filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([]);
  });
});

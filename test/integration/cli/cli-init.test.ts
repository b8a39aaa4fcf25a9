import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { CliProcess, type CliResult } from '../../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';

let sandbox: Sandbox;
let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  sandbox = await startSandbox({ leads: 3 });
  database = await createTestDatabase();
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await database.drop();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leadsync-init-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const env = () => ({
  PATH: process.env['PATH'],
  HOME: folder,
  DATABASE_URL: database.url,
  TZ: 'Europe/Berlin',
});
const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<CliResult> =>
  new CliProcess(args, { cwd: folder, env: { ...env(), ...more } }).ended;
const found = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();

describe('without a terminal', () => {
  test('all missing answers are named at once, with their options: 2, and nothing is written', async () => {
    const { code, stderr, stdout } = await run(['init', '--target', 'hubspot']);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(
      /^leadsync: 6 answers are missing, .* nothing was written \[usage\.init-missing\]$/m,
    );
    expect([...stderr.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, flag]) => flag)).toEqual([
      '--leads-url',
      '--leads-key-file',
      '--hubspot-token-file',
      '--schedule',
      '--time-zone',
      '--remind',
      '--yes',
    ]);
    expect(found()).toEqual([]);
  });

  test('from options alone to the first plan; then a file is never written over', async () => {
    mkdirSync(join(folder, '.git'));
    writeFileSync(
      join(folder, 'kunden.csv'),
      'Lead ID;Firma;Ort;Status;Nächster Kontakt\r\n;Weber KG;Kassel;neu;2027-01-05\r\n',
    );
    const args = [
      'init',
      '--leads-url',
      sandbox.url,
      '--target',
      'kunden.csv',
      '--remind',
      'anna@example.com',
      '--yes',
    ];
    const first = await run(args, { LEADS_API_KEY: sandbox.apiKey });
    expect(first.stdout, first.stderr).toContain('Not sure, so left out: stage.\n--map "stage=Status"');
    expect(first.stdout).toMatch(/ok {4}default: target: .*1 row/);
    expect(first.stdout).toMatch(/default: plan 1: 3 leads, 1 row, 4 actions[^]*npx leadsync sync\n/);
    expect(first.code).toBe(0);
    expect(found().filter((name) => !/^(data|\.git)($|\/)/.test(name))).toEqual([
      '.gitignore',
      'kunden.csv',
      'leadsync.env',
      'leadsync.yaml',
      'secrets',
      'secrets/leads-api-key',
    ]);
    expect(readFileSync(join(folder, 'leadsync.yaml'), 'utf8')).toContain('timeZone: Europe/Berlin');
    // What it wrote is all that another command needs.
    expect((await run(['plan', '--json'])).json()).toMatchObject({ connection: 'default' });

    const before = readFileSync(join(folder, 'leadsync.yaml'));
    const again = await run([...args, '--map', 'stage=Status'], { LEADS_API_KEY: sandbox.apiKey });
    expect(again.code).toBe(2);
    expect(again.stderr).toMatch(/leadsync\.yaml is in .* already.*\[usage\.init-exists\][^]*stage: Status/);
    expect(readFileSync(join(folder, 'leadsync.yaml'))).toEqual(before);
  });
});

test('on a terminal Ctrl-C at a question ends it, and leaves nothing behind', {
  tags: 'script',
}, async () => {
  const bin = fileURLToPath(new URL('../../../bin/leadsync.js', import.meta.url));
  const command = `stty cols 100 rows 40; ${process.execPath} --max-semi-space-size=16 ${bin} init --leads-url ${sandbox.url}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: folder,
    env: { ...env(), TERM: 'xterm' },
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  await until('the key is asked for', async () => shown.includes('Key of the Leads service'));
  child.stdin.write(`${sandbox.apiKey}\r`);
  await until('the place is asked for', async () => shown.includes('Where does the team keep its table?'));
  child.stdin.write('\x03');
  const [code] = (await once(child, 'close')) as [number];
  expect(shown).toContain('stopped by Ctrl-C: nothing was written [process.stopped]');
  expect(shown).not.toContain(sandbox.apiKey);
  expect([code, found()]).toEqual([130, []]);
});

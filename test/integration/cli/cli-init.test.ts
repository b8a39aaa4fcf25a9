import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import writeExcelFile from 'write-excel-file/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/demo/sandbox.ts';
import { CliProcess, type CliResult } from '../../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { Terminal } from '../../support/terminal.ts';
import { until } from '../../support/until.ts';

let sandbox: Sandbox;
let database: TestDatabase;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'leadsync-init-'));
  sandbox = await startSandbox({ leads: 3 });
  database = await createTestDatabase();
});
afterEach(async () => {
  await sandbox[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const env = () => ({
  PATH: process.env['PATH'],
  HOME: folder,
  DATABASE_URL: database.url,
  TZ: 'Europe/Berlin',
});
const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<CliResult> =>
  new CliProcess(args, { cwd: folder, env: { ...env(), ...more } }).ended;
const found = () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
const key = () => ({ LEADS_API_KEY: sandbox.apiKey });

describe('without a terminal', () => {
  test('all missing answers are named at once, with their options: 2, and nothing is written', async () => {
    const { code, stderr, stdout } = await run(['init', '--target', 'hubspot']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /^leadsync: 3 answers are missing, .* nothing was written \[usage\.init-missing\]$/m,
    );
    expect([...stderr.matchAll(/^ {2}(?!More)([\w-]+)/gm)].map(([, flag]) => flag)).toEqual([
      '--leads-url',
      '--leads-key-file',
      'HUBSPOT_TOKEN',
    ]);
    expect(found()).toEqual([]);
  });

  test.each([
    ['a key that is refused', 4, 'leads.unauthenticated', { LEADS_API_KEY: 'wrong' }, 'new.csv'],
    ['a service that is away', 1, 'leads.unreachable', { LEADS_BASE_URL: 'http://127.0.0.1:9' }, 'new.csv'],
    ['a file that is no table', 2, 'usage.init-answer', {}, 'broken.xlsx'],
  ])('%s: %i', async (_, code, name, more, target) => {
    writeFileSync(join(folder, 'broken.xlsx'), 'no zip');
    const args = ['init', '--target', target, '--remind', 'none'];
    const refused = await run(args, { LEADS_BASE_URL: sandbox.url, ...key(), ...more });
    expect([refused.code, refused.stderr.match(/\[([\w.-]+)\]$/m)?.[1]]).toEqual([code, name]);
    expect(found()).toEqual(['broken.xlsx']);
  });

  test('from options alone to the first plan; then a file is never written over', async () => {
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
    ];
    const first = await run(args, key());
    expect(first.stdout, first.stderr).toContain('(not sure: --map "stage=Status")');
    expect(first.stdout).toMatch(/default: plan 1: 3 leads, 1 row, 4 actions[^]*npx leadsync sync\n/);
    expect(first.code).toBe(0);
    expect(found().filter((name) => !/^data(\/|$)/.test(name))).toEqual([
      'kunden.csv',
      'leadsync.env',
      'leadsync.yaml',
      'secrets',
      'secrets/.gitignore',
      'secrets/leads-api-key',
    ]);
    const yaml = readFileSync(join(folder, 'leadsync.yaml'), 'utf8');
    expect(yaml).toContain('timeZone: Europe/Berlin');
    expect(yaml).toMatch(/^ +onLeadDeleted: ask\n +onRowDeleted: ask$/m);
    expect(first.stdout).toMatch(/^Deletes ask first: npx leadsync conflicts/m);
    // What it wrote is all that another command needs.
    expect((await run(['plan', '--json'])).json()).toMatchObject({ connection: 'default' });

    const before = readFileSync(join(folder, 'leadsync.yaml'));
    const again = await run([...args, '--map', 'stage=Status'], key());
    expect(again.code).toBe(2);
    expect(again.stderr).toMatch(
      /already there, with other content: leadsync\.yaml; nothing.*\[usage\.init-exists\][^]*stage: Status/,
    );
    expect(readFileSync(join(folder, 'leadsync.yaml'))).toEqual(before);
  });

  test('a missing id column: its cell is named, and --yes writes the heading there', async () => {
    const file = join(folder, 'kunden.csv');
    writeFileSync(file, 'Kundennr.;Firma\r\nK-1;Weber KG\r\n');
    const args = ['init', '--leads-url', sandbox.url, '--target', 'kunden.csv'];
    const first = await run(args, key());
    expect([first.code, found()]).toEqual([2, ['kunden.csv']]);
    expect(first.stderr).toMatch(/\[usage\.init-missing\][^]*write "Lead ID" into C1, or --yes does it/);
    const second = await run([...args, '--yes', '--json'], key());
    expect(second.json(), second.stderr).toMatchObject({
      written: [
        'the heading "Lead ID" in kunden.csv',
        'secrets/leads-api-key',
        'leadsync.env',
        'leadsync.yaml',
      ],
    });
    expect(readFileSync(file, 'utf8')).toBe('Kundennr.;Firma;Lead ID\r\nK-1;Weber KG;\r\n');
  });
});

/** A person at a terminal: waits for each text that is shown anew, and types. */
async function play(line: string, ...turns: readonly (readonly [shown: string, keys: string])[]) {
  await using terminal = new Terminal(`$leadsync ${line}`, { cwd: folder, env: env() });
  let seen = 0;
  for (const [text, keys] of turns) {
    await until(`${text} is shown`, async () => terminal.shown.includes(text, seen));
    seen = terminal.shown.length;
    terminal.type(keys);
  }
  const code = await terminal.ended();
  expect(terminal.shown).not.toContain(sandbox.apiKey);
  return { code, shown: terminal.shown };
}

const esc = '\u001B';
const ctrlC = '\u0003';

describe('on a terminal', { tags: 'script' }, () => {
  test('Ctrl-C at a question ends it, and leaves nothing behind', async () => {
    const { code, shown } = await play(
      `init --leads-url ${sandbox.url}`,
      ['Key of the Leads service', `${sandbox.apiKey}\r`],
      ['The table:', ctrlC],
    );
    expect(shown).toContain('stopped by Ctrl-C: nothing was written [process.stopped]');
    expect([code, found()]).toEqual([130, []]);
  });

  test('from the first question to the first sync, with a step back and a heading for the ids', async () => {
    const texts = (...row: string[]) => row.map((value) => ({ value, type: String }));
    const data = [
      texts('Kundenliste'),
      [],
      texts('Kundennr.', 'Firma', 'Wiedervorlage'),
      texts('K-1', 'Weber KG', '05.01.2027'),
      texts('K-2', 'Autohaus Winter', '06.01.2027'),
    ];
    await writeExcelFile([{ sheet: 'Kunden', data }] as never).toFile(join(folder, 'Kunden.xlsx'));
    const own = `--name own --leads-url ${sandbox.url}`;
    const first = await play(
      `init ${own}`,
      ['Key of the Leads service', `${sandbox.apiKey}\r`],
      ['Where does the team keep its table?', '\r'],
      ['Where are the ids?', '\r'],
      ['Is this right?', esc],
      ['write "Lead ID" into D3', '\r'],
      ['Is this right?', '\r'],
      ['Who gets reminders', '\r'],
      ['Carry it out? [y/N]', ctrlC],
    );
    expect(first.shown).toMatch(
      /stopped by Ctrl-C: the heading "Lead ID" in Kunden\.xlsx, secrets\/leads-api-key, leadsync\.env, leadsync\.yaml stay/,
    );
    expect(first.code).toBe(130);

    const second = await play(
      `init ${own} --map companyName=Firma --yes`,
      ['Key of the Leads service', `${sandbox.apiKey}\r`],
      ['Where does the team keep its table?', '\r'],
      ['Carry it out? [y/N]', 'y\n'],
    );
    expect(second.shown).toMatch(/created {2}2 leads, 3 rows[^]*worker/);
    expect(second.code).toBe(0);
    expect(existsSync(join(folder, 'data/.gitignore'))).toBe(true);
  });
});

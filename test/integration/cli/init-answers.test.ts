import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import writeExcelFile from 'write-excel-file/node';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { askAll } from '../../../src/cli/init.ts';
import { type InitOptions, readGiven } from '../../../src/cli/init-given.ts';
import { parseFaults } from '../../../src/sandbox/parse-faults.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { createTestDatabase } from '../../support/database.ts';
import { freePort, startMailServer } from '../../support/mail-server.ts';
import { ScriptedDialogue } from '../../support/scripted-dialogue.ts';
import { startHubSpotSandbox } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import { startSheetsSandbox } from '../../stand-ins/google-sheets/sheets-sandbox.ts';

let sandbox: Sandbox;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'leadsync-answers-'));
  sandbox = await startSandbox({ leads: 3 });
  writeFileSync(join(folder, 'key'), sandbox.apiKey);
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

/** What is answered of all but the place and its columns. */
const rest = (): InitOptions => ({
  leadsUrl: sandbox.url,
  leadsKeyFile: join(folder, 'key'),
  schedule: 'nightly',
  timeZone: 'Europe/Berlin',
  remind: 'none',
});

const ask = (ui: ScriptedDialogue, options: InitOptions) => askAll(ui, readGiven(options));

describe('the service', () => {
  test('an unreachable address and a wrong key are asked again, and nothing else is', async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    const ui = new ScriptedDialogue(
      'nonsense',
      closed,
      'wrong-key',
      () => sandbox.url,
      () => sandbox.apiKey,
    );
    const { leadsUrl: _url, leadsKeyFile: _key, ...others } = rest();
    const { leadsUrl, leadsKey } = await ask(ui, { ...others, target: join(folder, 'new.csv') });
    expect([leadsUrl, leadsKey.value.reveal()]).toEqual([sandbox.url, sandbox.apiKey]);
    expect(ui.shown).toEqual(
      expect.arrayContaining([
        expect.stringContaining('must be an absolute address'),
        'leads.unreachable',
        'leads.unauthenticated',
        expect.stringContaining('3 leads'),
      ]),
    );
    const [address, key] = [/^Address/, /^Key/].map(
      (what) => ui.asked.filter((one) => what.test(one)).length,
    );
    expect([address, key, ui.left]).toEqual([3, 2, 0]);
  });

  test('a wait that the service asks for is kept', async () => {
    await using busy = await startSandbox({
      leads: 1,
      faults: parseFaults('429:every=2,retryAfter=1'),
    });
    const options = { ...rest(), leadsUrl: busy.url, leadsKeyFile: file('busy', busy.apiKey) };
    for (const name of ['a', 'b'])
      await ask(new ScriptedDialogue(), { ...options, target: join(folder, `${name}.csv`) });
  });
});

describe('a file', () => {
  test('a workbook with several sheets, a title above the headings, and German words', async () => {
    const path = join(folder, 'kunden.xlsx');
    const text = (value: string) => ({ value, type: String });
    const sheets = [
      [[text('nichts')]],
      [
        [text('Kundenliste 2026')],
        ['Firma', 'Ort', 'Nächster Kontakt', 'Notiz', 'Lead ID', 'Stand'].map(text),
        ['Weber KG', 'Kassel', '', 'x', '', 'neu'].map(text),
      ],
    ];
    await writeExcelFile(
      sheets.map((data, index) => ({ data, sheet: ['Info', 'Kunden'][index] ?? '' })) as never,
    ).toFile(path);
    const ui = new ScriptedDialogue('Kunden', 'Stand', null);
    const answers = await ask(ui, { ...rest(), target: path });
    expect(ui.asked).toEqual(['Which sheet?', 'Which column has the stage of a lead?', 'Is this right?']);
    expect(answers).toMatchObject({
      target: { type: 'workbook', settings: { path: { file: path }, sheet: 'Kunden' } },
      idColumn: 'Lead ID',
      hasRows: true,
      fields: [
        ['companyName', 'Firma'],
        ['city', 'Ort'],
        ['nextFollowUpAt', 'Nächster Kontakt'],
        ['stage', 'Stand'],
      ],
    });
    expect(ui.shown.join('\n')).toMatch(/left out: segment, region[^]*Left alone: Notiz$/m);
  });

  test('no id column: it is asked for until it is there; a mapping may be changed', async () => {
    const path = file('no-id.csv', 'Company;City;Town\r\nWeber;Kassel;\r\n');
    const ui = new ScriptedDialogue(
      () => {
        file('no-id.csv', 'Company;City;Town;Lead ID\r\nWeber;Kassel;;\r\n');
        return 'look again';
      },
      'Change city',
      'Town',
      'Change city',
      'leave it out',
      null,
    );
    const { idColumn, fields } = await ask(ui, { ...rest(), target: path });
    expect([idColumn, fields]).toEqual(['Lead ID', [['companyName', 'Company']]]);
    expect(ui.shown.join('\n')).toContain('No reminders');
  });

  test('a first row that is a lead is no row of headings', async () => {
    const path = file('headless.csv', 'Weber KG,Kassel,neu\n');
    const ui = new ScriptedDialogue(
      () => {
        file('headless.csv', 'Firma,Ort,Status,Lead ID\nWeber KG,Kassel,neu,\n');
        return 'look again';
      },
      'Status',
      null,
    );
    const { fields } = await ask(ui, { ...rest(), target: path });
    expect(ui.asked[0]).toContain('Weber KG, Kassel, neu');
    expect(fields).toEqual([
      ['companyName', 'Firma'],
      ['city', 'Ort'],
      ['stage', 'Status'],
    ]);
  });

  test('of two columns with one heading none is mapped, and that is said', async () => {
    const path = file('twice.csv', 'Lead ID,Company,City,city\nx,y,z,z\n');
    const ui = new ScriptedDialogue(null);
    const { fields } = await ask(ui, { ...rest(), target: path });
    expect(fields).toEqual([['companyName', 'Company']]);
    expect(ui.shown.join('\n')).toContain('More than one column is headed City');
  });

  test('a new file gets the usual columns, and nothing is asked', async () => {
    const answers = await ask(new ScriptedDialogue(), { ...rest(), target: join(folder, 'none.xlsx') });
    expect(answers).toMatchObject({ idColumn: 'Lead ID', hasRows: false });
    expect(answers.fields.map(([field]) => field)).toEqual([
      'companyName',
      'segment',
      'city',
      'region',
      'stage',
      'nextFollowUpAt',
    ]);
  });

  test('a folder that is missing, a file that is no workbook: another is asked for', async () => {
    const broken = file('broken.xlsx', 'no zip');
    const ui = new ScriptedDialogue('Another', broken, 'Another', join(folder, 'fine.csv'));
    // Files of the current folder are offered.
    vi.spyOn(process, 'cwd').mockReturnValue(folder);
    const answers = await ask(ui, { ...rest(), target: join(folder, 'missing', 'a.csv') });
    expect(ui.shown.slice(1, 3)).toEqual(['target.not-writable', 'target.unreadable']);
    expect(answers).toMatchObject({ target: { settings: { path: { file: join(folder, 'fine.csv') } } } });
  });
});

test('a Google spreadsheet: its tabs are shown, the address to share with is said', async () => {
  await using sheets = await startSheetsSandbox({ tabs: ['Kunden', 'Info'] });
  for (const [column, heading] of ['Firma', 'Wiedervorlage', 'Lead ID'].entries())
    sheets.person.type('Kunden', 0, column, heading);
  vi.stubEnv('GOOGLE_SHEETS_URL', sheets.url.replace(/\/$/, ''));
  const ui = new ScriptedDialogue(
    'A Google spreadsheet',
    file('google.json', sheets.keyFile()),
    'wrong',
    `https://docs.google.com/spreadsheets/d/${sheets.spreadsheetId}/edit`,
    'Kunden',
    null,
  );
  const answers = await ask(ui, rest());
  expect(answers).toMatchObject({
    target: { type: 'google-sheets', settings: { spreadsheet: sheets.spreadsheetId, tab: 'Kunden' } },
    fields: [
      ['companyName', 'Firma'],
      ['nextFollowUpAt', 'Wiedervorlage'],
    ],
    hasRows: false,
  });
  expect(ui.shown.join('\n')).toContain(sheets.accountEmail);
});

test('HubSpot: a wrong token is asked again; the usual properties are proposed', async () => {
  await using hubspot = await startHubSpotSandbox();
  vi.stubEnv('HUBSPOT_URL', hubspot.url.replace(/\/$/, ''));
  const ui = new ScriptedDialogue('HubSpot', 'wrong', hubspot.token);
  const answers = await ask(ui, rest());
  expect(answers).toMatchObject({
    idColumn: 'lead_id',
    fields: expect.arrayContaining([['companyName', 'name']]),
  });
  expect(ui.shown).toContain('target.unauthenticated');
});

test('a table of PostgreSQL: its tables are listed, its columns mapped', async () => {
  await using database = {
    ...(await createTestDatabase()),
    async [Symbol.asyncDispose]() {
      await this.drop();
    },
  };
  await database.pool.query(
    `create table public.kunden (id int, lead_id text, firma text, wiedervorlage timestamptz)`,
  );
  const ui = new ScriptedDialogue(
    'PostgreSQL',
    'postgres://nobody:x@127.0.0.1:1/none',
    database.url,
    'kunden',
    null,
  );
  const answers = await ask(ui, rest());
  expect(answers).toMatchObject({
    target: { type: 'postgres-table', settings: { table: 'kunden' } },
    idColumn: 'lead_id',
    fields: [
      ['companyName', 'firma'],
      ['nextFollowUpAt', 'wiedervorlage'],
    ],
    hasRows: false,
  });
  expect(ui.shown).toContain('target.unavailable');
});

test('reminders: the mail server is tried with the login; what was right is not asked again', async () => {
  await using server = await startMailServer({
    disabledCommands: ['STARTTLS'],
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, callback) =>
      password === 'p:w/1' ? callback(null, { user: username ?? '' }) : callback(new Error('no')),
  });
  const host = `127.0.0.1:${server.port}`;
  const ui = new ScriptedDialogue(
    'anna@example.com',
    host,
    'sales@example.com',
    'wrong',
    null,
    null,
    'p:w/1',
    null,
  );
  const { remind: _, ...others } = rest();
  const answers = await ask(ui, { ...others, target: join(folder, 'mails.csv') });
  expect(answers).toMatchObject({ recipients: ['anna@example.com'], sender: 'sales@example.com' });
  expect(answers.smtpUrl?.value.reveal()).toBe(`smtp://sales%40example.com:p%3Aw%2F1@${host}`);
  expect(ui.shown.some((one) => one.startsWith('mail.'))).toBe(true);
  expect(server.mails).toEqual([]);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import writeExcelFile from 'write-excel-file/node';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type InitOptions, readGiven } from '../../../src/cli/init.ts';
import { askAll } from '../../../src/cli/init-answers.ts';
import { parseFaults } from '../../../src/demo/faults.ts';
import { type Sandbox, startSandbox } from '../../../src/demo/sandbox.ts';
import { createTestDatabase } from '../../support/database.ts';
import { freePort } from '../../support/mail-server.ts';
import { davPassword, startApache } from '../../support/apache.ts';
import { esc, ScriptedDialogue } from '../../support/scripted-dialogue.ts';
import { startHubSpotSandbox } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import { startSheetsSandbox } from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import { sampleApp, sampleDrive, startMsGraphSandbox } from '../../stand-ins/msgraph/msgraph-sandbox.ts';

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

/** Answers to all but the table and its columns. */
const ask = (ui: ScriptedDialogue, options: InitOptions = {}) =>
  askAll(
    ui,
    readGiven({
      leadsUrl: sandbox.url,
      leadsKeyFile: join(folder, 'key'),
      remind: 'none',
      ...options,
    }),
  );

test('an unreachable address and a wrong key are asked again, and Esc goes back to the question before', async () => {
  const closed = `http://127.0.0.1:${await freePort()}`;
  const ui = new ScriptedDialogue(
    'nonsense',
    closed,
    'wrong-key',
    () => sandbox.url,
    () => sandbox.apiKey,
    esc,
    'also-wrong',
    () => sandbox.apiKey,
    join(folder, 'new.csv'),
    'nobody',
    'anna@example.com, ben@example.com',
  );
  vi.spyOn(process, 'cwd').mockReturnValue(join(folder, 'none'));
  const { env } = await askAll(ui, readGiven({}));
  const { LEADS_BASE_URL, LEADS_API_KEY, REMINDER_TO } = env;
  expect([LEADS_BASE_URL, LEADS_API_KEY]).toEqual([sandbox.url, sandbox.apiKey]);
  expect(REMINDER_TO).toBe('anna@example.com, ben@example.com');
  expect(ui.shown.filter((one) => /^[\w.-]+$/.test(one))).toEqual([
    'usage.init-answer',
    'leads.unreachable',
    'leads.unauthenticated',
    'leads.unauthenticated',
    'usage.init-answer',
  ]);
  expect(ui.questions.map((question) => question.split(' ')[0])).toEqual(
    'Address,Address,Key,Address,Key,The,Key,Key,The,Who,Who'.split(','),
  );
});

test('--yes takes guesses, too; a sheet that is named is not asked for once more when the file is', async () => {
  const guess = file('guess.csv', 'Lead ID;Firma;Status\r\n;Weber KG;neu\r\n');
  const { fields } = await ask(new ScriptedDialogue(null), { target: guess, yes: true });
  expect(fields).toEqual([
    ['companyName', 'Firma'],
    ['stage', 'Status'],
  ]);
  const sheets = ['Info', 'Kunden'].map((sheet) => ({
    data: [['Lead ID', 'Firma'].map((value) => ({ value, type: String }))],
    sheet,
  }));
  const path = join(folder, 'two.xlsx');
  await writeExcelFile(sheets as never).toFile(path);
  const ui = new ScriptedDialogue('Somewhere', path, null);
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
  expect(await ask(ui, { sheet: 'Kunden' })).toMatchObject({ part: 'Kunden' });
  expect(ui.questions).not.toContain('Which sheet?');
});

test('a wait that the service asks for is kept', async () => {
  await using busy = await startSandbox({ leads: 1, faults: parseFaults('429:every=2,retryAfter=1') });
  const options = { leadsUrl: busy.url, leadsKeyFile: file('busy', busy.apiKey) };
  for (const name of ['a', 'b'])
    await ask(new ScriptedDialogue(), { ...options, target: join(folder, `${name}.csv`) });
});

test('a workbook with several sheets, a title above the headings, and German words', async () => {
  const path = join(folder, 'kunden.xlsx');
  const text = (value: string) => ({ value, type: String });
  const sheets = [
    [[text('nichts')]],
    [
      [text('Kundenliste 2026')],
      ['Firma', 'Ort', 'Nächster Kontakt', 'Notiz', 'Lead ID', 'Stand', 'Branche'].map(text),
      ['Weber KG', 'Kassel', '', 'x', '', 'neu', 'Handel'].map(text),
    ],
  ];
  await writeExcelFile(
    sheets.map((data, index) => ({ data, sheet: ['Info', 'Kunden'][index] ?? '' })) as never,
  ).toFile(path);
  const ui = new ScriptedDialogue('Kunden', 'Change segment', 'none', 'Change city', 'Notiz', null);
  const answers = await ask(ui, { target: path });
  expect(answers).toMatchObject({ part: 'Kunden', idColumn: 'Lead ID', isIdNew: false, hasRows: true });
  expect(answers.fields).toEqual([
    ['companyName', 'Firma'],
    ['nextFollowUpAt', 'Nächster Kontakt'],
    ['city', 'Notiz'],
    ['stage', 'Stand'],
  ]);
  expect(ui.shown.join('\n')).toMatch(/Stand \(a guess\)[^]*Columns left alone: Ort, Branche$/m);
});

test.each([
  // Customer numbers are no ids; the heading goes into the first free cell.
  ['Kundennr.;Firma;Ort\r\nK-1;Weber;Kassel\r\n', [null, null], 'Lead ID', true, 'write "Lead ID" into D1'],
  ['\r\nListe\r\nFirma;Ort\r\nWeber;Kassel\r\n', [null, null], 'Lead ID', true, 'write "Lead ID" into C3'],
  ['Lead ID;Firma\r\nK-1;Weber\r\n', [null, null], 'Lead ID (leadsync)', true, 'those in "Lead ID" are none'],
  ['Nr;Firma\r\n0199e71d-9dc9-7f99-94c0-24e5c9cdc74a;Weber\r\n', ['In "Nr"', null], 'Nr', false, 'into C1'],
])('no column is surely that of the ids: %j', async (content, answers, idColumn, isIdNew, said) => {
  const ui = new ScriptedDialogue(...answers);
  const choices: string[] = [];
  const spy = vi.spyOn(ui, 'ask').mockImplementation(async (question) => {
    choices.push(...(question.choices ?? []).map(({ label }) => label));
    return ScriptedDialogue.prototype.ask.call(ui, question);
  });
  expect(await ask(ui, { target: file('ids.csv', content) })).toMatchObject({ idColumn, isIdNew });
  expect([...choices, ...ui.shown].join('\n')).toContain(said);
  expect(choices.filter((label) => label.startsWith('In '))).toEqual(isIdNew ? [] : ['In "Nr"']);
  expect(spy).toHaveBeenCalledTimes(2);
});

test('a heading that a person writes meanwhile is found', async () => {
  const ui = new ScriptedDialogue(() => {
    file('mine.csv', 'Firma;Lead ID\r\nWeber;\r\n');
    return 'look again';
  }, null);
  const answers = await ask(ui, { target: file('mine.csv', 'Firma\r\nWeber\r\n') });
  expect(answers).toMatchObject({ idColumn: 'Lead ID', isIdNew: false, fields: [['companyName', 'Firma']] });
  expect(ui.shown.join('\n')).toContain('No reminders');
});

test('of two columns with one heading none is mapped; a new file gets the usual ones, and nothing is asked', async () => {
  const path = file('twice.csv', 'Lead ID,Company,City,city\n,y,z,z\n');
  expect((await ask(new ScriptedDialogue(null), { target: path })).fields).toEqual([
    ['companyName', 'Company'],
  ]);
  const answers = await ask(new ScriptedDialogue(), { target: join(folder, 'none.xlsx') });
  expect(answers).toMatchObject({ idColumn: 'Lead ID', isIdNew: false, hasRows: false });
  expect(answers.fields.map(([, column]) => column)).toEqual(
    'Company,Segment,City,Region,Stage,Next follow-up'.split(','),
  );
});

test('a folder that is missing, a file that is no workbook: another is asked for', async () => {
  const broken = file('broken.xlsx', 'no zip');
  // Files of the current folder are offered.
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const ui = new ScriptedDialogue('Somewhere', `"${broken}"`, 'Somewhere', join(folder, 'fine.csv'));
  const answers = await ask(ui, { target: join(folder, 'missing', 'a.csv') });
  expect(ui.shown.slice(1, 3)).toEqual(['target.not-writable', 'target.unreadable']);
  expect(answers.env['TARGET']).toBe(join(folder, 'fine.csv'));
});

test('a Google spreadsheet, by its address: its tabs are shown', async () => {
  await using sheets = await startSheetsSandbox({ tabs: ['Kunden', 'Info'] });
  for (const [column, heading] of ['Firma', 'Wiedervorlage', 'Lead ID'].entries())
    sheets.person.type('Kunden', 0, column, heading);
  vi.stubEnv('GOOGLE_SHEETS_URL', sheets.url.replace(/\/$/, ''));
  const address = `https://docs.google.com/spreadsheets/d/${sheets.spreadsheetId}/edit`;
  const ui = new ScriptedDialogue(file('google.json', sheets.keyFile()), 'Kunden', null);
  expect(await ask(ui, { target: address })).toMatchObject({
    part: 'Kunden',
    idColumn: 'Lead ID',
    fields: [
      ['companyName', 'Firma'],
      ['nextFollowUpAt', 'Wiedervorlage'],
    ],
  });
});

test('HubSpot: a wrong token is asked again; the usual properties are proposed', async () => {
  await using hubspot = await startHubSpotSandbox();
  vi.stubEnv('HUBSPOT_URL', hubspot.url.replace(/\/$/, ''));
  const ui = new ScriptedDialogue('wrong', hubspot.token);
  expect(await ask(ui, { target: 'hubspot' })).toMatchObject({
    idColumn: 'lead_id',
    fields: expect.arrayContaining([['companyName', 'name']]),
  });
  expect(ui.shown).toContain('target.unauthenticated');
});

test('a table of PostgreSQL: its columns are mapped', async () => {
  const database = await createTestDatabase();
  await database.pool.query(
    `create table public.kunden (id int, lead_id text, firma text, wiedervorlage timestamptz)`,
  );
  const ui = new ScriptedDialogue(database.url, null);
  const answers = await ask(ui, { target: 'postgres-table:kunden' });
  expect(answers).toMatchObject({
    idColumn: 'lead_id',
    fields: [
      ['companyName', 'firma'],
      ['nextFollowUpAt', 'wiedervorlage'],
    ],
  });
  await database.drop();
});

const workbook = (): Promise<Buffer> => {
  const cells = (...texts: string[]) => texts.map((value) => ({ value, type: String }));
  const data = [cells('Lead ID', 'Firma', 'Nächster Kontakt'), cells('', 'Weber KG', '')];
  return writeExcelFile([{ sheet: 'Kunden', data }] as never).toBuffer();
};

test('WebDAV: a server that wants a login is told, and a wrong password is asked again', {
  tags: 'apache2',
}, async () => {
  await using apache = await startApache();
  writeFileSync(join(apache.folder, 'kunden.xlsx'), await workbook());
  const ui = new ScriptedDialogue('anna', 'wrong', null, davPassword, null);
  const { env, fields } = await ask(ui, { target: `${apache.origin}/dav/kunden.xlsx` });
  expect([env['WEBDAV_USER'], env['WEBDAV_PASSWORD'], fields.length]).toEqual(['anna', davPassword, 2]);
  expect(ui.shown.filter((one) => one.startsWith('target.'))).toEqual(
    Array(2).fill('target.unauthenticated'),
  );
  const open = await ask(new ScriptedDialogue(), { target: `${apache.origin}/open/new.csv` });
  expect(open).toMatchObject({ hasRows: false });
});

test('Microsoft 365: a missing secret is asked for, a wrong one again', async () => {
  await using graph = await startMsGraphSandbox();
  graph.state.drive.save('Sales/kunden.xlsx', await workbook(), 'Anna');
  vi.stubEnv('MSGRAPH_URL', graph.loginUrl);
  const { tenant: msgraphTenant, clientId: msgraphClientId, secret } = sampleApp;
  const options = { target: `msgraph:${sampleDrive}/Sales/kunden.xlsx`, msgraphTenant, msgraphClientId };
  const ui = new ScriptedDialogue('wrong', null, null, secret?.value ?? '', null);
  expect((await ask(ui, options)).fields.length).toBe(2);
  expect(ui.shown.filter((one) => one.startsWith('target.'))).toEqual(['target.unauthenticated']);
});

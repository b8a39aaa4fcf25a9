import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import writeExcelFile from 'write-excel-file/node';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { askAll } from '../../../src/cli/init.ts';
import { type InitOptions, readGiven } from '../../../src/cli/init-given.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/config.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { LeadsyncError } from '../../../src/errors.ts';
import { encodedLink } from '../../../src/targets/msgraph/drive-item.ts';
import { setupFiles } from '../../../src/setup/setup-files.ts';
import { writeSetup } from '../../../src/setup/write-setup.ts';
import { sampleApp, sampleDrive, startMsGraphSandbox } from '../../stand-ins/msgraph/msgraph-sandbox.ts';
import { davPassword, startApache } from '../../support/apache.ts';
import { ScriptedDialogue } from '../../support/scripted-dialogue.ts';

let sandbox: Sandbox;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'leadsync-online-'));
  sandbox = await startSandbox({ leads: 3 });
  writeFileSync(join(folder, 'key'), sandbox.apiKey);
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const workbook = async (): Promise<Buffer> => {
  const cells = (...texts: string[]) => texts.map((value) => ({ value, type: String }));
  const sheets = [
    { sheet: 'Info', data: [cells('nichts')] },
    { sheet: 'Kunden', data: [cells('Lead ID', 'Firma', 'Nächster Kontakt'), cells('', 'Weber KG', '')] },
  ];
  return writeExcelFile(sheets as never).toBuffer();
};
const columns = {
  idColumn: 'Lead ID',
  hasRows: true,
  fields: [
    ['companyName', 'Firma'],
    ['nextFollowUpAt', 'Nächster Kontakt'],
  ],
};

/** The answers, and what leadsync reads of the files that they make. */
async function setUp(name: string, ui: ScriptedDialogue, options: InitOptions) {
  const given = readGiven({
    leadsUrl: sandbox.url,
    leadsKeyFile: join(folder, 'key'),
    schedule: 'nightly',
    timeZone: 'Europe/Berlin',
    remind: 'none',
    ...options,
  });
  const answers = await askAll(ui, given);
  const yamlFile = join(folder, name, 'leadsync.yaml');
  mkdirSync(join(folder, name));
  const files = setupFiles(answers, join(folder, name));
  await writeSetup(files, yamlFile);
  vi.unstubAllEnvs();
  const config: Config = await loadConfig({ env: {}, cwd: folder, file: yamlFile });
  return { answers, config, target: config.connections[0]?.target, text: files.yaml + files.env };
}

test('WebDAV: a wrong password is asked again with the user proposed, a missing folder with the address', {
  tags: 'apache2',
}, async () => {
  await using apache = await startApache();
  writeFileSync(join(apache.folder, 'kunden.xlsx'), await workbook());
  const address = `${apache.origin}/dav/kunden.xlsx`;
  const ui = new ScriptedDialogue(
    'WebDAV',
    'https://cloud.example.com/apps/files/?dir=/Sales',
    `${apache.origin}/dav/missing/kunden.xlsx`,
    'anna',
    'wrong',
    null,
    davPassword,
    address,
    'Kunden',
    null,
  );
  const { answers, target, text } = await setUp('dav', ui, {});
  expect(ui.shown.filter((one) => one.startsWith('target.'))).toEqual([
    'target.unauthenticated',
    'target.not-writable',
  ]);
  expect(ui.left).toBe(0);
  expect(answers).toMatchObject(columns);
  expect(target).toMatchObject({ path: address, user: 'anna', sheet: 'Kunden' });
  expect(target).toHaveProperty('password');
  expect(text).not.toContain(davPassword);
  expect(readFileSync(join(folder, 'dav/secrets/webdav-password'), 'utf8')).toBe(`${davPassword}\n`);
});

test('WebDAV: options answer all of it; a file that is missing gets the usual columns, a server without a login no user', {
  tags: 'apache2',
}, async () => {
  await using apache = await startApache();
  const password = join(folder, 'dav-password');
  writeFileSync(password, davPassword);
  const options = { webdavUser: 'anna', webdavPasswordFile: password };
  const given = { ...options, target: `${apache.origin}/dav/new.csv` };
  const { answers, text } = await setUp('dav-options', new ScriptedDialogue(), given);
  expect(answers).toMatchObject({ idColumn: 'Lead ID', hasRows: false });
  expect(text).toContain('WEBDAV_PASSWORD_FILE=');
  const open = await setUp('dav-open', new ScriptedDialogue('', ''), {
    target: `${apache.origin}/open/new.csv`,
  });
  expect(open.text).not.toMatch(/WEBDAV|user:/);
});

test('Microsoft 365: a wrong secret is asked again, with the ids proposed; then a wrong library', async () => {
  await using graph = await startMsGraphSandbox();
  graph.state.drive.save('Sales/kunden.xlsx', await workbook(), 'Anna');
  vi.stubEnv('MSGRAPH_URL', graph.loginUrl);
  vi.stubEnv('MSGRAPH_LOGIN_URL', graph.loginUrl);
  const ui = new ScriptedDialogue(
    'SharePoint',
    'common',
    sampleApp.tenant,
    sampleApp.clientId,
    'client secret',
    'wrong',
    'b!other',
    'Sales/kunden.xlsx',
    null,
    null,
    'client secret',
    sampleApp.secret?.value ?? '',
    sampleDrive,
    null,
    'Kunden',
    null,
  );
  const { answers, config, target, text } = await setUp('graph', ui, {});
  expect(ui.shown.filter((one) => one.startsWith('target.'))).toEqual([
    'target.unauthenticated',
    'target.not-found',
  ]);
  expect(ui.left).toBe(0);
  expect(answers).toMatchObject(columns);
  expect(target).toMatchObject({ drive: sampleDrive, path: 'Sales/kunden.xlsx', sheet: 'Kunden' });
  const { tenant, clientId } = sampleApp;
  expect(config.msgraph).toMatchObject({ tenant, clientId, url: graph.loginUrl, loginUrl: graph.loginUrl });
  expect(config.msgraph.clientSecret?.reveal()).toBe(sampleApp.secret?.value);
  expect(text).not.toContain(sampleApp.secret?.value);
});

test('Microsoft 365: options answer all of it, with a sharing link', async () => {
  await using graph = await startMsGraphSandbox();
  const { id } = graph.state.drive.save('Sales/kunden.xlsx', await workbook(), 'Anna');
  const link = 'https://contoso.sharepoint.com/:x:/s/sales/EaBcDe';
  graph.state.links.set(encodedLink(link), id);
  vi.stubEnv('MSGRAPH_URL', graph.loginUrl);
  vi.stubEnv('MSGRAPH_LOGIN_URL', graph.loginUrl);
  vi.stubEnv('MSGRAPH_CLIENT_SECRET', sampleApp.secret?.value ?? '');
  const { tenant: msgraphTenant, clientId: msgraphClientId } = sampleApp;
  const { target } = await setUp('graph-link', new ScriptedDialogue(null), {
    target: link,
    sheet: 'Kunden',
    msgraphTenant,
    msgraphClientId,
  });
  expect(target).toMatchObject({ path: link, sheet: 'Kunden' });
});

test('two ways to log in are one too many', () => {
  vi.stubEnv('WEBDAV_USER', 'anna');
  vi.stubEnv('WEBDAV_TOKEN', 'token');
  expect(() => readGiven({})).toThrow(/--webdav-token-file \(WEBDAV_TOKEN\) must be left out/);
});

test('a person who stops at any question is asked no other one', async () => {
  await using graph = await startMsGraphSandbox();
  graph.state.drive.save('Sales/kunden.xlsx', await workbook(), 'Anna');
  vi.stubEnv('MSGRAPH_URL', graph.loginUrl);
  vi.stubEnv('MSGRAPH_LOGIN_URL', graph.loginUrl);
  const { tenant, clientId, secret } = sampleApp;
  const login = [sandbox.url, sandbox.apiKey, 'SharePoint', tenant, clientId, null, secret?.value ?? ''];
  const answers = [...login, sampleDrive, 'Sales/kunden.xlsx', 'Kunden', null, null, null, null];
  for (const [at] of [...answers, null].entries()) {
    const stop = () => {
      throw new LeadsyncError('init.stopped', 'stopped');
    };
    const ui = new ScriptedDialogue(...answers.slice(0, at), stop);
    const asked = askAll(ui, readGiven({}));
    if (at < answers.length) await expect(asked).rejects.toMatchObject({ code: 'init.stopped' });
    else await asked;
    expect([ui.asked.length, ui.shown.includes('init.stopped')]).toEqual([
      Math.min(at + 1, answers.length),
      false,
    ]);
  }
});

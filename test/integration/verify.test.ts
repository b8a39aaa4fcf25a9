import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startSheetsSandbox } from '../stand-ins/google-sheets/sheets-sandbox.ts';
import { startHubSpotSandbox } from '../stand-ins/hubspot/hubspot-sandbox.ts';
import { sampleApp, sampleDrive, startMsGraphSandbox } from '../stand-ins/msgraph/msgraph-sandbox.ts';
import { compiledEnv } from '../support/compiled.ts';

/** Runs `npm run verify:…` with these variables alone. */
function verify(env: NodeJS.ProcessEnv, name: string, ...args: readonly string[]) {
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
  const config = fileURLToPath(new URL('../../verify/vitest.config.ts', import.meta.url));
  const all = {
    ...compiledEnv,
    PATH: process.env['PATH'],
    TMPDIR: process.env['TMPDIR'],
    NO_COLOR: '1',
    ...env,
  };
  const command = [vitest, 'run', '--config', config, name, ...args];
  return new Promise<{ code: unknown; said: string }>((resolve) => {
    execFile(process.execPath, command, { env: all, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, said: stdout + stderr }),
    );
  });
}
const limits = { tenSeconds: 10_000, daily: 250_000 };

test.each([
  ['google-sheets', 'GOOGLE_APPLICATION_CREDENTIALS, VERIFY_SPREADSHEET'],
  ['hubspot', 'HUBSPOT_TOKEN'],
  ['msgraph', 'MSGRAPH_TENANT, MSGRAPH_CLIENT_ID, VERIFY_DRIVE'],
])('verify:%s without a key says what it needs', async (name, needs) => {
  const { code, said } = await verify({}, name);
  expect(said).toContain(`This needs ${needs}: `);
  expect(code).toBe(1);
});

test('verify:google-sheets finds the stand-in as it takes Google to be, and leaves nothing there', async () => {
  await using sheets = await startSheetsSandbox({
    timeZone: 'Europe/Berlin',
    tabs: ['Own', 'Locked'],
    quotas: null,
  });
  sheets.person.put('Own', [['mine']]);
  sheets.person.put('Locked', [['a', 'b']]);
  sheets.person.protect('Locked', 'B1:B5');
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-verify-'));
  const key = join(folder, 'key.json');
  await writeFile(key, sheets.keyFile());
  const env = {
    GOOGLE_APPLICATION_CREDENTIALS: key,
    GOOGLE_SHEETS_URL: sheets.url,
    VERIFY_SPREADSHEET: sheets.spreadsheetId,
    VERIFY_PER_MINUTE: '100000',
    VERIFY_PROTECTED: 'Locked!B1',
  };
  const { code, said } = await verify(env, 'google-sheets');
  await rm(folder, { recursive: true });
  expect(said).toMatch(/Tests +\d\d passed/);
  expect(said).not.toMatch(/ya29|PRIVATE KEY/);
  expect(code).toBe(0);
  // Its tabs were deleted.
  expect(sheets.requests.at(-1)).toMatchObject({ method: 'spreadsheets.batchUpdate', status: 200 });
  expect([sheets.person.grid('Own'), sheets.person.grid('Locked')]).toEqual([[['mine']], [['a', 'b']]]);
});

test('verify:hubspot finds the stand-in as it takes HubSpot to be, and leaves nothing there', async () => {
  await using portal = await startHubSpotSandbox({ limits });
  const { code, said } = await verify({ HUBSPOT_TOKEN: portal.token, HUBSPOT_URL: portal.url }, 'hubspot');
  expect(said).toMatch(/Tests +\d\d passed/);
  expect(said).not.toContain(portal.token);
  expect(code).toBe(0);
  expect(portal.person.companies()).toEqual([]);
  expect(portal.person.properties().filter(({ name }) => name.startsWith('lead'))).toEqual([]);
});

test.for([
  { options: { trim: true }, told: 'white space at their ends' },
  { options: { traceIds: false }, told: 'with trace ids each input fails alone' },
  { options: { merge: 'primary' }, told: 'of a merge comes a new record' },
  { options: { limits: null }, told: 'the headers of the limits' },
] as const)('verify:hubspot tells what is otherwise: $options', async ({ options, told }) => {
  await using portal = await startHubSpotSandbox({ limits, ...options });
  const env = { HUBSPOT_TOKEN: portal.token, HUBSPOT_URL: portal.url };
  const { code, said } = await verify(env, 'hubspot', '-t', told);
  expect(said).toMatch(/FAIL .*cannot ask/);
  expect(code).toBe(1);
  expect(portal.person.companies()).toEqual([]);
});

test('verify:hubspot touches no portal that has companies', async () => {
  await using portal = await startHubSpotSandbox({ limits });
  portal.person.create({ name: 'Somebody else' });
  const { code, said } = await verify({ HUBSPOT_TOKEN: portal.token, HUBSPOT_URL: portal.url }, 'hubspot');
  expect(said).toContain('The portal has companies');
  expect(code).toBe(1);
  expect(portal.person.companies()).toHaveLength(1);
  expect(portal.requests.every(({ method }) => method === 'GET')).toBe(true);
});

test('verify:msgraph finds the stand-in as it takes Microsoft to be, and leaves nothing there', async () => {
  await using graph = await startMsGraphSandbox();
  const { code, said } = await verify(
    {
      MSGRAPH_URL: graph.loginUrl,
      MSGRAPH_TENANT: sampleApp.tenant,
      MSGRAPH_CLIENT_ID: sampleApp.clientId,
      MSGRAPH_CLIENT_SECRET: sampleApp.secret?.value,
      VERIFY_DRIVE: sampleDrive,
      VERIFY_PAUSE_MS: '1',
    },
    'msgraph',
  );
  expect(said).toMatch(/Tests +\d\d passed/);
  expect(code).toBe(0);
  expect(graph.state.drive.paths()).toEqual([]);
});

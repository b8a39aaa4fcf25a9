import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { targetName } from '../../src/config/config.ts';
import { mistakesIn } from './config-file-scene.ts';

const minimal = { LEADS_BASE_URL: 'https://api.example.com', LEADS_API_KEY: 'k' };

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'leadsync-config-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

test.each(['hubspot', 'hubspot:companies', 'HubSpot'])('TARGET=%s', async (TARGET) => {
  const env = { ...minimal, TARGET, HUBSPOT_TOKEN: 'pat-1', TZ_NAME: 'Europe/Berlin' };
  const config = await loadConfig({ env, cwd });
  const [connection] = config.connections;
  expect(JSON.parse(JSON.stringify(connection?.target))).toEqual({
    type: 'hubspot',
    token: '[secret]',
    idColumn: 'lead_id',
    timeZone: 'Europe/Berlin',
  });
  expect(connection?.target.type === 'hubspot' && connection.target.token.reveal()).toBe('pat-1');
  const columns = connection?.fields.map(({ field, column }) => [field, column]) ?? [];
  expect(Object.fromEntries(columns)).toMatchObject({
    companyName: 'name',
    segment: 'lead_segment',
    city: 'city',
    region: 'state',
    stage: 'lead_stage',
    nextFollowUpAt: 'lead_next_follow_up',
  });
  expect(connection && targetName(connection.target)).toBe('hubspot:companies');
  expect(config.hubspotUrl).toBe('https://api.hubapi.com');
});

test('the token comes from a file as well, and another address is taken', async () => {
  await writeFile(join(cwd, 'token'), 'pat-2\n');
  const env = { ...minimal, TARGET: 'hubspot', HUBSPOT_TOKEN_FILE: join(cwd, 'token') };
  const config = await loadConfig({ env: { ...env, HUBSPOT_URL: 'http://127.0.0.1:9/' }, cwd });
  expect(config.hubspotUrl).toBe('http://127.0.0.1:9');
  const target = config.connections[0]?.target;
  expect(target?.type === 'hubspot' && target.token.reveal()).toBe('pat-2');
});

test('a token that is missing or wrong is blamed on its variable and never shown', async () => {
  const mistakes = (env: NodeJS.ProcessEnv) =>
    mistakesIn(loadConfig({ env: { ...minimal, TARGET: 'hubspot', ...env }, cwd }));
  expect(await mistakes({})).toMatchObject([
    { where: 'HUBSPOT_TOKEN', message: expect.stringContaining('is missing') },
  ]);
  expect(await mistakes({ HUBSPOT_TOKEN: 'pat 1' })).toMatchObject([
    { where: 'HUBSPOT_TOKEN', found: '[secret]' },
  ]);
});

const connection = (name: string, target: string): string =>
  `  ${name}:\n    leads: { baseUrl: https://x, apiKey: k }\n    target: { type: hubspot, ${target} }\n`;

test('everything in the file', async () => {
  const options = 'token: "${HUB}", idColumn: their_id, statusColumn: sync, timeZone: Asia/Tokyo';
  await writeFile(join(cwd, 'leadsync.yaml'), `connections:\n${connection('a', options)}`);
  const config = await loadConfig({ env: { HUB: 'pat-3' }, cwd });
  expect(JSON.parse(JSON.stringify(config.connections[0]?.target))).toEqual({
    type: 'hubspot',
    token: '[secret]',
    idColumn: 'their_id',
    statusColumn: 'sync',
    timeZone: 'Asia/Tokyo',
  });
});

test('a setting that is none any more says what is so instead', async () => {
  const lines = connection('a', 'token: t, portal: 12345678');
  await writeFile(join(cwd, 'leadsync.yaml'), `connections:\n${lines}`);
  expect(await mistakesIn(loadConfig({ env: { SMTP_RATE: '5' }, cwd }))).toMatchObject([
    { where: 'SMTP_RATE', message: expect.stringMatching(/^is no longer a setting: leadsync sends /) },
    {
      path: 'connections.a.target.portal',
      message: 'is no longer a setting: leadsync finds the portal by the token',
    },
  ]);
});

test('two connections with one token', async () => {
  const content = [
    'connections:',
    connection('a', 'token: t'),
    connection('b', 'token: t'),
    connection('c', 'token: u'),
  ];
  await writeFile(join(cwd, 'leadsync.yaml'), content.join('\n'));
  const mistakes = await mistakesIn(loadConfig({ env: {}, cwd }));
  expect(mistakes.map(({ path, message, found }) => [path, message, found])).toEqual([
    ['connections.b.target.token', 'must be another portal: connection a writes to this one', '[secret]'],
  ]);
});

test('the property by which a company asks for a lead is nothing else', async () => {
  const content = `connections:\n${connection('a', 'token: t, statusColumn: lead_sync')}    fields: { stage: lead_sync }\n`;
  await writeFile(join(cwd, 'leadsync.yaml'), content);
  const mistakes = await mistakesIn(loadConfig({ env: {}, cwd }));
  expect(mistakes.map(({ path }) => path)).toEqual([
    'connections.a.target.statusColumn',
    'connections.a.fields.stage',
  ]);
});

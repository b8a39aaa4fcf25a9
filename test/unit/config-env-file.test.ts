import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'leadsync-env-'));
  writeFileSync(
    join(folder, 'leadsync.yaml'),
    `connections: { a: { leads: { baseUrl: https://api.example.com, apiKey: "\${LEADS_API_KEY}" }, target: { type: workbook, path: a.csv } } }`,
  );
  writeFileSync(join(folder, 'key'), 'of-the-file\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** From another folder, as a service is started. */
const load = (content: string, env: NodeJS.ProcessEnv = {}) => {
  writeFileSync(join(folder, 'leadsync.env'), content);
  return loadConfig({ env, cwd: '/', file: join(folder, 'leadsync.yaml') });
};

test('leadsync.env beside leadsync.yaml gives what the environment does not; its paths start at its folder', async () => {
  const config = await load(`# a comment\nLEADS_API_KEY_FILE=key\nDATA_DIR='my state'\nPORT=8123\n`, {
    PORT: '9',
  });
  expect(config.connections[0]?.leads.apiKey.reveal()).toBe('of-the-file');
  expect(config).toMatchObject({ dataDir: join(folder, 'my state'), http: { port: 9 } });
});

test.each([
  ['LEADS_API_KEY_FILE=key', { LEADS_API_KEY: 'of-the-environment' }],
  ['LEADS_API_KEY=of-leadsync.env', { LEADS_API_KEY_FILE: 'KEY' }],
])('%s gives way to a variable and to a file of the environment alike', async (content, env) => {
  writeFileSync(join(folder, 'other'), 'of-the-environment');
  const given = 'LEADS_API_KEY_FILE' in env ? { LEADS_API_KEY_FILE: join(folder, 'other') } : env;
  const { connections } = await load(content, given);
  expect(connections[0]?.leads.apiKey.reveal()).toBe('of-the-environment');
});

test('mistakes in it are those of its variables; one that cannot be read is named', async () => {
  await expect(load('LEADS_API_KEY=k\nPORT=nine')).rejects.toThrow(/PORT: must be/);
  rmSync(join(folder, 'leadsync.env'));
  mkdirSync(join(folder, 'leadsync.env'));
  await expect(
    loadConfig({ env: { LEADS_API_KEY: 'k' }, cwd: '/', file: join(folder, 'leadsync.yaml') }),
  ).rejects.toThrow(/leadsync\.env.*it is a folder/);
});

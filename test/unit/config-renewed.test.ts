import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { redisAddressOf } from '../../src/config/redis-address.ts';
import type { Secret } from '../../src/config/secret.ts';
import { environmentFolder } from './config-file-scene.ts';

const { folder } = environmentFolder();

const yaml = `connections:
  main:
    leads: { baseUrl: https://api.example.com, apiKey: "\${LEADS_API_KEY}" }
    target: { type: postgres-table, table: leads, url: "postgres://crm:\${CRM_PASSWORD}@db.example.com/crm" }
    reminders:
      from: sales@example.com
      to: [anna@example.com]
      caldav: { anna@example.com: { url: https://dav.example.com/a/, username: anna, password: "\${DAV_PASSWORD}" } }
`;

const write = (name: string, content: string): void => writeFileSync(join(folder(), name), content);

async function load(files: Readonly<Record<string, string>>): Promise<Config> {
  const env: Record<string, string> = { LEADS_API_KEY: 'key', CRM_PASSWORD: 'crm-1', DAV_PASSWORD: 'dav-1' };
  for (const [name, content] of Object.entries(files)) {
    write(name, content);
    delete env[name];
    env[`${name}_FILE`] = join(folder(), name);
  }
  write('leadsync.yaml', yaml);
  return loadConfig({ env, cwd: folder() });
}

test.each<[string, string, string, (config: Config) => Secret | undefined, string]>([
  [
    'DATABASE_URL',
    'postgres://a:1@db/x',
    'postgres://b:2@db/x',
    (it) => it.databaseUrl,
    'postgres://b:2@db/x',
  ],
  [
    'DATABASE_URL',
    'postgres://a:1@db/x',
    'postgres://a:2@other/x',
    (it) => it.databaseUrl,
    'postgres://a:1@db/x',
  ],
  [
    'DATABASE_URL',
    'postgres://a:1@db/x',
    'postgres://a:2@db/y',
    (it) => it.databaseUrl,
    'postgres://a:1@db/x',
  ],
  ['DATABASE_URL', 'postgres://a:1@db/x', '', (it) => it.databaseUrl, 'postgres://a:1@db/x'],
  ['DATABASE_URL', 'postgres://a:1@db/x', 'postgre', (it) => it.databaseUrl, 'postgres://a:1@db/x'],
  ['REDIS_URL', 'redis://:1@r:1', 'redis://u:2@r:1\n', (it) => it.redisUrl, 'redis://u:2@r:1'],
  [
    'REDIS_URL',
    'redis-sentinel://:1@r,s?master=m&sentinelPassword=1',
    'redis-sentinel://:2@r,s?master=m&sentinelPassword=2',
    (it) => it.redisUrl,
    'redis-sentinel://:2@r,s?master=m&sentinelPassword=2',
  ],
  ['SMTP_URL', 'smtp://a:1@mail:587', 'smtp://a:2@mail:587', (it) => it.smtpUrl, 'smtp://a:2@mail:587'],
  ['MSGRAPH_CLIENT_SECRET', 'one', 'two', (it) => it.msgraph.clientSecret, 'two'],
  [
    'CRM_PASSWORD',
    'crm-1',
    'crm-2',
    ({ connections: [main] }) => (main?.target.type === 'postgres-table' ? main.target.url : undefined),
    'postgres://crm:crm-2@db.example.com/crm',
  ],
  [
    'DAV_PASSWORD',
    'dav-1',
    'dav-2',
    (it) => it.connections[0]?.reminders?.calendars[0]?.login?.password,
    'dav-2',
  ],
  // It tells one service from another.
  ['LEADS_API_KEY', 'one', 'two', (it) => it.connections[0]?.leads.apiKey, 'one'],
])('the file of %s with %j, then with %j', async (name, before, after, secretIn, expected) => {
  const config = await load({ [name]: before });
  const secret = secretIn(config);
  const first = secret?.reveal();
  write(name, after);
  // A changed setting waits for the next start.
  write('leadsync.yaml', 'connections: {}');
  expect(secret?.reveal()).toBe(expected);
  rmSync(join(folder(), name));
  expect(secret?.reveal()).toBe(expected);
  write(name, before);
  expect(secret?.reveal()).toBe(first);
});

test('a Redis is logged in to with what its file holds at the moment', async () => {
  const config = await load({ REDIS_URL: 'redis-sentinel://:1@r?master=m&sentinelPassword=1' });
  if (config.redisUrl === undefined) throw new Error('REDIS_URL is not set');
  const address = redisAddressOf(config.redisUrl);
  write('REDIS_URL', 'redis-sentinel://u:2@r?master=m&sentinelPassword=3');
  expect([address.username, address.password?.reveal(), address.sentinel?.password?.reveal()]).toEqual([
    'u',
    '2',
    '3',
  ]);
});

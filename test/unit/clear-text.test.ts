import { expect, test } from 'vitest';
import { clearTextOf } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { Secret } from '../../src/config/secret.ts';

test.each([
  ['postgres://u:p@db.example.com/x', true],
  ['postgres://u:p@10.0.0.5:5432/x', true],
  ['postgres://u:p@db.example.com/x?sslmode=disable', true],
  ['postgres://u:p@db.example.com/x?ssl=false', true],
  ['postgres://u:p@localhost/x?host=db.example.com', true],
  ['postgres://u:p@db.example.com/x?sslmode=verify-full', false],
  ['postgres://u:p@db.example.com/x?sslmode=require', false],
  ['postgres://u:p@db.example.com/x?ssl=true', false],
  ['postgres://u:p@db.example.com/x?sslrootcert=/etc/ca.pem', false],
  ['postgres://u:p@localhost/x', false],
  ['postgres://u:p@127.0.0.1/x', false],
  ['postgres://u:p@[::1]/x', false],
  ['postgres:///x', false],
  ['postgres://u:p@db.example.com/x?host=/run/postgresql', false],
  ['postgres://u:p@%2Frun%2Fpostgresql/x', false],
])('%s: in clear to another machine is %s', (text, expected) => {
  const url = new Secret(text);
  const table = { table: 'leads', idColumn: 'lead_id', timeZone: 'UTC', isZoneSet: false };
  const target = { type: 'postgres-table', url, ...table } as const;
  const found = clearTextOf({ databaseUrl: url, connections: [{ name: 'berlin', target }] });
  const both = ['DATABASE_URL', 'connections.berlin.target.url'];
  expect(found.map(({ setting }) => setting)).toEqual(expected ? both : []);
});

test.each([
  ['redis://:p@cache.example.com', true],
  ['redis-sentinel://:p@127.0.0.1,cache.example.com/?master=m', true],
  ['redis-cluster://:p@cache.example.com', true],
  ['rediss://:p@cache.example.com', false],
  ['rediss-cluster://:p@cache.example.com', false],
  ['redis://:p@127.0.0.1:6379', false],
  ['redis://[::1]', false],
])('%s: in clear to another machine is %s', (text, expected) => {
  const found = clearTextOf({ redisUrl: new Secret(text), connections: [] });
  expect(found.map(({ setting }) => setting)).toEqual(expected ? ['REDIS_URL'] : []);
});

const env = {
  LEADS_BASE_URL: 'https://api.example.com',
  LEADS_API_KEY: 'a-key-of-some-length',
  TARGET: 'postgres-table:leads',
  POSTGRES_TABLE_URL: 'postgres://u:secret-1@db.example.com/crm',
  DATABASE_URL: 'postgres://u:secret-2@db.example.com/x',
  REDIS_URL: 'redis://:secret-3@cache.example.com',
};

test('REQUIRE_TLS refuses all of them at once, and shows no password', async () => {
  const { redisUrl } = await loadConfig({ env, cwd: '/' });
  expect(redisUrl?.reveal()).toBe(env.REDIS_URL);
  const refusal = loadConfig({ env: { ...env, REQUIRE_TLS: 'true' }, cwd: '/' });
  await expect(refusal).rejects.toMatchObject({
    code: 'config.invalid',
    mistakes: [
      { where: 'DATABASE_URL', message: expect.stringContaining('?sslmode=verify-full') },
      { where: 'REDIS_URL', message: expect.stringContaining('rediss') },
      { where: expect.stringContaining('target.url'), message: expect.stringContaining('TLS') },
    ],
  });
  await expect(refusal).rejects.not.toMatchObject({ message: expect.stringMatching(/secret-\d/) });
});

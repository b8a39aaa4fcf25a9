import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { targetName } from '../../src/config/config.ts';
import { mistakesIn } from './config-file-scene.ts';

const url = 'postgres://anna:geheim@db.example.com:5433/crm';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'leadsync-config-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

test.each([
  ['postgres-table:leads', 'leads', 'public.leads'],
  ['Postgres-Table:Sales team.Open leads', 'Sales team.Open leads', 'Sales team.Open leads'],
])('TARGET=%s', async (TARGET, table, name) => {
  const env = { LEADS_BASE_URL: 'https://x', LEADS_API_KEY: 'k', TARGET, POSTGRES_TABLE_URL: url };
  const [connection] = (await loadConfig({ env, cwd })).connections;
  expect(JSON.parse(JSON.stringify(connection?.target))).toEqual({
    type: 'postgres-table',
    url: '[secret]',
    table,
    idColumn: 'lead_id',
    timeZone: 'UTC',
    isZoneSet: false,
  });
  expect(connection?.target.type === 'postgres-table' && connection.target.url.reveal()).toBe(url);
  expect(connection?.fields.map(({ column }) => column)).toEqual(
    expect.arrayContaining(['company_name', 'segment', 'next_follow_up_at']),
  );
  expect(connection && targetName(connection.target)).toBe(`postgres-table:db.example.com:5433/crm/${name}`);
});

const connection = (name: string, target: string): string =>
  `  ${name}:\n    leads: { baseUrl: https://x, apiKey: k }\n    target: { type: postgres-table, ${target} }\n`;

async function mistakesOf(content: string) {
  await writeFile(join(cwd, 'leadsync.yaml'), `connections:\n${content}`);
  const mistakes = await mistakesIn(loadConfig({ env: {}, cwd }));
  return mistakes.map(({ path, message, found }) => [path, message, found]);
}

test('two connections on one table, whoever logs in', async () => {
  const content = [
    connection('a', `url: "${url}", table: leads`),
    connection('b', 'url: "postgresql://ben@db.example.com:5433/crm", table: public.leads'),
    connection('c', `url: "${url}", table: other`),
  ];
  expect(await mistakesOf(content.join(''))).toEqual([
    [
      'connections.b.target.table',
      'must be another table: connection a writes to this one',
      '"public.leads"',
    ],
  ]);
});

test('two connections on one table, the host and the usual port written in two ways', async () => {
  const content = [
    connection('a', 'url: "postgres://anna@db.example.com/crm", table: leads'),
    connection('b', 'url: "postgres://anna@DB.example.com:5432/crm", table: leads'),
  ];
  expect(await mistakesOf(content.join(''))).toEqual([
    ['connections.b.target.table', expect.any(String), expect.any(String)],
  ]);
});

test.each(['""', '.leads', 'a.b.c', `"${'x'.repeat(64)}"`])('the table %s', async (table) => {
  expect(await mistakesOf(connection('a', `url: "${url}", table: ${table}`))).toEqual([
    ['connections.a.target.table', 'must be the name of a table: TABLE or SCHEMA.TABLE', expect.any(String)],
  ]);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { createTestDatabase, openPool } from '../../support/database.ts';
import { Workspace } from '../../support/workspace.ts';
import { fields, idOf, nothing, switchAndBack, type Where } from './places-scene.ts';

test('Postgres: another table, the same name in another schema, and in another database', async () => {
  await using stack = new AsyncDisposableStack();
  const crm = stack.adopt(await createTestDatabase(), (made) => made.drop());
  const archive = stack.adopt(await createTestDatabase(), (made) => made.drop());
  const admin = stack.adopt(openPool(crm.url), (pool) => pool.end());
  const other = stack.adopt(openPool(archive.url), (pool) => pool.end());
  await admin.query('create schema sales');
  const at = (workspace: Workspace, url: string, pool: pg.Pool, table: string): Where => ({
    point: () => {
      workspace.env['CRM_URL'] = url;
      workspace.configure({
        fields,
        target: { type: 'postgres-table', url: '${CRM_URL}', table, path: undefined, idColumn: 'lead_id' },
      });
    },
    city: async (leadId) =>
      (await pool.query<{ City: string }>(`select "City" from ${table} where lead_id = $1`, [leadId])).rows[0]
        ?.City,
    edit: async (leadId, city) => {
      await pool.query(`update ${table} set "City" = $2 where lead_id = $1`, [leadId, city]);
    },
  });
  for (const [url, pool, table] of [
    [crm.url, admin, 'public.partners'],
    [crm.url, admin, 'sales.leads_here'],
    [archive.url, other, 'public.leads_here'],
  ] as const) {
    await using workspace = await Workspace.open({ sandbox: { leads: 8 } });
    await switchAndBack(
      workspace,
      at(workspace, crm.url, admin, 'public.leads_here'),
      at(workspace, url, pool, table),
    );
    await admin.query('drop table public.leads_here');
    // Of the table that is gone no other is made.
    expect(await workspace.run()).toMatchObject({ status: 'stopped', refusals: [{ code: 'target-gone' }] });
    expect((await admin.query(`select to_regclass('public.leads_here') as there`)).rows).toEqual([
      { there: null },
    ]);
  }
});

test('Postgres: a table that was renamed, the setting with it, goes on', async () => {
  await using stack = new AsyncDisposableStack();
  const crm = stack.adopt(await createTestDatabase(), (made) => made.drop());
  const admin = stack.adopt(openPool(crm.url), (pool) => pool.end());
  await using workspace = await Workspace.open({ sandbox: { leads: 8 }, env: { CRM_URL: crm.url } });
  const point = (table: string): void =>
    workspace.configure({
      fields,
      target: { type: 'postgres-table', url: '${CRM_URL}', table, path: undefined, idColumn: 'lead_id' },
    });
  point('companies');
  await workspace.sync();
  const id = idOf(workspace, 0);
  await admin.query(`update companies set "City" = 'Ulm' where lead_id = $1`, [id]);
  await admin.query('alter table companies rename to customers');
  point('customers');
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: nothing,
    updated: { leads: 1, rows: 0 },
    problems: [{ code: 'place.moved' }],
  });
  expect(workspace.sandbox.leads.get(id)?.['city']).toBe('Ulm');
});

test('Postgres: two connections that keep one table under two names of its server are told', async () => {
  await using stack = new AsyncDisposableStack();
  const crm = stack.adopt(await createTestDatabase(), (made) => made.drop());
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const url = new URL(crm.url);
  const other = new URL(crm.url);
  other.hostname = url.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
  Object.assign(workspace.env, { URL_1: url.href, URL_2: other.href });
  const leads = { baseUrl: workspace.sandbox.url, apiKey: '${LEADS_API_KEY}' };
  const connections = Object.fromEntries(
    ['main', 'second'].map((name, at) => [
      name,
      {
        fields,
        leads,
        target: { type: 'postgres-table', url: `\${URL_${at + 1}}`, table: 'companies', idColumn: 'lead_id' },
      },
    ]),
  );
  writeFileSync(join(workspace.folder, 'leadsync.yaml'), JSON.stringify({ connections }));
  await workspace.cli('sync');
  const { runs } = (await workspace.cli('sync', '--json')).json<{
    runs: { status: string; problems: { code: string }[] }[];
  }>();
  for (const run of runs)
    expect(run).toMatchObject({ status: 'succeeded', problems: [{ code: 'place.shared' }] });
  const { checks } = (await workspace.cli('check', '--json')).json<{
    checks: { name: string; ok: boolean }[];
  }>();
  expect(checks.find(({ name }) => name === 'second: place')).toMatchObject({
    ok: false,
    code: 'place.shared',
    message: expect.stringContaining('by the connection main too'),
  });
});

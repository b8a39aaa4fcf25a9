import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test, vi } from 'vitest';
import { startSheetsSandbox } from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import { administrate } from '../../support/administrate.ts';
import { createTestDatabase, openPool } from '../../support/database.ts';
import { Workspace } from '../../support/workspace.ts';

vi.setConfig({ testTimeout: 120_000 });

/** A table of which copies can be kept and put back, and of which a cell can be typed into. */
interface Kind extends AsyncDisposable {
  readonly workspace: Workspace;
  type(leadId: string, city: string): Promise<void>;
  keep(): Promise<void>;
  putBack(): Promise<void>;
}

async function xlsx(): Promise<Kind> {
  const workspace = await Workspace.open({
    sandbox: { leads: 30 },
    connection: { target: { path: './leads.xlsx' } },
  });
  const [path, copy] = ['leads.xlsx', 'copy.xlsx'].map((name) => join(workspace.folder, name)) as [
    string,
    string,
  ];
  return {
    workspace,
    // Edits of the table come through the service, whose own edits are carried into it: enough for a file that is replaced.
    type: async (leadId, city) => void workspace.sandbox.leads.edit(leadId, { city }),
    keep: async () => copyFileSync(path, copy),
    putBack: async () => copyFileSync(copy, path),
    [Symbol.asyncDispose]: () => workspace[Symbol.asyncDispose](),
  };
}

async function googleSheets(): Promise<Kind> {
  const sheets = await startSheetsSandbox({ quotas: null });
  const workspace = await Workspace.open({
    sandbox: { leads: 30 },
    connection: { target: { type: 'google-sheets', spreadsheet: sheets.spreadsheetId, path: undefined } },
    env: { GOOGLE_SHEETS_URL: sheets.url },
  });
  writeFileSync(join(workspace.folder, 'key.json'), sheets.keyFile());
  Object.assign(workspace.env, { GOOGLE_APPLICATION_CREDENTIALS: join(workspace.folder, 'key.json') });
  const grid = (): string[][] => sheets.person.grid('Leads') ?? [];
  let kept: string[][] = [];
  return {
    workspace,
    type: async (leadId, city) => {
      const [head = []] = grid();
      const row = grid().findIndex((cells) => cells[head.indexOf('Lead ID')] === leadId);
      sheets.person.type('Leads', row, head.indexOf('City'), city);
    },
    keep: async () => void (kept = grid()),
    putBack: async () => sheets.person.put('Leads', kept, { typeDates: true }),
    [Symbol.asyncDispose]: async () => {
      await workspace[Symbol.asyncDispose]();
      await sheets[Symbol.asyncDispose]();
    },
  };
}

async function postgresTable(): Promise<Kind & { readonly name: string }> {
  const database = await createTestDatabase();
  const pool = openPool(database.url);
  // A database that is restored ends its sessions.
  pool.on('error', () => {});
  const workspace = await Workspace.open({
    sandbox: { leads: 30 },
    connection: {
      target: { type: 'postgres-table', url: database.url, table: 'public.leads', path: undefined },
    },
  });
  return {
    name: new URL(database.url).pathname.slice(1),
    workspace,
    type: async (leadId, city) =>
      void (await pool.query(`update leads set city = $2 where lead_id = $1`, [leadId, city])),
    keep: async () => void (await pool.query('create table copy as table leads')),
    // As a dump of the table is loaded.
    putBack: async () => void (await pool.query('truncate leads; insert into leads table copy')),
    [Symbol.asyncDispose]: async () => {
      await workspace[Symbol.asyncDispose]();
      await pool.end();
      await database.drop();
    },
  };
}

test.each([
  ['an Excel workbook', xlsx],
  ['a Google spreadsheet', googleSheets],
  ['a table in Postgres', postgresTable],
] as const)(
  '%s, put back to what it was yesterday: the run stops, and it is brought forward',
  async (_, open) => {
    await using kind = await open();
    const { workspace } = kind;
    const { leads, log } = workspace.sandbox;
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 30 } });
    await kind.keep();
    const ids = leads.list().map(({ id }) => id);
    for (const id of ids.slice(0, 2)) leads.edit(id, { stage: 'edited' });
    for (const id of ids.slice(2, 6)) await kind.type(id, 'typed');
    leads.add({ companyName: 'Fresh AG', stage: 'new' });
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded' });
    await kind.putBack();
    const before = log.filter(({ method }) => method !== 'GET').length;
    const { status, problems } = await workspace.sync();
    expect(status).toBe('stopped');
    expect(problems).toMatchObject([
      { code: 'guard.older-copy', message: expect.stringContaining('in 6 cells') as unknown },
    ]);
    expect(log.filter(({ method }) => method !== 'GET')).toHaveLength(before);
    await kind.type(ids[10] ?? '', 'typed into the copy');
    expect(await workspace.sync({ allow: ['older-copy:update'] })).toMatchObject({
      status: 'succeeded',
      created: { leads: 0, rows: 1 },
      receipt: { records: 31, equal: 31 },
    });
    const cities = leads.list().map(({ city }) => city);
    expect(cities.filter((city) => city === 'typed')).toHaveLength(4);
    expect(cities).toContain('typed into the copy');
    expect(leads.list().filter(({ stage }) => stage === 'edited')).toHaveLength(2);
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
  },
);

test('a Postgres database that is restored as a whole bears the older mark: a single cell is enough', async () => {
  await using kind = await postgresTable();
  const { workspace, name } = kind;
  const { leads } = workspace.sandbox;
  await workspace.sync();
  const server = inject('databaseUrl');
  const copy = async (from: string, to: string): Promise<void> => {
    const others = `select pg_terminate_backend(pid) from pg_stat_activity where datname in ('${from}', '${to}')`;
    await administrate(server, others);
    await administrate(server, `drop database if exists ${to}`);
    await administrate(server, `create database ${to} template ${from}`);
  };
  await copy(name, `${name}_then`);
  const [lead] = leads.list();
  leads.edit(lead?.id ?? '', { city: 'Rome' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 1 } });
  await copy(`${name}_then`, name);
  await administrate(server, `drop database ${name}_then`);
  expect(await workspace.sync()).toMatchObject({
    status: 'stopped',
    problems: [{ code: 'guard.older-copy' }],
  });
  expect(await workspace.sync({ allow: ['older-copy:update'] })).toMatchObject({
    status: 'succeeded',
    updated: { leads: 0, rows: 1 },
  });
  expect(leads.get(lead?.id ?? '')?.city).toBe('Rome');
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { startSheetsSandbox } from '../../src/sandbox/google-sheets/sheets-sandbox.ts';
import type { SheetsPerson } from '../../src/sandbox/google-sheets/person.ts';
import { type HubSpotSandbox, startHubSpotSandbox } from '../../src/sandbox/hubspot/hubspot-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { Workspace } from '../support/workspace.ts';

const fields = { companyName: 'Company', city: 'City', stage: 'Stage' };
const none = { leads: 0, rows: 0 };

const idOf = ({ sandbox }: Workspace, at: number): string => sandbox.leads.list()[at]?.id ?? '';

/** What the place of a kind of target is asked to show, of the row of a lead. */
interface Where {
  /** Makes the settings name the place. */
  readonly point: () => void;
  readonly city: (leadId: string) => string | undefined | Promise<string | undefined>;
  readonly edit: (leadId: string, city: string) => void | Promise<void>;
}

/** Synced, switched, edited in the service, switched back: the newer values arrive, nothing is reverted. */
async function switchAndBack(workspace: Workspace, here: Where, there: Where): Promise<void> {
  here.point();
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 8 }, problems: [] });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: none, problems: [] });
  const [a, b, c] = [idOf(workspace, 0), idOf(workspace, 1), idOf(workspace, 2)];
  there.point();
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: { leads: 0, rows: 8 },
    problems: [{ code: 'place.first-sync' }],
  });
  workspace.sandbox.leads.edit(a, { city: 'Ulm' });
  await there.edit(b, 'Bonn');
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1, rows: 1 },
    problems: [],
  });
  await here.edit(c, 'Jena');
  here.point();
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: none,
    updated: { leads: 1, rows: 2 },
    problems: [{ code: 'place.switched' }],
  });
  expect(await Promise.all([a, b, c].map(async (id) => here.city(id)))).toEqual(['Ulm', 'Bonn', 'Jena']);
  expect([a, b, c].map((id) => workspace.sandbox.leads.get(id)?.['city'])).toEqual(['Ulm', 'Bonn', 'Jena']);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: none, problems: [] });
}

async function sheetsScene(): Promise<{
  readonly workspace: Workspace;
  readonly person: SheetsPerson;
  readonly at: (tab: string) => Where;
  readonly spreadsheetId: string;
  readonly point: (tab: string, spreadsheet?: string) => void;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  await using stack = new AsyncDisposableStack();
  const sheets = stack.use(await startSheetsSandbox({ quotas: null, timeZone: 'Europe/Berlin' }));
  const workspace = stack.use(
    await Workspace.open({ sandbox: { leads: 8 }, env: { GOOGLE_SHEETS_URL: sheets.url } }),
  );
  const { person, spreadsheetId } = sheets;
  const keyPath = join(workspace.folder, 'key.json');
  writeFileSync(keyPath, sheets.keyFile());
  workspace.env['GOOGLE_APPLICATION_CREDENTIALS'] = keyPath;
  const point = (tab: string, spreadsheet = spreadsheetId): void =>
    workspace.configure({ fields, target: { type: 'google-sheets', spreadsheet, tab, path: undefined } });
  const rowOf = (tab: string, leadId: string) =>
    (person.grid(tab) ?? []).findIndex((row) => row[0] === leadId);
  const at = (tab: string): Where => ({
    point: () => point(tab),
    city: (leadId) => person.grid(tab)?.[rowOf(tab, leadId)]?.[2],
    edit: (leadId, city) => person.type(tab, rowOf(tab, leadId), 2, city),
  });
  const owned = stack.move();
  return {
    workspace,
    person,
    at,
    point,
    spreadsheetId,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test('Google Sheets: another tab and back', async () => {
  await using scene = await sheetsScene();
  await switchAndBack(scene.workspace, scene.at('Leads'), scene.at('Other'));
});

test('Google Sheets: a copied tab that takes the name of the one that is kept stops the run', async () => {
  await using scene = await sheetsScene();
  const { workspace, person } = scene;
  scene.point('Leads');
  await workspace.sync();
  const id = idOf(workspace, 0);
  person.addTab('Copy');
  person.put('Copy', person.grid('Leads') ?? []);
  workspace.sandbox.leads.edit(id, { city: 'Ulm' });
  expect(await workspace.sync()).toMatchObject({ updated: { rows: 1 } });
  person.renameTab('Leads', 'Leads until today');
  person.renameTab('Copy', 'Leads');
  const run = await workspace.run();
  expect(run).toMatchObject({ status: 'stopped', refusals: [{ code: 'other-target' }] });
  expect(workspace.sandbox.leads.get(id)?.['city']).toBe('Ulm');
  person.renameTab('Leads', 'Copy');
  person.renameTab('Leads until today', 'Leads');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: none, problems: [] });
});

test('Google Sheets: a tab that was renamed, the setting with it, is the same place', async () => {
  await using scene = await sheetsScene();
  const { workspace, person } = scene;
  scene.point('Leads');
  await workspace.sync();
  const id = idOf(workspace, 0);
  await scene.at('Leads').edit(id, 'Ulm');
  person.renameTab('Leads', 'Customers');
  expect(await workspace.run()).toMatchObject({ report: { problems: [{ code: 'target.tab-renamed' }] } });
  scene.point('Customers');
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1, rows: 0 },
    problems: [],
  });
  expect(workspace.sandbox.leads.get(id)?.['city']).toBe('Ulm');
});

test('Google Sheets: a tab that is gone is not made anew; one that took its place goes on', async () => {
  await using scene = await sheetsScene();
  const { workspace, person } = scene;
  scene.point('Leads');
  await workspace.sync();
  const grid = person.grid('Leads') ?? [];
  person.addTab('Else');
  person.deleteTab('Leads');
  const run = await workspace.run();
  expect(run).toMatchObject({ status: 'stopped', refusals: [{ code: 'target-gone' }] });
  expect(person.grid('Leads')).toBeNull();
  workspace.sandbox.leads.edit(idOf(workspace, 0), { city: 'Ulm' });
  person.addTab('Leads');
  person.put('Leads', grid);
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: none,
    updated: { leads: 0, rows: 1 },
    problems: [{ code: 'place.moved' }],
  });
});

test('Google Sheets: a copied spreadsheet that is made the target is another place, and the way back is open', async () => {
  await using scene = await sheetsScene();
  const { workspace, person } = scene;
  scene.point('Leads');
  await workspace.sync();
  const [a, b] = [idOf(workspace, 0), idOf(workspace, 1)];
  const copy = person.copySpreadsheet();
  workspace.sandbox.leads.edit(a, { city: 'Ulm' });
  await workspace.sync();
  scene.point('Leads', copy.spreadsheetId);
  expect((await workspace.cli('check', '--fix')).stdout).toContain('was a copy');
  expect(await workspace.run()).toMatchObject({ status: 'stopped', refusals: [{ code: 'other-target' }] });
  expect(workspace.sandbox.leads.get(a)?.['city']).toBe('Ulm');
  await scene.at('Leads').edit(b, 'Bonn');
  scene.point('Leads');
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1, rows: 0 },
    problems: [],
  });
});

test('Google Sheets: a quiet night costs one request more', async () => {
  await using scene = await sheetsScene();
  const { workspace } = scene;
  scene.point('Leads');
  await workspace.sync();
  await workspace.sync();
  expect(await workspace.sync()).toMatchObject({ requests: { target: 5 } });
});

test('HubSpot: another portal and back', async () => {
  await using first = await startHubSpotSandbox({ limits: null });
  await using second = await startHubSpotSandbox({
    limits: null,
    portalId: 2,
    token: 'pat-na1-of-the-other-portal',
  });
  await using workspace = await Workspace.open({
    sandbox: { leads: 8 },
    env: { TOKEN_1: first.token, TOKEN_2: second.token },
  });
  const at = ({ url, person }: HubSpotSandbox, token: string): Where => {
    const companyOf = (leadId: string) =>
      person.companies().find(({ properties }) => properties['lead_id'] === leadId);
    return {
      point: () => {
        workspace.env['HUBSPOT_URL'] = url;
        workspace.configure({ target: { type: 'hubspot', token, path: undefined } });
      },
      city: (leadId) => companyOf(leadId)?.properties['city'] ?? undefined,
      edit: (leadId, city) => person.edit(companyOf(leadId)?.id ?? '', { city }),
    };
  };
  await switchAndBack(workspace, at(first, '${TOKEN_1}'), at(second, '${TOKEN_2}'));
  const { rows } = await workspace.database.pool.query('select identity from places order by 1');
  expect(rows).toEqual([{ identity: 'hubspot:1/companies' }, { identity: 'hubspot:2/companies' }]);
});

test('Postgres: another table, the same name in another schema, and in another database', async () => {
  await using stack = new AsyncDisposableStack();
  const crm = stack.adopt(await createTestDatabase(), (made) => made.drop());
  const archive = stack.adopt(await createTestDatabase(), (made) => made.drop());
  const admin = stack.adopt(new pg.Pool({ connectionString: crm.url }), (pool) => pool.end());
  const other = stack.adopt(new pg.Pool({ connectionString: archive.url }), (pool) => pool.end());
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
  const admin = stack.adopt(new pg.Pool({ connectionString: crm.url }), (pool) => pool.end());
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
    created: none,
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

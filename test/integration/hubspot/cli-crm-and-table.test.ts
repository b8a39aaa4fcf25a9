import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { startHubSpotSandbox } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { oneObject } from '../../support/cli.ts';
import { createTestDatabase } from '../../support/database.ts';
import { Workspace } from '../../support/workspace.ts';

// Each test starts many processes.
vi.setConfig({ testTimeout: 180_000 });

const none = { leads: 0, rows: 0 };

test('check, sync, edits on both sides, a new company: through HubSpot', async () => {
  await using portal = await startHubSpotSandbox({ limits: null });
  const { person } = portal;
  await using workspace = await Workspace.open({
    sandbox: { leads: 5 },
    connection: {
      target: { type: 'hubspot', token: '${HUBSPOT_TOKEN}', statusColumn: 'lead_status', path: undefined },
    },
    env: { HUBSPOT_URL: portal.url, HUBSPOT_TOKEN: portal.token },
  });
  const { leads } = workspace.sandbox;
  let said = '';
  const cli = async (...args: string[]) => {
    const result = await workspace.start(args, { env: { LOG_LEVEL: 'trace' } }).ended;
    said += result.stdout + result.stderr;
    return result;
  };
  const sync = async () => oneObject(await cli('sync', '--json')) as unknown as SyncReport;
  const companyOf = (leadId: string) =>
    person.companies().find(({ properties }) => properties['lead_id'] === leadId);

  const check = await cli('check');
  expect(check.code, check.stdout).toBe(0);
  expect(check.stdout).toContain('main: target: hubspot:companies: 0 rows');
  expect(check.stdout).not.toContain('share the spreadsheet');
  const fixed = await cli('check', '--fix');
  expect(fixed.stdout).toContain('hubspot:companies lacked mapped properties or options; they were created');
  expect((await cli('check', '--fix')).stdout).toContain('nothing had to be fixed');

  expect(await sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 5 } });
  const [inPortal, inService] = leads.list();
  if (!inPortal || !inService) throw new Error('too few leads');
  person.edit(companyOf(inPortal.id)?.id ?? '', {
    city: 'Lübeck',
    lead_next_follow_up: '2027-07-01T07:30:00Z',
  });
  leads.edit(inService.id, { city: 'Kiel' });
  person.create({ name: 'Bäckerei Sonnenhof GmbH', city: 'Freiburg', lead_sync: 'true' });
  person.create({ name: 'Nobody asked' });
  expect(await sync()).toMatchObject({ status: 'succeeded', created: { leads: 1, rows: 0 } });
  expect(leads.get(inPortal.id)).toMatchObject({
    city: 'Lübeck',
    nextFollowUpAt: '2027-07-01T07:30:00.000Z',
  });
  expect(companyOf(inService.id)?.properties['city']).toBe('Kiel');
  const made = leads.list().find(({ companyName }) => companyName === 'Bäckerei Sonnenhof GmbH');
  expect(companyOf(made?.id ?? '')?.properties).toMatchObject({ name: 'Bäckerei Sonnenhof GmbH' });

  expect(await sync()).toMatchObject({
    status: 'succeeded',
    created: none,
    updated: none,
    deleted: none,
    held: 0,
  });
  person.archiveProperty('lead_status');
  expect((await cli('check')).stdout).toContain('no text property named "lead_status"');
  expect(said).not.toContain(portal.token);
});

test('ids that vanish from the companies stop the sync: no second company for every lead', async () => {
  await using portal = await startHubSpotSandbox({ limits: null });
  const { person } = portal;
  await using workspace = await Workspace.open({
    sandbox: { leads: 30 },
    connection: { target: { type: 'hubspot', token: '${HUBSPOT_TOKEN}', path: undefined } },
    env: { HUBSPOT_URL: portal.url, HUBSPOT_TOKEN: portal.token },
  });
  const sync = async () => workspace.cli('sync', '--json');
  expect((await sync()).code).toBe(0);
  for (const { id } of person.companies()) person.edit(id, { lead_id: '' });
  const stopped = await sync();
  expect(stopped.code).toBe(4);
  expect(stopped.stdout).toContain('max-changes');
  expect(person.companies()).toHaveLength(30);
});

test('check, sync, edits on both sides, a new row: through a table of another database', async () => {
  const database = await createTestDatabase({ empty: true });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => database.drop());
  const person = new pg.Client({ connectionString: database.url });
  await person.connect();
  stack.defer(() => person.end());
  await using workspace = await Workspace.open({
    sandbox: { leads: 5 },
    connection: {
      target: {
        type: 'postgres-table',
        url: '${POSTGRES_TABLE_URL}',
        table: 'public.leads',
        statusColumn: 'sync',
        path: undefined,
      },
    },
    env: { POSTGRES_TABLE_URL: database.url },
  });
  const { leads } = workspace.sandbox;
  const sync = async () => oneObject(await workspace.cli('sync', '--json')) as unknown as SyncReport;

  const check = await workspace.cli('check');
  expect(check.code, check.stdout).toBe(0);
  expect(check.stdout).toContain('main: target: table public.leads: 0 rows');
  expect(await sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 5 } });
  const [inTable, inService] = leads.list();
  if (!inTable || !inService) throw new Error('too few leads');
  await person.query(
    `update leads set city = 'Lübeck', next_follow_up_at = '2027-07-01 09:30 Europe/Berlin' where lead_id = $1`,
    [inTable.id],
  );
  leads.edit(inService.id, { city: 'Kiel' });
  await person.query(`insert into leads (company_name, city) values ('Bäckerei Sonnenhof GmbH', 'Freiburg')`);
  expect(await sync()).toMatchObject({ status: 'succeeded', created: { leads: 1, rows: 0 } });
  expect(leads.get(inTable.id)).toMatchObject({ city: 'Lübeck', nextFollowUpAt: '2027-07-01T07:30:00.000Z' });
  const made = leads.list().find(({ companyName }) => companyName === 'Bäckerei Sonnenhof GmbH');
  const shown = await person.query<{ city: string; sync: string }>(
    'select city, sync from leads where lead_id = any($1) order by city',
    [[made?.id, inService.id]],
  );
  expect(shown.rows).toEqual([
    { city: 'Freiburg', sync: 'in step' },
    { city: 'Kiel', sync: 'in step' },
  ]);
  expect(await sync()).toMatchObject({
    status: 'succeeded',
    created: none,
    updated: none,
    deleted: none,
    held: 0,
  });

  await person.query(
    `alter table leads drop column city, add column city text generated always as ('x') stored`,
  );
  expect((await workspace.cli('check')).stdout).toMatch(/Filled only by the database.*: city\./);
});

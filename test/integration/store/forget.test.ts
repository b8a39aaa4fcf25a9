import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runHousekeeping } from '../../../src/worker/housekeeping.ts';
import { mailQueue } from '../../../src/worker/mail-jobs.ts';
import { countKept, ownedTables } from '../../../src/store/retention.ts';
import { acquireLease } from '../../../src/store/leases.ts';
import { alertScene } from '../alerts/alert-scene.ts';
import { clearedForMs } from '../../../src/alerts/problems-of.ts';
import { checkAlerts } from '../../../src/alerts/watch-alerts.ts';
import { Workspace } from '../../support/workspace.ts';

const never = new AbortController().signal;

/** Has synced into two places, one after the other; its reminders are planned, and one of its fields is held. */
async function openUsed(): Promise<Workspace> {
  const workspace = await Workspace.open({
    sandbox: { leads: 5 },
    connection: { reminders: { from: 'sales@example.com', to: ['anna@example.com'] } },
  });
  const [lead] = workspace.sandbox.leads.list();
  workspace.sandbox.leads.edit(lead?.id ?? '', {
    nextFollowUpAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
  expect((await workspace.cli('sync')).code).toBe(0);
  workspace.sheet.edit((row) => row['Lead ID'] === lead?.id, { City: 'Bonn' });
  workspace.sandbox.leads.edit(lead?.id ?? '', { city: 'Ulm' });
  expect((await workspace.cli('sync')).code).toBe(3);
  workspace.configure({
    target: { path: './other.csv' },
    reminders: { from: 'sales@example.com', to: ['anna@example.com'] },
  });
  expect((await workspace.cli('sync')).code).toBe(0);
  return workspace;
}

/** Another connection stands in leadsync.yaml from now on. */
function leave(workspace: Workspace): void {
  const file = join(workspace.folder, 'leadsync.yaml');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace('"main"', '"hamburg"').replace('other.csv', 'hamburg.csv'),
  );
}

async function isForgotten({ database: { pool } }: Workspace): Promise<void> {
  expect(await countKept(pool, 'main')).toEqual([]);
  const { rows } = await pool.query<{ table: string }>(
    `select table_name as table from information_schema.columns where table_schema = 'leadsync' and column_name = 'connection'`,
  );
  for (const { table } of rows) {
    const { rowCount } = await pool.query(
      `select from ${table} where split_part(connection, '#', 1) = 'main'`,
    );
    expect([table, rowCount]).toEqual([table, 0]);
  }
}

const jobsOfMain = `select from bullmq.job where queue = $1 and data::jsonb->>'connection' = 'main'`;

test('every table that says whose its rows are is among those that forget deletes from', async () => {
  await using workspace = await Workspace.open();
  const { rows } = await workspace.database.pool.query<{ table: string }>(
    `select distinct table_name as table from information_schema.columns
     where table_schema = 'leadsync' and column_name in ('connection', 'run_id')`,
  );
  const owned = ownedTables.map(([table]) => table);
  expect(rows.map(({ table }) => table).filter((table) => !owned.includes(table))).toEqual([]);
});

test('forget: refused while configured or running; lists; deletes all of it with --yes, and nothing else; it may come back', async () => {
  await using workspace = await openUsed();
  const { pool } = workspace.database;
  const configured = await workspace.cli('forget', 'main', '--yes', '--json');
  expect([configured.code, configured.json()]).toMatchObject([2, { error: { code: 'usage.configured' } }]);

  const yaml = readFileSync(join(workspace.folder, 'leadsync.yaml'), 'utf8');
  leave(workspace);
  await workspace.cli('sync');
  const others = await countKept(pool, 'hamburg');
  const list = await workspace.cli('forget', 'main');
  expect(list.code).toBe(0);
  expect(list.stdout).toMatch(/^pairs: 10 rows$/m);
  expect(list.stdout).toMatch(/^held: 1 row$/m);
  expect(list.stdout).toMatch(/^places: 2 rows$/m);
  expect(list.stdout).toMatch(/nothing was deleted. --yes deletes it/);

  const lease = await acquireLease(pool, 'main/sync');
  const running = await workspace.cli('forget', 'main', '--yes', '--json');
  expect([running.code, running.json()]).toMatchObject([1, { error: { code: 'connection.running' } }]);
  expect(await countKept(pool, 'main')).not.toEqual([]);
  await lease?.[Symbol.asyncDispose]();

  const { rows: jobs } = await pool.query(jobsOfMain, [mailQueue]);
  expect(jobs.length).toBeGreaterThan(0);
  expect((await workspace.cli('forget', 'main', '--yes')).code).toBe(0);
  await isForgotten(workspace);
  expect((await pool.query(jobsOfMain, [mailQueue])).rowCount).toBe(0);
  expect(await countKept(pool, 'hamburg')).toEqual(others);
  expect(existsSync(join(workspace.folder, 'leads.csv'))).toBe(true);
  expect(await workspace.cli('forget', 'main', '--yes')).toMatchObject({ code: 2 });

  writeFileSync(join(workspace.folder, 'leadsync.yaml'), yaml);
  const again = await workspace.cli('sync', '--json');
  expect(again.json()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 0 } });
});

test('a connection that left the configuration is forgotten after 90 days, in statements that each delete few rows', async () => {
  await using workspace = await openUsed();
  const { pool } = workspace.database;
  await pool.query(
    `insert into actions (run_id, round, kind, reason) select 1, 1, 'update-row', '' from generate_series(1, 2500)`,
  );
  leave(workspace);
  const age = (days: number) =>
    pool.query(
      `with r as (update runs set progress_at = now() - $1 * interval '1 day'),
         a as (update alerts set raised_at = now() - $1 * interval '1 day')
       update connections set noted_at = now() - $1 * interval '1 day'`,
      [days],
    );
  await using app = await workspace.openApp();
  await age(89);
  await runHousekeeping(app, never);
  expect(await countKept(pool, 'main')).not.toEqual([]);
  await age(91);
  const query = vi.spyOn(app.pool, 'query');
  await runHousekeeping(app, never);
  const deletes = query.mock.calls.flatMap(([text], nth) =>
    typeof text === 'string' && text.startsWith('delete') ? [query.mock.results[nth]?.value as unknown] : [],
  );
  const deleted = (await Promise.all(deletes)) as { rowCount: number }[];
  expect(Math.max(...deleted.map(({ rowCount }) => rowCount))).toBe(1_000);
  await isForgotten(workspace);
});

test('the problems of a connection that left the configuration are over after a day', async () => {
  await using scene = await alertScene();
  const { context, check } = scene.worker();
  await scene.fail();
  await check();
  const gone = { ...context, connections: [], configured: [] };
  const look = async (): Promise<void> => {
    await checkAlerts(gone, never);
    scene.pass(clearedForMs);
    await checkAlerts(gone, never);
  };
  await look();
  expect(scene.hooked()).toHaveLength(1);
  await scene.pool.query(
    `with r as (update runs set progress_at = now() - interval '25 hours') update alerts set raised_at = now() - interval '25 hours'`,
  );
  // Another worker may still have it.
  await checkAlerts({ ...gone, configured: ['main'] }, never);
  expect(scene.hooked()).toHaveLength(1);
  await look();
  expect(scene.hooked()[1]).toBe('leadsync: main: over: the sync failed');
});

import { pino } from 'pino';
import { expect, test } from 'vitest';
import { push } from '../../jobs/push.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { acquireLease } from '../../src/store/leases.ts';
import { openRun } from '../../src/store/runs.ts';
import { advanceRun } from '../../src/sync/run.ts';
import { until } from '../support/until.ts';
import { connectionName, Workspace } from '../support/workspace.ts';

const edits = 90;

/** A synced connection, three workers beside it, and then this many rows edited. */
async function openWithWorkers(): Promise<Workspace> {
  const workspace = await Workspace.open({
    sandbox: { leads: edits, maxLimit: 50, earlyGraceMs: 0 },
    connection: { sync: { schedule: '0 0 1 1 *' } },
  });
  await workspace.sync();
  const workers = [1, 2, 3].map(() => workspace.start(['worker']));
  await until('the workers are ready', () =>
    workers.every((worker) => worker.stderr.includes('"worker is ready"')),
  );
  workspace.sheet.edit(() => true, { City: 'Ulm' });
  return workspace;
}

/** How many processes carried out the actions of the last run. */
async function sharers({ database }: Workspace): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(distinct claimed_by)::int as count from actions where run_id = (select max(id) from runs) and state = 'done'`,
  );
  return rows[0]?.count ?? 0;
}

test('workers share the pushes of a run: each lead is written once, and all requests are counted', async () => {
  await using workspace = await openWithWorkers();
  const { sandbox } = workspace;
  sandbox.set({ faults: [{ kind: 'slow', ms: 20, when: { every: 1 }, on: ['get', 'update'] }] });
  const from = sandbox.log.length;
  const { code, stdout } = await workspace.cli(
    'sync',
    '--json',
    '--allow',
    'whole-field',
    '--allow',
    'max-changes',
  );
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as SyncReport;
  expect(report.updated.leads).toBe(edits);
  expect(await sharers(workspace)).toBeGreaterThan(1);
  const asked = sandbox.log.slice(from);
  const written = asked.filter(({ method }) => method === 'PATCH').map(({ path }) => path);
  expect(new Set(written).size).toBe(edits);
  expect(written).toHaveLength(edits);
  expect(sandbox.leads.list().filter(({ city }) => city !== 'Ulm')).toEqual([]);
  expect(report.requests.leads).toBe(asked.length);
});

test('one Retry-After stops all that share: no request of any process comes early', async () => {
  await using workspace = await openWithWorkers();
  const { sandbox } = workspace;
  sandbox.set({
    faults: [
      { kind: 'status', status: 429, retryAfter: { seconds: 1 }, when: { every: 60 }, on: [] },
      { kind: 'slow', ms: 5, when: { every: 1 }, on: [] },
    ],
    // The scan meets the limit before anything is shared.
    maxLimit: 1,
  });
  const { code } = await workspace.cli('sync', '--allow', 'whole-field', '--allow', 'max-changes');
  expect(code).toBe(0);
  expect(await sharers(workspace)).toBeGreaterThan(1);
  expect(sandbox.leads.list().filter(({ city }) => city !== 'Ulm')).toEqual([]);
  expect(sandbox.stats.throttled).toBeGreaterThanOrEqual(3);
  expect(sandbox.stats.early).toBe(0);
});

test('a helper whose key is refused, or whose leader is gone, asks no more', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 30 } });
  const { sandbox, sheet, database } = workspace;
  await workspace.sync();
  sheet.edit(() => true, { City: 'Ulm' });
  sandbox.set({ faults: [{ kind: 'slow', ms: 30, when: { every: 1 }, on: ['update'] }] });
  const leading = workspace.sync({ allow: ['whole-field', 'max-changes'] });
  await until('something is pushed', () => sandbox.stats.byRoute.update > 0);
  const run = await openRun(database.pool, connectionName, 'sync');
  workspace.env['LEADS_API_KEY'] = 'refused-key';
  await using app = await workspace.openApp();
  const help = () => {
    const payload = { connection: connectionName, runId: run?.id, helper: 0 };
    return push(app, payload, { requestedAt: Date.now() }, new AbortController().signal);
  };
  expect(await help()).toEqual({ done: {} });
  const refused = sandbox.log.filter(({ status }) => status === 401);
  expect(refused).toHaveLength(1);
  expect(await leading).toMatchObject({ status: 'succeeded', updated: { leads: 30 } });

  await database.pool.query(`update runs set phase = 'push-leads', finished_at = null where id = $1`, [
    run?.id,
  ]);
  app.engaged.add(connectionName);
  expect(await help()).toEqual({ done: {} });
});

test('a leader that loses its lease while it waits for others goes, and leaves the run as it is', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  const { sheet, database } = workspace;
  await workspace.sync();
  const [first] = sheet.rows();
  sheet.edit((row) => row['Lead ID'] === first?.['Lead ID'], { City: 'Ulm' });
  await using other = await acquireLease(database.pool, `${connectionName}/push-0`);
  await database.pool.query(`alter table actions alter column claimed_by set default '${other?.token}'`);
  await using app = await workspace.openApp();
  const context = app.contexts.get(connectionName);
  if (context === undefined) throw new Error('the connection is not configured');
  const told: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => told.push(line) });
  const request = { mode: 'sync', allow: [], patience: 3 } as const;
  const leading = advanceRun({ ...context, log }, request, new AbortController().signal);
  await until(
    'it waits',
    async () => (await openRun(database.pool, connectionName, 'sync'))?.phase === 'push-leads',
  );
  await database.pool.query(`select pg_terminate_backend(backend_pid) from leases where name = $1`, [
    `${connectionName}/sync`,
  ]);
  expect(await leading).toMatchObject({ kind: 'again', why: 'busy' });
  expect(told).toEqual([]);
  expect(await openRun(database.pool, connectionName, 'sync')).toMatchObject({ pausedAt: null });
});

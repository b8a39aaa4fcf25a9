import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { runHandlers } from '../../../jobs/runs.ts';
import { runsAtOnce } from '../../../src/app.ts';
import { getRun } from '../../../src/store/runs.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { slackMs, until } from '../../support/until.ts';
import { isSynced, lastRuns, startWorker, yearly } from '../../support/worker.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';
import { portOf } from '../leads-api/leads-api-server.ts';

describe('the HTTP port', () => {
  test('tells that it lives and that the database answers; everything else asks for ADMIN_TOKEN', async () => {
    await using workspace = await Workspace.open({ connection: { sync: yearly } });
    await workspace.sync();
    const { url, process } = await startWorker(workspace, { ADMIN_TOKEN: 'open-sesame' });
    const get = async (path: string, headers: Record<string, string> = {}): Promise<[number, string]> => {
      const reply = await fetch(`${url}${path}`, { headers });
      return [reply.status, (await reply.text()).trim()];
    };
    expect(await get('/healthz')).toEqual([200, 'ok']);
    expect(await get('/readyz')).toEqual([200, 'ready']);
    expect((await get('/'))[0]).toBe(401);
    expect((await get('/nonsense'))[0]).toBe(401);
    expect((await get('/', { authorization: 'Bearer open-sesam' }))[0]).toBe(401);
    expect((await get('/', { authorization: 'open-sesame' }))[0]).toBe(401);
    expect((await get('/nonsense', { authorization: 'Bearer open-sesame' }))[0]).toBe(404);
    expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405);

    const { code, stdout } = await process.kill('SIGTERM');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  });

  test('that is taken: said with its number, and the worker ends', async () => {
    await using workspace = await Workspace.open({ connection: { sync: yearly } });
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      const port = portOf(other);
      const { code, stdout, stderr } = await workspace.start(['worker'], { env: { PORT: String(port) } })
        .ended;
      expect(code).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toContain(`127.0.0.1:${port}`);
      expect(stderr).toContain('[http.port-taken]');
      expect(stderr).toContain('Set PORT');
      expect(workspace.sandbox.stats.requests).toBe(0);
    } finally {
      other.close();
    }
  });
});

test('a missed night is made up for once: a second start does not sync again', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 30 }, connection: { sync: yearly } });
  const first = await startWorker(workspace);
  await until('the night is made up for', () => isSynced(workspace));
  expect(workspace.sheet.rows()).toHaveLength(30);
  expect((await first.process.kill('SIGTERM')).code).toBe(0);
  const asked = workspace.sandbox.stats.requests;

  // Jobs are taken in turn: a sync that was asked for is behind whatever the worker asked for at its start.
  const second = await startWorker(workspace);
  const report = (await workspace.cli('sync', '--json')).json<SyncReport>();
  expect(report.status).toBe('succeeded');
  await second.process.kill('SIGTERM');
  expect(await lastRuns(workspace)).toHaveLength(2);
  expect(workspace.sandbox.stats.requests).toBe(asked + 1);

  const status = (await workspace.cli('status', '--json')).json<{
    connections: { nextRunAt: string; lastRun: SyncReport }[];
  }>();
  expect(status.connections[0]?.lastRun.runId).toBe(report.runId);
  expect(status.connections[0]?.nextRunAt).toMatch(/-01-\d\dT00:00:00.000Z$/);
});

test('each time that a schedule comes due is a sync of its own', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  await using app = await workspace.openApp();
  const queue = (await app.queues()).queue('nights');
  // As `worker` does it, but with nights of two seconds.
  const payload = { connection: connectionName, allow: ['first-leads'], maxAttempts: 1 };
  const firstDue = Math.ceil(Date.now() / 2_000) * 2_000;
  await queue.schedule('nightly', '*/2 * * * * *', 'UTC', 'sync', payload);
  const nights: number[] = [];
  await using _worker = queue.work({
    sync: async (request, job, stop) => {
      const result = await runHandlers(app).sync(request, job, stop);
      if ('done' in result) nights.push(Number(result.done.runId));
      return result;
    },
  });
  await until('the first night is over', () => nights.length >= 1);
  workspace.sandbox.leads.add({ companyName: 'Later GmbH' });
  // The next one may have read the leads already.
  const soFar = nights.length;
  await until('two more are over', () => nights.length >= soFar + 2);
  expect(workspace.sheet.rows()).toHaveLength(4);
  // On a busy machine a run may begin when the next night is due as well: then it is that of both.
  for (const [nth, runId] of nights.entries())
    expect((await getRun(app.pool, runId))?.createdAt, 'no run of a night before').toBeGreaterThanOrEqual(
      firstDue + nth * 2_000,
    );
});

test('SIGTERM in the middle of paging ends it within 10 s; the next start goes on from the stored page', async () => {
  await using workspace = await Workspace.open({
    sandbox: {
      leads: 600,
      maxLimit: 20,
      faults: [{ kind: 'slow', ms: 60_000, when: { once: 8 }, on: ['list'] }],
    },
    connection: { sync: yearly },
  });
  const { sandbox, sheet } = workspace;
  const first = await startWorker(workspace);
  await until('page 8 is asked for', () => sandbox.stats.byRoute.list >= 8);
  const from = Date.now();
  const { code } = await first.process.kill('SIGTERM');
  expect(code).toBe(0);
  expect(Date.now() - from).toBeLessThan(10_000 + slackMs);
  expect(await lastRuns(workspace)).toMatchObject([{ status: 'running' }]);

  const pages = sandbox.log.map(({ query }) => query);
  expect(pages).toHaveLength(7);
  sandbox.set({ faults: [] });
  await startWorker(workspace);
  await until('the sync is done', () => isSynced(workspace));
  const all = sandbox.log.map(({ query }) => query);
  // The last page may not have been stored yet; none before it is asked for again.
  expect(all.slice(pages.length).filter((query) => pages.slice(0, -1).includes(query))).toEqual([]);
  expect(await lastRuns(workspace)).toHaveLength(1);
  expect(sheet.rows()).toHaveLength(600);
  expect(new Set(sheet.rows().map((row) => row['Lead ID'])).size).toBe(600);
});

test('two jobs that ask for the same, the second of which is late: one run', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  await using app = await workspace.openApp();
  const payload = { connection: connectionName, allow: ['first-leads'], maxAttempts: 1 };
  const job = { requestedAt: Date.now() - 60_000 };
  const ask = () => runHandlers(app).sync(payload, job, new AbortController().signal);
  await using stack = new AsyncDisposableStack();
  // With all places taken but one, the second job looks around while the first is under way, and begins after its end.
  for (let taken = 1; taken < runsAtOnce(app.pool.options.max); taken++) stack.use(await app.runs.acquire());
  const results = await Promise.all([ask(), ask()]);
  expect(results).toEqual([{ done: { runId: 1 } }, { done: { runId: 1 } }]);
  expect(await lastRuns(workspace)).toHaveLength(1);
});

test('two syncs at once: one after the other, no row and no lead twice', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 120, maxLimit: 20, faults: [{ kind: 'slow', ms: 30, when: { every: 1 }, on: [] }] },
  });
  const { sandbox, sheet } = workspace;
  sheet.write([
    ['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up'],
    ['', 'New row GmbH', '', 'Ulm', '', '', ''],
  ]);
  const results = await Promise.all(
    [1, 2].map(() => workspace.cli('sync', '--allow', 'first-leads', '--json')),
  );
  expect(results.map(({ code }) => code)).toEqual([0, 0]);
  const reports = results.map((result) => result.json<SyncReport>());
  const created = reports.map((report) => report.created);
  expect(created).toContainEqual({ leads: 1, rows: 120 });
  expect(sandbox.leads.size).toBe(121);
  const ids = sheet.rows().map((row) => row['Lead ID']);
  expect(ids).toHaveLength(121);
  expect(new Set(ids)).toEqual(new Set(sandbox.leads.list().map(({ id }) => id)));
  const { rows } = await workspace.database.pool.query<{ overlaps: number }>(
    `select count(*)::int as overlaps from runs a join runs b on a.id < b.id
     where tstzrange(a.created_at, a.finished_at) && tstzrange(b.created_at, b.finished_at)`,
  );
  expect(rows).toEqual([{ overlaps: 0 }]);
});

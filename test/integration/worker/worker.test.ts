import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mailHandlers } from '../../../jobs/mails.ts';
import { runHandlers } from '../../../jobs/runs.ts';
import { runsAtOnce } from '../../../src/app.ts';
import { workReminders } from '../../../src/worker/work-reminders.ts';
import { planMails } from '../../../src/worker/plan-mails.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import type { CliProcess } from '../../support/cli.ts';
import { until } from '../../support/until.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';
import { portOf } from '../leads-api/leads-api-server.ts';

/** A schedule that does not come due while a test runs, and was due within the last year. */
const yearly = { schedule: `0 0 ${new Date(Date.now() - 2 * 24 * 3_600_000).getUTCDate()} 1 *` };

interface RunningWorker {
  readonly process: CliProcess;
  readonly url: string;
}

/** Starts the real worker and waits until it says that it is ready. */
async function startWorker(workspace: Workspace, env: NodeJS.ProcessEnv = {}): Promise<RunningWorker> {
  const process = workspace.start(['worker'], { env });
  let port: number | undefined;
  await until('the worker is ready', () => {
    if (process.child.exitCode !== null) throw new Error(process.stderr);
    port = readyPort(process.stderr);
    return port !== undefined;
  });
  return { process, url: `http://127.0.0.1:${port}` };
}

function readyPort(log: string): number | undefined {
  const line = log.split('\n').find((text) => text.includes('"worker is ready"'));
  return line === undefined ? undefined : (JSON.parse(line) as { port: number }).port;
}

async function lastRuns(workspace: Workspace): Promise<{ id: string; status: string }[]> {
  const { rows } = await workspace.database.pool.query<{ id: string; status: string }>(
    `select id, status from runs order by id`,
  );
  return rows;
}

async function isSynced(workspace: Workspace): Promise<boolean> {
  const runs = await lastRuns(workspace);
  return runs.some(({ status }) => status === 'succeeded');
}

async function outbox(workspace: Workspace): Promise<string[]> {
  const folder = join(workspace.folder, 'data', 'outbox');
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names.filter((name) => name.endsWith('.eml')).map((name) => readFile(join(folder, name), 'utf8')),
  );
}

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
  const queue = app.queues.queue('nights');
  // As `worker` does it, but with nights of two seconds.
  const payload = { connection: connectionName, allow: [], maxAttempts: 1 };
  await queue.schedule('nightly', '*/2 * * * * *', 'UTC', 'sync', payload);
  const nights: unknown[] = [];
  await using _worker = queue.work({
    sync: async (request, job, stop) => {
      const result = await runHandlers(app).sync(request, job, stop);
      nights.push('done' in result ? result.done.runId : 'again');
      return result;
    },
  });
  const synced = async (runs: number): Promise<boolean> => {
    const all = await lastRuns(workspace);
    return all.filter(({ status }) => status === 'succeeded').length >= runs;
  };
  await until('the first night is over', () => synced(1));
  workspace.sandbox.leads.add({ companyName: 'Later GmbH' });
  await until('two more are over', () => synced(3), 10_000);
  expect(workspace.sheet.rows()).toHaveLength(4);
  expect(new Set(nights).size, 'no night was taken for done by the one before').toBe(nights.length);
});

test('SIGTERM in the middle of paging ends it within 10 s; the next start goes on from the stored page', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 600, maxLimit: 20, faults: [{ kind: 'slow', ms: 40, when: { every: 1 }, on: [] }] },
    connection: { sync: yearly },
  });
  const { sandbox, sheet } = workspace;
  const first = await startWorker(workspace);
  await until('page 8 is asked for', () => sandbox.stats.byRoute.list >= 8);
  const from = Date.now();
  const { code } = await first.process.kill('SIGTERM');
  expect(code).toBe(0);
  expect(Date.now() - from).toBeLessThan(10_000);
  expect(await lastRuns(workspace)).toMatchObject([{ status: 'running' }]);

  const pages = sandbox.log.map(({ query }) => query);
  expect(pages.length).toBeLessThan(25);
  sandbox.set({ faults: [] });
  await startWorker(workspace);
  await until('the sync is done', () => isSynced(workspace));
  const all = sandbox.log.map(({ query }) => query);
  // The last page that was asked for may have been cut off; none before it is asked for again.
  expect(all.slice(pages.length).filter((query) => pages.slice(0, -1).includes(query))).toEqual([]);
  expect(await lastRuns(workspace)).toHaveLength(1);
  expect(sheet.rows()).toHaveLength(600);
  expect(new Set(sheet.rows().map((row) => row['Lead ID'])).size).toBe(600);
});

describe('a reminder', () => {
  const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' };

  test('leaves when the follow-up falls due, not before, once; with a date that was moved meanwhile it moves', async () => {
    await using workspace = await Workspace.open({ connection: { sync: yearly, reminders } });
    const { sandbox } = workspace;
    await startWorker(workspace);
    await until('the first sync is done', () => isSynced(workspace));
    const dueAt = Date.now() + 10_000;
    const due = new Date(dueAt).toISOString();
    const stays = sandbox.leads.add({ companyName: 'Stays AG', nextFollowUpAt: due });
    const moves = sandbox.leads.add({ companyName: 'Moves AG', nextFollowUpAt: due });
    const cleared = sandbox.leads.add({ companyName: 'Cleared AG', nextFollowUpAt: due });
    const report = (await workspace.cli('sync', '--json')).json<SyncReport>();
    expect(report.created.rows).toBe(3);
    // After the sync that scheduled it: only the reading of the lead just before the mail sees this.
    sandbox.leads.edit(moves.id, { nextFollowUpAt: '2040-01-01T09:00:00.000Z' });
    sandbox.leads.edit(cleared.id, { nextFollowUpAt: null });

    const states = async (): Promise<Record<string, string>> => {
      const { rows } = await workspace.database.pool.query<{ lead: string; state: string }>(
        `select lead_id as lead, state from reminders where connection = $1 and due_at = $2`,
        [connectionName, due],
      );
      return Object.fromEntries(rows.map(({ lead, state }) => [lead, state]));
    };
    expect(Date.now(), 'the machine was too slow for this test').toBeLessThan(dueAt);
    expect(await states()).toEqual({
      [stays.id]: 'scheduled',
      [moves.id]: 'scheduled',
      [cleared.id]: 'scheduled',
    });
    const mailedAt: number[] = [];
    await until('all are settled', async () => {
      if (mailedAt.length === 0 && (await outbox(workspace)).length > 0) mailedAt.push(Date.now());
      return (
        !Object.values(await states()).includes('scheduled') &&
        !Object.values(await states()).includes('sending')
      );
    });
    expect(await states()).toEqual({
      [stays.id]: 'sent',
      [moves.id]: 'cancelled',
      [cleared.id]: 'cancelled',
    });
    const others = async () => {
      const { rows } = await workspace.database.pool.query(
        `select lead_id as lead, state, due_at from reminders where due_at <> $1`,
        [due],
      );
      return rows;
    };
    // It is planned anew right after it was cancelled.
    await until('the moved one is planned', async () => (await others()).length > 0);
    expect(await others()).toEqual([{ lead: moves.id, state: 'scheduled', due_at: expect.anything() }]);
    const mails = await outbox(workspace);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatch(/^Subject: .*Stays_AG/m);
    expect(mails[0]).toContain('To: anna@example.com');
    for (const at of mailedAt) expect(at).toBeGreaterThanOrEqual(dueAt);
  });

  test.each([1, 3])(
    'whose worker is stopped while it reads the lead is sent by the next one, at once: %d',
    async (count) => {
      await using workspace = await Workspace.open({ connection: { reminders } });
      const { sandbox } = workspace;
      const nextFollowUpAt = new Date(Date.now() - 1_000).toISOString();
      for (let n = 0; n < count; n++) sandbox.leads.add({ companyName: `Due ${n} AG`, nextFollowUpAt });
      await workspace.sync();
      sandbox.set({ faults: [{ kind: 'slow', ms: 60_000, when: { once: 1 }, on: ['get'] }] });
      await using app = await workspace.openApp();
      {
        await using _first = workReminders(app);
        await planMails(app);
        await until('the lead is read', () => sandbox.stats.byRoute.get === 1);
      }
      expect(await outbox(workspace)).toEqual([]);
      await using _second = workReminders(app);
      await until('the mails are there', async () => (await outbox(workspace)).length === count, 10_000);
    },
  );

  test('that cannot be written as a file is tried again', async () => {
    await using workspace = await Workspace.open({ connection: { reminders } });
    workspace.sandbox.leads.add({ nextFollowUpAt: new Date(Date.now() - 1_000).toISOString() });
    await workspace.sync();
    await using app = await workspace.openApp();
    await planMails(app);
    const { rows } = await app.pool.query<{ id: string }>('select id from reminders');
    await mkdir(join(workspace.folder, 'data'), { recursive: true });
    await writeFile(join(workspace.folder, 'data', 'outbox'), 'in the way');
    const send = () =>
      mailHandlers(app)['send-reminder'](
        { connection: connectionName, reminderId: Number(rows[0]?.id), round: 0 },
        { requestedAt: 0 },
        new AbortController().signal,
      );
    expect(await send()).toEqual({ againAfterMs: expect.any(Number), wholeQueue: false });
    await rm(join(workspace.folder, 'data', 'outbox'));
    expect(await send()).toEqual({ done: { state: 'sent' } });
    expect(await outbox(workspace)).toHaveLength(1);
  });
});

test('two jobs that ask for the same, the second of which is late: one run', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  await using app = await workspace.openApp();
  const payload = { connection: connectionName, allow: [], maxAttempts: 1 };
  const job = { requestedAt: Date.now() - 60_000 };
  const ask = () => runHandlers(app).sync(payload, job, new AbortController().signal);
  await using stack = new AsyncDisposableStack();
  // With all places taken but one, the second job looks around while the first is under way, and begins after its end.
  for (let taken = 1; taken < runsAtOnce(app.config.databasePoolMax); taken++)
    stack.use(await app.runs.acquire());
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
  const results = await Promise.all([1, 2].map(() => workspace.cli('sync', '--json')));
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

import { expect, test } from 'vitest';
import { syncQueue, unattended } from '../../../jobs/runs.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { isSynced, startWorker, yearly } from '../../support/worker.ts';
import { Workspace } from '../../support/workspace.ts';

const connection = { sync: yearly };

/** What `look` finds while a worker has synced its connections and waits for more. */
async function atRest(
  count: number,
  look: (workspace: Workspace) => Promise<number>,
  redis?: TestRedis,
): Promise<number> {
  const names = Array.from({ length: count - 1 }, (_, nth) => `other${nth}`);
  const others = Object.fromEntries(names.map((name) => [name, connection]));
  await using workspace = await Workspace.open({ connection, others, ...(redis && { redis }) });
  const worker = await startWorker(workspace);
  await until('all are synced', async () => {
    const { rowCount } = await workspace.database.pool.query(`select from runs where status = 'succeeded'`);
    return rowCount === count;
  });
  const found = await look(workspace);
  expect((await worker.process.kill('SIGTERM')).code).toBe(0);
  return found;
}

test('jobs in Redis: a worker of 13 connections has as many lines to it as one of two', {
  tags: 'redis-server',
}, async () => {
  const lines = async (count: number): Promise<number> => {
    await using redis = await startRedis();
    const clients = async () =>
      String(await redis.command('client', 'list'))
        .trim()
        .split('\n').length;
    return await atRest(count, clients, redis);
  };
  expect(await lines(13)).toBe(await lines(2));
});

test('jobs in Postgres: the sessions of 13 connections are those of five workers', async () => {
  const sessions = async ({ database }: Workspace): Promise<number> => {
    const { rowCount } = await database.pool.query(
      `select from pg_stat_activity where application_name = 'leadsync-queue' and datname = current_database()`,
    );
    return rowCount ?? 0;
  };
  expect(await atRest(13, sessions)).toBeLessThanOrEqual(5 + 8);
});

test('a worker for one connection leaves the jobs of others to those that work for them', async () => {
  await using workspace = await Workspace.open({ connection, others: { other: connection } });
  const alone = workspace.start(['worker', '--connection', 'main']);
  await until('it is ready', () => alone.stderr.includes('"worker is ready"'));
  await until('its own is synced', async () => isSynced(workspace));
  await using app = await workspace.openApp();
  await (await app.queues()).queue(syncQueue).add('sync', unattended('other'));
  const runsOfOther = async () => {
    const text = `select status from runs where connection = 'other'`;
    return (await workspace.database.pool.query<{ status: string }>(text)).rows;
  };
  await until('the job was put back', async () => {
    const jobs = await (await app.queues()).queue(syncQueue).countsOfConnections();
    return jobs.get('other')?.delayed === 1;
  });
  expect(await runsOfOther()).toEqual([]);
  const second = await startWorker(workspace);
  await until('the other is synced', async () =>
    (await runsOfOther()).some(({ status }) => status === 'succeeded'),
  );
  for (const worker of [alone, second.process]) expect((await worker.kill('SIGTERM')).code).toBe(0);
});

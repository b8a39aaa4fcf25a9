import { expect, test } from 'vitest';
import { syncQueue, unattended } from '../../../jobs/runs.ts';
import { jobPlaces, startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { isSynced, startWorker, yearly } from '../../support/worker.ts';
import { Workspace } from '../../support/workspace.ts';

const connection = { sync: yearly };
const othersOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`other${nth}`, connection]));

for (const [where, tags] of Object.entries(jobPlaces))
  test(`jobs in ${where}: a worker keeps no more lines to the queue for 13 connections than for two`, {
    tags,
  }, async () => {
    await using redis = where === 'Redis' ? await startRedis() : undefined;
    const lines = async (count: number): Promise<number> => {
      await using workspace = await Workspace.open({
        ...(redis && { redis }),
        connection,
        others: othersOf(count),
      });
      const worker = await startWorker(workspace);
      await until('all are synced', async () => {
        const { rowCount } = await workspace.database.pool.query(
          `select from runs where status = 'succeeded'`,
        );
        return rowCount === count + 1;
      });
      const { rowCount } = await workspace.database.pool.query(
        `select from pg_stat_activity where application_name = 'leadsync-queue' and datname = current_database()
           and query ilike '%listen%'`,
      );
      const clients = redis
        ? String(await redis.command('client', 'list'))
            .trim()
            .split('\n').length
        : 0;
      expect((await worker.process.kill('SIGTERM')).code).toBe(0);
      return clients + (rowCount ?? 0);
    };
    const two = await lines(1);
    expect(two).toBeGreaterThan(0);
    expect(await lines(12)).toBe(two);
  });

test('a worker for one connection leaves the jobs of others to those that work for them', async () => {
  await using workspace = await Workspace.open({ connection, others: { other: connection } });
  const alone = workspace.start(['worker', '--connection', 'main']);
  await until('it is ready', () => alone.stderr.includes('"worker is ready"'));
  await until('its own is synced', async () => isSynced(workspace));
  await using app = await workspace.openApp();
  await (await app.queues()).queue(syncQueue).add('sync', unattended('other'));
  const runsOfOther = async () =>
    (await workspace.database.pool.query(`select status from runs where connection = 'other'`)).rows;
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

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { syncQueue, unattended } from '../../../jobs/runs.ts';
import { jobPlaces, startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { lastRuns, startWorker, yearly } from '../../support/worker.ts';
import { Workspace } from '../../support/workspace.ts';

const jumpingClock = `--import=${new URL('../../support/jumping-clock.ts', import.meta.url).href}`;

for (const [where, tags] of Object.entries(jobPlaces))
  test(`a changed schedule stays when an old worker starts once more, jobs in ${where}; the moved time starts no sync; status shows the next one`, {
    tags,
  }, async () => {
    await using redis = where === 'Redis' ? await startRedis() : null;
    await using workspace = await Workspace.open({ connection: { sync: yearly }, ...(redis && { redis }) });
    const { pool } = workspace.database;
    const old = join(workspace.folder, 'old.yaml');
    writeFileSync(old, readFileSync(join(workspace.folder, 'leadsync.yaml')));
    await workspace.sync();
    const first = await startWorker(workspace);
    // The time of before was kept, and the one of now came by since.
    await pool.query(`update runs set created_at = now() - interval '1 day'`);
    const moved = `0 ${new Date(Date.now() - 3_600_000).getUTCHours()} * * *`;
    workspace.configure({ sync: { schedule: moved } });
    const second = await startWorker(workspace, { NODE_OPTIONS: jumpingClock });
    await first.process.kill('SIGTERM');
    await using app = await workspace.openApp();
    const queue = (await app.queues()).queue(syncQueue);
    const pattern = async (): Promise<string | undefined> => (await queue.schedules()).get('main')?.pattern;
    expect(await pattern()).toBe(moved);

    const third = await startWorker(workspace, { LEADSYNC_CONFIG: old });
    expect(third.process.stderr).toContain(
      'another schedule counts, which a worker had for the first time after this one',
    );
    expect(await pattern()).toBe(moved);
    const status = await workspace.cli('status', '--json');
    const [told] = status.json<{ connections: { nextRunAt: string }[] }>().connections;
    expect(new Date(told?.nextRunAt ?? 0).getTime()).toBe((await queue.schedules()).get('main')?.nextRunAt);

    // As a version without all this does.
    await queue.schedule('main', yearly.schedule, 'UTC', 'sync', unattended('main'));
    second.process.child.kill('SIGUSR2');
    await until('it is as the settings say', async () => (await pattern()) === moved);
    // When nobody has it any more, the older one is right; the newer one is right again when it comes back.
    await third.process.kill('SIGTERM');
    await second.process.kill('SIGTERM');
    const fourth = await startWorker(workspace, { LEADSYNC_CONFIG: old });
    expect(fourth.process.stderr).not.toContain('another schedule counts');
    expect(await pattern()).toBe(yearly.schedule);
    await startWorker(workspace);
    expect(await pattern()).toBe(moved);
    expect(await lastRuns(workspace)).toHaveLength(1);
  });

test('a sync that was missed before its time was moved runs at the deploy', async () => {
  await using workspace = await Workspace.open({ connection: { sync: yearly } });
  await workspace.sync();
  const first = await startWorker(workspace);
  await first.process.kill('SIGTERM');
  const { pool } = workspace.database;
  await pool.query(`update runs set created_at = now() - interval '1 day'`);
  await pool.query(`update connections set next_run_at = now() - interval '1 hour'`);
  workspace.configure({ sync: { schedule: `0 0 1 ${((new Date().getUTCMonth() + 1) % 12) + 1} *` } });
  await startWorker(workspace);
  await until('it has run', async () => (await lastRuns(workspace)).length === 2);
});

test('a schedule that was changed as a run of the one before began, which moved it back, is as it should be within a minute', async () => {
  await using workspace = await Workspace.open({ connection: { sync: yearly } });
  await workspace.sync();
  const { process } = await startWorker(workspace, { NODE_OPTIONS: jumpingClock });
  await using app = await workspace.openApp();
  const queue = (await app.queues()).queue(syncQueue);
  const nextRunAt = async (): Promise<number | undefined> => (await queue.schedules()).get('main')?.nextRunAt;
  const right = await nextRunAt();
  // What a worker that takes up a run does, here with a moment of the schedule before: it had read that one.
  await workspace.database.pool.query(
    `select bullmq.update_job_scheduler_next_millis(queue, scheduler_id, $1, '{}', opts, 0, id)
       from bullmq.job where scheduler_id = 'main'`,
    [Date.now() + 1_000_000_000],
  );
  expect(await nextRunAt()).not.toBe(right);
  process.child.kill('SIGUSR2');
  await until('it is next due as it should be', async () => (await nextRunAt()) === right);
  expect((await queue.counts()).delayed).toBe(1);
});

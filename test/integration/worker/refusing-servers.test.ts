import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CliProcess } from '../../support/cli.ts';
import { Exposition } from '../../support/exposition.ts';
import { jobPlaces, startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

/** Comes due at no time of this test, and was due within the last year. */
const yearly = { schedule: `0 0 ${new Date(Date.now() - 2 * 24 * 3_600_000).getUTCDate()} 1 *` };
const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' };
const jumpingClock = `--import=${new URL('../../support/jumping-clock.ts', import.meta.url).href}`;

/** A worker, when it is ready; SIGUSR2 brings its next look of every minute. */
async function startWorker(workspace: Workspace) {
  const worker = workspace.start(['worker'], { env: { NODE_OPTIONS: jumpingClock } });
  await until('the worker is ready', () => {
    if (worker.child.exitCode !== null) throw new Error(worker.stderr);
    return worker.stderr.includes('"worker is ready"');
  });
  const [, port] = /"port":(\d+)/.exec(worker.stderr) ?? [];
  return {
    worker,
    ask: async (path: string): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${port}/${path}`);
      return `${response.status} ${await response.text()}`;
    },
  };
}

/** Warnings and errors, and what is told of the database. */
function told({ stderr }: Pick<CliProcess, 'stderr'>): string[] {
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines
    .map((line) => JSON.parse(line) as { readonly level: number; readonly msg: string })
    .filter(({ level, msg }) => level > 30 || msg.includes('database'))
    .map(({ level, msg }) => `${level} ${msg}`);
}

async function mails({ folder }: Workspace): Promise<number> {
  const names = await readdir(join(folder, 'data', 'outbox')).catch(() => []);
  return names.filter((name) => name.endsWith('.eml')).length;
}

async function runs({ database }: Workspace): Promise<string> {
  const { rows } = await database.pool.query<{ status: string }>('select status from runs order by id');
  return rows.map(({ status }) => status).join();
}

/** As a failover does: all sessions but this one end, and new ones find a server that takes writes, or none. */
async function failOver({ database }: Workspace, takesWrites: boolean): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  const client = await database.pool.connect();
  try {
    await client.query(
      `alter database ${name} ${takesWrites ? 'reset' : 'set'} default_transaction_read_only${takesWrites ? '' : ' = on'}`,
    );
    await client.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
  } finally {
    client.release();
  }
}

for (const [where, tags] of Object.entries(jobPlaces))
  test(`a database that takes no writes for a while, jobs in ${where}, is away like any other: told once, not ready, and the sync that met it is done afterwards`, {
    tags,
  }, async () => {
    await using redis = where === 'Redis' ? await startRedis() : null;
    await using workspace = await Workspace.open({
      sandbox: { leads: 3, faults: [{ kind: 'slow', ms: 5_000, when: { once: 1 }, on: ['list'] }] },
      connection: { sync: yearly },
      ...(redis && { redis }),
    });
    const { worker, ask } = await startWorker(workspace);
    await until('a sync is under way', () => workspace.sandbox.stats.byRoute.list > 0);
    await failOver(workspace, false);
    expect(await runs(workspace)).toBe('running');
    await until('it is told', () => worker.stderr.includes('the database is unavailable'));
    await until(
      'it is not ready',
      async () => (await ask('readyz')) === '503 the database takes no writes\n',
    );
    expect(new Exposition((await ask('metrics')).replace('200 ', '')).value('leadsync_database_up')).toBe(0);
    const checked = await workspace.cli('check');
    expect(checked.code, checked.stdout).toBe(1);
    expect(checked.stdout).toMatch(/^FAIL {2}database and queue: .*read-only.* \[database\.unavailable\]$/m);
    expect(checked.stderr).not.toContain('[internal]');
    await failOver(workspace, true);
    await until('it is over', () => worker.stderr.includes('the database is available again'));
    await until('the sync is done', async () => (await runs(workspace)) === 'succeeded');
    expect(told(await worker.kill('SIGTERM'))).toEqual([
      '40 the database is unavailable: work that needs it waits, nothing is lost',
      '30 the database is available again',
    ]);
  });

test('a command that meets a database without writes says for what it waits, and goes on when they are taken', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  await workspace.sync();
  await failOver(workspace, false);
  const sync = workspace.start(['sync', '--json']);
  await until('it says so', () => told(sync).length > 0);
  await failOver(workspace, true);
  expect((await sync.ended).code).toBe(0);
  expect(told(sync)).toEqual(['40 the database is unavailable: the command waits for it, up to 60 s']);
});

for (const [where, tags] of Object.entries(jobPlaces))
  test(`what is due and has no job, in ${where}, is found within a minute: a sync, not of a paused connection, and a mail`, {
    tags,
  }, async () => {
    await using redis = where === 'Redis' ? await startRedis() : null;
    await using workspace = await Workspace.open({
      connection: { sync: yearly, reminders },
      others: { other: { sync: yearly } },
      ...(redis && { redis }),
    });
    const { pool } = workspace.database;
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    workspace.sandbox.leads.add({ companyName: 'Due AG', nextFollowUpAt: inAnHour });
    await workspace.sync();
    await workspace.sync({ connection: 'other' });
    const { worker } = await startWorker(workspace);
    await until('the mail has a job', async () => (await pool.query('select from mails')).rowCount === 1);
    // The queue forgets what is delayed, and nothing else.
    const forget = async (queue: string): Promise<void> => {
      if (redis) await redis.command('del', `leadsync:${queue}:delayed`);
      else await pool.query(`delete from bullmq.job where queue = $1`, [queue]);
    };
    const delayed = async (queue: string): Promise<unknown> => {
      if (redis) return redis.command('zcard', `leadsync:${queue}:delayed`);
      const { rowCount } = await pool.query(`select from bullmq.job where queue = $1 and state = 'delayed'`, [
        queue,
      ]);
      return rowCount;
    };
    await forget('mails');
    await workspace.cli('pause', '--connection', 'other');
    await pool.query(`update runs set created_at = created_at - interval '2 years'`);
    await pool.query(`update mails set send_at = now() - interval '2 minutes'`);
    worker.child.kill('SIGUSR2');
    await until('the sync is done', async () => (await runs(workspace)) === 'succeeded,succeeded,succeeded');
    await until('the mail has left', async () => (await mails(workspace)) === 1);
    for (const queue of ['syncs', 'reminders']) await forget(queue);
    worker.child.kill('SIGUSR2');
    for (const [queue, schedules] of Object.entries({ syncs: 2, reminders: 1 }))
      await until(`the schedules of ${queue} go on`, async () => (await delayed(queue)) === schedules);
    expect((await worker.kill('SIGTERM')).code).toBe(0);
    expect(await runs(workspace)).toBe('succeeded,succeeded,succeeded');
    expect(await mails(workspace)).toBe(1);
  });

describe('Redis', { tags: 'redis-server' }, () => {
  test('comes back with an older snapshot, at once: the mails that were planned since leave on time', async () => {
    await using redis = await startRedis();
    await using workspace = await Workspace.open({ redis, connection: { sync: yearly, reminders } });
    await workspace.sync();
    const { worker } = await startWorker(workspace);
    await redis.command('save');
    const soon = new Date(Date.now() + 15_000).toISOString();
    workspace.sandbox.leads.add({ companyName: 'Due AG', nextFollowUpAt: soon });
    expect((await workspace.cli('sync')).code).toBe(0);
    await redis.kill();
    await redis.start();
    await until('the mail has left', async () => (await mails(workspace)) === 1, 60_000);
    expect((await worker.kill('SIGTERM')).code).toBe(0);
  });

  test('that is full, or has become a replica, is not ready, and check says which', async () => {
    await using redis = await startRedis();
    await using master = await startRedis();
    await using workspace = await Workspace.open({ redis, connection: { sync: yearly } });
    await workspace.sync();
    const { worker, ask } = await startWorker(workspace);
    expect(await ask('readyz')).toBe('200 ready\n');
    await redis.command('config', 'set', 'maxmemory', '900kb');
    expect(await ask('readyz')).toBe('503 the queue takes no jobs\n');
    const full = await workspace.cli('check');
    expect([full.code, full.stdout]).toEqual([1, expect.stringContaining('[queue.full]')]);
    await redis.command('config', 'set', 'maxmemory', '0');
    expect(await ask('readyz')).toBe('200 ready\n');
    await redis.command('replicaof', '127.0.0.1', String(master.port));
    await until('it is a replica', async () => String(await redis.command('role')).startsWith('slave'));
    await until('it is not ready', async () => (await ask('readyz')) === '503 the queue takes no jobs\n');
    const replica = await workspace.cli('check');
    expect([replica.code, replica.stdout]).toEqual([1, expect.stringContaining('[queue.read-only]')]);
    expect(replica.stdout + replica.stderr).not.toContain('[internal]');
    await redis.command('replicaof', 'no', 'one');
    await until('it is ready again', async () => (await ask('readyz')) === '200 ready\n');
    expect((await worker.kill('SIGTERM')).code).toBe(0);
  });
});

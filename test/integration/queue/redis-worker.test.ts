import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { syncQueue, unattended } from '../../../jobs/runs.ts';
import type { CliProcess } from '../../support/cli.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { slackMs, until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

/** Comes due at no time of this test, and was due within the last year. */
const yearly = { schedule: `0 0 ${new Date(Date.now() - 2 * 24 * 3_600_000).getUTCDate()} 1 *` };
const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' };

async function startWorker(workspace: Workspace): Promise<CliProcess> {
  const worker = workspace.start(['worker']);
  await until('the worker is ready', () => {
    if (worker.child.exitCode !== null) throw new Error(worker.stderr);
    return worker.stderr.includes('"worker is ready"');
  });
  return worker;
}

async function mails({ folder }: Workspace): Promise<number> {
  const names = await readdir(join(folder, 'data', 'outbox')).catch(() => []);
  return names.filter((name) => name.endsWith('.eml')).length;
}

async function runs({ database }: Workspace): Promise<string[]> {
  const { rows } = await database.pool.query<{ status: string }>('select status from runs order by id');
  return rows.map(({ status }) => status);
}

describe('Redis forgets everything while a worker runs:', { tags: 'redis-server' }, () => {
  const losses: Readonly<Record<string, (redis: TestRedis) => Promise<unknown>>> = {
    FLUSHALL: (redis) => redis.command('flushall'),
    'it is killed, and comes back empty': async (redis) => {
      await redis.kill();
      await redis.start();
    },
  };

  test.each(Object.keys(losses))(
    '%s: the run that waited goes on, the mail that was planned leaves, the schedules are there again',
    async (name) => {
      await using redis = await startRedis();
      await using workspace = await Workspace.open({
        redis,
        sandbox: { leads: 30, maxLimit: 10 },
        connection: { sync: yearly, reminders },
      });
      const { sandbox, sheet } = workspace;
      const dueAt = Date.now() + 7_000;
      const { id } = sandbox.leads.add({
        companyName: 'Due AG',
        nextFollowUpAt: new Date(dueAt).toISOString(),
      });
      for (const lead of sandbox.leads.list())
        if (lead.id !== id) sandbox.leads.edit(lead.id, { nextFollowUpAt: null });
      await workspace.sync();
      sandbox.leads.add({ companyName: 'Later GmbH' });
      // The service makes the next run wait in its middle.
      sandbox.set({
        faults: [
          { kind: 'status', status: 429, retryAfter: { seconds: 4 }, when: { once: 2 }, on: ['list'] },
        ],
      });
      const worker = await startWorker(workspace);
      await using app = await workspace.openApp();
      await (await app.queues()).queue(syncQueue).add('sync', unattended('main'));
      await until('the run waits', async () => {
        const { rowCount } = await workspace.database.pool.query(
          'select from runs where paused_at is not null',
        );
        return rowCount === 1;
      });
      // Beside the next night.
      await until(
        'its job waits',
        async () => (await redis.command('ZCARD', 'leadsync:syncs:delayed')) === 2,
      );
      await losses[name]?.(redis);

      await until('the run has ended', async () => (await runs(workspace)).join() === 'succeeded,succeeded');
      expect(sheet.rows()).toHaveLength(32);
      await until('the mail has left', async () => (await mails(workspace)) === 1);
      expect(Date.now()).toBeGreaterThanOrEqual(dueAt);
      await until(
        'the schedules are there',
        async () =>
          ['syncs', 'reminders', 'housekeeping'].length ===
          (
            await Promise.all(
              ['syncs', 'reminders', 'housekeeping'].map((queue) =>
                redis.command('zcard', `leadsync:${queue}:repeat`),
              ),
            )
          ).filter((count) => count === 1).length,
      );
      expect((await worker.kill('SIGTERM')).code).toBe(0);
      expect(await mails(workspace)).toBe(1);
    },
  );
});

test('Redis is away: a sync works, check says what helps, who only looks sees; the worker waits, says so once, tells no password, and stops within 10 s', {
  tags: 'redis-server',
}, async () => {
  const user = 'sync on >geheim123 ~leadsync:* &* +@all -@dangerous +info'.split(' ');
  const args = ['--user', ...user, '--user', 'default', 'off'];
  await using redis = await startRedis({ args, origin: 'redis://sync:geheim123@127.0.0.1' });
  await using workspace = await Workspace.open({ redis, connection: { sync: yearly } });
  await workspace.sync();
  const worker = await startWorker(workspace);
  await redis.kill();
  expect((await workspace.cli('sync')).code).toBe(0);
  const command = await workspace.cli('check');
  expect(command.code).toBe(1);
  expect(command.stdout).toContain('[queue.unavailable]');
  expect(command.stdout).toContain(`127.0.0.1:${redis.port}`);
  expect(command.stdout).toContain('REDIS_URL');
  const status = (await workspace.cli('status', '--json')).json<{ connections: { nextRunAt: string }[] }>();
  expect(status.connections[0]?.nextRunAt).toMatch(/-01-\d\dT00:00:00.000Z$/);
  expect((await workspace.cli('conflicts')).stdout).toBe(
    'there are no conflicts, and nothing else waits for an answer\n',
  );
  await until('it is told', () => worker.stderr.includes('the queue is unavailable'));

  const from = Date.now();
  const { code, stderr } = await worker.kill('SIGTERM');
  expect(code).toBe(0);
  expect(Date.now() - from).toBeLessThan(10_000 + slackMs);
  expect(stderr + command.stdout + command.stderr).not.toContain('geheim');
  const warnings = stderr.split('\n').filter((line) => line.includes('"level":40'));
  expect(warnings.length, warnings.join('\n')).toBeLessThanOrEqual(2);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openQueues } from '../../../src/queue/queue.ts';
import { createTestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';

const hour = 3_600_000;

test('a worker that waits for a job hours away takes it within seconds of a jump of the clock to it', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const where = { kind: 'postgres', connectionString: database.url } as const;
  await using queues = await openQueues(where, pino({ level: 'silent' }), 1);
  const queue = queues.queue('q');
  await queue.add('job', {}, { delayMs: 3 * hour });
  const taken = Promise.withResolvers<true>();
  await using _worker = queue.work({
    job: async () => {
      taken.resolve(true);
      return { done: {} };
    },
  });
  // What BullMQ asks just before it waits.
  await until('the worker waits', async () => {
    const { rows } = await database.pool.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'leadsync-queue'
         and query like '%claimable%' and pid <> pg_backend_pid()`,
    );
    return rows.length > 0;
  });
  const { now } = Date;
  onTestFinished(() => {
    Date.now = now;
  });
  Date.now = () => now() + 4 * hour;
  expect(await Promise.race([taken.promise, sleep(30_000, false)])).toBe(true);
});

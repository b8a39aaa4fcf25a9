import { once } from 'node:events';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { parseRedisAddress } from '../../../src/config/redis-address.ts';
import { openQueues, type Queues } from '../../../src/queue/queue.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { slackMs, until } from '../../support/until.ts';

const never = new AbortController().signal;

/** `told` takes what is logged. */
function open({ url }: TestRedis, told: string[] = [], lockMs?: number): Promise<Queues> {
  const log = pino({ level: 'info' }, { write: (line: string) => told.push(line) });
  const where = { kind: 'redis', address: parseRedisAddress(url) } as const;
  return openQueues(where, log, 2, lockMs === undefined ? {} : { lockMs });
}

/** How many scripts have been run: workers renew locks, and look after those of others, by scripts. */
async function scripts(redis: TestRedis): Promise<number> {
  const stats = String(await redis.command('info', 'commandstats'));
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

describe('a Redis that', { tags: 'redis-server' }, () => {
  test('forgets everything while a job is under way that is to come again: it comes when it is added again, and the worker takes others', async () => {
    await using redis = await startRedis();
    const told: string[] = [];
    await using queues = await open(redis, told, 200);
    const queue = queues.queue('q');
    const goOn = Promise.withResolvers<void>();
    let calls = 0;
    await using _worker = queue.work({
      job: async () => {
        calls += 1;
        if (calls > 1) return { done: 'again' };
        await goOn.promise;
        return { againAfterMs: 100 };
      },
      other: async () => ({ done: 'other' }),
    });
    await queue.add('job', {});
    await until('the job is under way', () => calls === 1);
    await redis.command('FLUSHALL');
    const before = await scripts(redis);
    await until('the lock could not be renewed', async () => (await scripts(redis)) >= before + 6);
    goOn.resolve();
    expect(await (await queue.add('job', {})).finished(never)).toBe('again');
    expect(await (await queue.add('other', {})).finished(never)).toBe('other');
    expect(told).toEqual([]);
  });

  test('goes away and comes back: who adds is told soon; a job under way ends, and others go on, once each', async () => {
    await using redis = await startRedis({ appendOnly: true });
    const told: string[] = [];
    await using queues = await open(redis, told);
    const queue = queues.queue('q');
    const runs: number[] = [];
    let begun = false;
    const end = Promise.withResolvers<void>();
    await using _worker = queue.work({
      job: async (payload, _job, stop) => {
        const { nth } = payload as { nth: number };
        runs.push(nth);
        begun = true;
        if (nth === 1) await Promise.race([end.promise, once(stop, 'abort')]);
        return { done: { nth } };
      },
    });
    const jobs = [await queue.add('job', { nth: 1 }), await queue.add('job', { nth: 2 })];
    await until('the job is under way', () => begun);
    await redis.kill();
    const from = Date.now();
    await expect(queue.add('job', { nth: 3 })).rejects.toMatchObject({
      code: 'queue.unavailable',
      retry: 'later',
    });
    await expect(queues.ping()).rejects.toMatchObject({ code: 'queue.unavailable' });
    expect(Date.now() - from).toBeLessThan(20_000 + slackMs);
    end.resolve();
    // Whoever waits for a job goes on waiting.
    const results = Promise.all(jobs.map((job) => job.finished(never)));
    await redis.start();
    expect(await results).toEqual([{ nth: 1 }, { nth: 2 }]);
    expect(runs).toEqual([1, 2]);
    await queues.ping();
    // How often depends on how long it was away: not at all, or once.
    expect(told.length, told.join('')).toBeLessThanOrEqual(1);
  });

  test('answers nothing at all: asking and stopping end all the same', async () => {
    await using redis = await startRedis();
    const queues = await open(redis);
    const stopped: unknown[] = [];
    const worker = queues.queue('q').work({
      job: async (_payload, _job, stop) => {
        stopped.push('begun');
        await once(stop, 'abort');
        return { againAfterMs: 0 };
      },
    });
    await queues.queue('q').add('job', {});
    await until('the job is under way', () => stopped.length === 1);
    await redis.command('client', 'pause', '60000', 'ALL');
    const from = Date.now();
    await expect(queues.ping()).rejects.toMatchObject({ code: 'queue.unavailable' });
    expect(Date.now() - from).toBeLessThan(20_000 + slackMs);
    await worker[Symbol.asyncDispose]();
    await queues[Symbol.asyncDispose]();
    expect(Date.now() - from).toBeLessThan(20_000 + slackMs);
  });
});

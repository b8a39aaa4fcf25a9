import { once } from 'node:events';
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { isOnTime } from '../../../src/queue/due-times.ts';
import { boardPolicy } from '../../../src/ops/site.ts';
import { describeQueues } from '../../support/queues.ts';
import { until } from '../../support/until.ts';

const never = new AbortController().signal;

describeQueues((at) => {
  test('a job is carried out with its payload, and its summary comes back', async () => {
    const queue = at.queues.queue('q');
    const before = Date.now();
    const job = await queue.add('job', { connection: 'berlin' });
    let requestedAt = 0;
    await using _worker = queue.work({
      job: async (payload, handle) => {
        requestedAt = handle.requestedAt;
        return { done: { got: payload } };
      },
    });
    expect(await job.finished(never)).toEqual({ got: { connection: 'berlin' } });
    expect(requestedAt).toBeGreaterThanOrEqual(before);
    expect(requestedAt).toBeLessThanOrEqual(Date.now());
  });

  test('a job with an id that is known is not added again', async () => {
    const queue = at.queues.queue('q');
    const seen: unknown[] = [];
    const first = await queue.add('job', { nth: 1 }, { id: 'same' });
    await queue.add('job', { nth: 2 }, { id: 'same' });
    const last = await queue.add('job', { nth: 3 });
    await using _worker = queue.work({
      job: async (payload) => {
        seen.push(payload);
        return { done: {} };
      },
    });
    await first.finished(never);
    await queue.add('job', { nth: 4 }, { id: 'same' });
    await last.finished(never);
    const end = await queue.add('job', { nth: 5 });
    await end.finished(never);
    expect(seen).toEqual([{ nth: 1 }, { nth: 3 }, { nth: 5 }]);
  });

  test('a delayed job is not taken earlier, also with a fraction of a ms', async () => {
    const queue = at.queues.queue('q');
    let takenAt = 0;
    let requestedAt = 0;
    await using _worker = queue.work({
      job: async (_payload, handle) => {
        takenAt = Date.now();
        requestedAt = handle.requestedAt;
        return { done: {} };
      },
    });
    const from = Date.now();
    const job = await queue.add('job', {}, { delayMs: 300.7 });
    await job.finished(never);
    expect(takenAt - from).toBeGreaterThanOrEqual(300);
    expect(requestedAt - from).toBeGreaterThanOrEqual(300);
    expect(requestedAt).toBeLessThanOrEqual(takenAt);
  });

  test('many jobs are added at once; as many as were asked for run at a time, in their order; one without asking', async () => {
    const started: number[] = [];
    let [running, most] = [0, 0];
    const handlers = {
      job: async (payload: unknown) => {
        started.push((payload as { nth: number }).nth);
        most = Math.max(most, ++running);
        await until('as many run as may', () => most === expected || started.length === 12);
        running--;
        return { done: {} };
      },
    };
    let expected = 4;
    for (const concurrency of [4, undefined]) {
      expected = concurrency ?? 1;
      [started.length, most] = [0, 0];
      const queue = at.queues.queue(`q${expected}`);
      for (let nth = 0; nth < 12; nth++)
        await queue.add('job', { nth }, { id: `job-${nth}`, delayMs: nth, isKept: false });
      await queue.add('job', { nth: 99 }, { id: 'job-3', isKept: false });
      await using _worker = queue.work(handlers, concurrency);
      await until('all have run', () => started.length === 12 && running === 0);
      expect(most).toBe(expected);
      // Of jobs that run at the same time, any may have begun first.
      const order = concurrency === undefined ? started : started.toSorted((a, b) => a - b);
      expect(order).toEqual(Array.from({ length: 12 }, (_, nth) => nth));
    }
  });

  test('a job that nobody knows, or that throws, fails with its reason; the next one is carried out', async () => {
    const queue = at.queues.queue('q');
    const [unknown, faulty, good] = [
      await queue.add('nonsense', {}),
      await queue.add('faulty', {}),
      await queue.add('good', {}),
    ];
    await using _worker = queue.work({
      faulty: async () => {
        throw new Error('the reason');
      },
      good: async () => ({ done: 'well' }),
    });
    await expect(unknown.finished(never)).rejects.toMatchObject({
      code: 'queue.job-failed',
      message: expect.stringContaining('nonsense'),
    });
    await expect(faulty.finished(never)).rejects.toMatchObject({
      code: 'queue.job-failed',
      message: expect.stringContaining('the reason'),
    });
    expect(await good.finished(never)).toBe('well');
  });

  test('waiting for a job ends with the signal', async () => {
    const job = await at.queues.queue('q').add('job', {});
    const stop = new AbortController();
    const waiting = job.finished(stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  describe('a schedule', () => {
    test('that is set again is replaced: its time zone and its time are the last ones', async () => {
      const queue = at.queues.queue('q');
      expect((await queue.schedules()).size).toBe(0);
      await queue.schedule('nightly', '0 2 * * *', 'UTC', 'job', {});
      expect(new Date((await queue.schedules()).get('nightly')?.nextRunAt ?? 0).toISOString()).toMatch(
        /T02:00:00.000Z$/,
      );
      await queue.schedule('nightly', '30 5 * * *', 'Asia/Kolkata', 'job', {});
      // 05:30 in India is midnight UTC, all year round.
      expect(new Date((await queue.schedules()).get('nightly')?.nextRunAt ?? 0).toISOString()).toMatch(
        /T00:00:00.000Z$/,
      );
    });

    test('that many processes set at the same moment is set once', async () => {
      await using second = await at.openMore();
      await using third = await at.openMore();
      for (let round = 0; round < 10; round++) {
        const name = `nightly-${round}`;
        await Promise.all(
          [at.queues, second, third, at.queues, second, third].map((some) =>
            some.queue('q').schedule(name, '0 2 * * *', 'UTC', 'job', {}),
          ),
        );
        expect((await at.queues.queue('q').schedules()).has(name)).toBe(true);
      }
      expect((await at.queues.queue('q').counts()).delayed).toBe(10);
    });

    test('that is set twice, also by another process, runs once each time', async () => {
      const everySecond = '* * * * * *';
      await using more = await at.openMore();
      await at.queues.queue('q').schedule('nightly', everySecond, 'UTC', 'job', { version: 1 });
      await more.queue('q').schedule('nightly', everySecond, 'UTC', 'job', { version: 2 });
      await at.queues.queue('q').schedule('nightly', everySecond, 'UTC', 'job', { version: 3 });
      const runs: { at: number; payload: unknown }[] = [];
      const takenAt: number[] = [];
      const handlers = {
        job: async (payload: unknown, job: { requestedAt: number }) => {
          takenAt.push(Date.now());
          runs.push({ at: job.requestedAt, payload });
          return { done: {} };
        },
      };
      await using _one = at.queues.queue('q').work(handlers);
      await using _two = more.queue('q').work(handlers);
      await until('it ran three times', () => runs.length >= 3);
      expect(runs.map(({ payload }) => payload)).toEqual(runs.map(() => ({ version: 3 })));
      // Each gets the moment at which it was due, not the one at which it was put into the queue before.
      const dueAt = runs.map(({ at }) => at);
      expect(dueAt.map((at) => at % 1000)).toEqual(runs.map(() => 0));
      expect(new Set(dueAt).size).toBe(runs.length);
      expect(dueAt.filter((at, index) => at > (takenAt[index] ?? 0))).toEqual([]);
    });
  });

  test('the jobs of a connection are forgotten but for those under way, also after a night; the others stay', async () => {
    const queue = at.queues.queue('q');
    for (const connection of ['berlin', 'paris'])
      await queue.schedule(connection, '* * * * * *', 'UTC', 'night', { connection });
    const nights = new Set<unknown>();
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using _worker = queue.work(
      {
        night: async (payload) => {
          nights.add((payload as { connection: string }).connection);
          return { done: {} };
        },
        long: async (_payload, _job, stop) => {
          begun.resolve();
          await Promise.race([end.promise, once(stop, 'abort')]);
          return { done: {} };
        },
      },
      2,
    );
    await until('each had a night', () => nights.size === 2);
    const yearly = '0 0 1 1 *';
    for (const connection of ['berlin', 'paris'])
      await queue.schedule(connection, yearly, 'UTC', 'night', { connection });
    const long = await queue.add('long', { connection: 'berlin' });
    await begun.promise;
    await until('no night is under way', async () => (await queue.counts()).active === 1);
    // A night that began as its schedule was set may have moved it back.
    for (const [connection, schedule] of await queue.schedules())
      if (!isOnTime(schedule)) await queue.schedule(connection, yearly, 'UTC', 'night', { connection });
    for (const connection of ['berlin', 'paris']) {
      await queue.add('later', { connection }, { id: connection, delayMs: 3_600_000 });
      await queue.add('later', { connection }, { delayMs: 3_600_000 });
    }
    await queue.forget('berlin');
    const none = { waiting: 0, active: 0, delayed: 0, failed: 0 };
    expect(await queue.countsOfConnections()).toEqual(
      new Map([
        ['berlin', { ...none, active: 1 }],
        ['paris', { ...none, delayed: 3 }],
      ]),
    );
    expect([...(await queue.schedules()).keys()]).toEqual(['paris']);
    // It is not known any more.
    await queue.add('later', { connection: 'berlin' }, { id: 'berlin', delayMs: 3_600_000 });
    expect((await queue.countsOfConnections()).get('berlin')).toEqual({ ...none, active: 1, delayed: 1 });
    end.resolve();
    await long.finished(never);
  });

  test('counts what waits, runs, is delayed, and has failed; the board shows it and changes nothing', async () => {
    const site = new Hono().route('/queues', await at.queues.board('/queues'));
    const queue = at.queues.queue('q');
    const end = Promise.withResolvers<void>();
    await using _worker = queue.work({
      bad: async () => {
        throw new Error('the reason');
      },
      long: async (_payload, _job, stop) => {
        await Promise.race([end.promise, once(stop, 'abort')]);
        return { done: {} };
      },
    });
    const bad = await queue.add('bad', {});
    await bad.finished(never).catch(() => {});
    await queue.add('long', { connection: 'berlin' });
    await until('it is under way', async () => (await queue.counts()).active === 1);
    await queue.add('long', {});
    await queue.add('long', {}, { delayMs: 3_600_000 });
    const counts = { waiting: 1, active: 1, delayed: 1, failed: 1 };
    expect(await queue.counts()).toEqual(counts);

    const shown = await site.request('/queues/api/queues?activeQueue=q&status=active');
    expect(await shown.json()).toMatchObject({
      queues: [{ name: 'q', counts, readOnlyMode: true, jobs: [{ data: { connection: 'berlin' } }] }],
    });
    for (const what of ['pause', 'add', 'empty']) {
      const reply = await site.request(`/queues/api/queues/q/${what}`, { method: 'PUT' });
      expect(reply.status).toBe(405);
    }
    const page = await (await site.request('/queues')).text();
    expect(page).toContain('<base href="/queues/"');
    // As `boardPolicy` has it: no script that stands in the page itself.
    const inline = [...page.matchAll(/<script(?![^>]*(?:src=|type="application\/json"))[^>]*>/g)];
    expect(inline).toEqual([]);
    expect(boardPolicy.scriptSrc).toEqual(["'self'"]);
    const [, script = ''] = /src="(static\/js\/main[^"]*)"/.exec(page) ?? [];
    expect((await site.request(`/queues/${script}`)).status).toBe(200);
    end.resolve();
    await at.queues.ping();
  });
});

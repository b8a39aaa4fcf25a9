import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { describeQueues } from '../../support/queues.ts';
import { until } from '../../support/until.ts';

const child = fileURLToPath(new URL('queue-child.ts', import.meta.url));
const never = new AbortController().signal;

describeQueues((at) => {
  describe('a job that goes back', () => {
    test('for itself: others go on meanwhile', async () => {
      const queue = at.queues.queue('q');
      const calls: string[] = [];
      await queue.add('waits', {});
      const other = await queue.add('other', {});
      await using _worker = queue.work({
        waits: async () => (calls.push('waits'), { againAfterMs: 600_000 }),
        other: async () => (calls.push('other'), { done: {} }),
      });
      await other.finished(never);
      expect(calls).toEqual(['waits', 'other']);
    });

    test.each([250.6, 0.4])('for itself is not taken again before %d ms', async (ms) => {
      const queue = at.queues.queue('q');
      const taken: number[] = [];
      const requested = new Set<number>();
      const waiting = await queue.add('waits', {});
      await using _worker = queue.work({
        waits: async (_payload, job) => {
          requested.add(job.requestedAt);
          const calls = taken.push(performance.now());
          return calls === 1 ? { againAfterMs: ms } : { done: { calls } };
        },
      });
      expect(await waiting.finished(never)).toEqual({ calls: 2 });
      expect(requested.size).toBe(1);
      const [first = 0, second = 0] = taken;
      expect(second - first).toBeGreaterThanOrEqual(Math.floor(ms));
    });

    test('because its worker is disposed: the signal stops it, another worker takes it up', async () => {
      const queue = at.queues.queue('q');
      const job = await queue.add('job', {});
      const reasons: unknown[] = [];
      let taken = 0;
      {
        await using _worker = queue.work({
          job: async (_payload, _job, stop) => {
            taken += 1;
            await once(stop, 'abort');
            reasons.push(stop.reason);
            return { againAfterMs: 0 };
          },
        });
        await until('the job is taken', () => taken === 1);
      }
      expect(reasons).toMatchObject([{ code: 'process.stopping' }]);
      expect(taken).toBe(1);
      await using more = await at.openMore();
      await using _worker = more.queue('q').work({ job: async () => ({ done: { by: 'another' } }) });
      expect(await job.finished(never)).toEqual({ by: 'another' });
    });

    test('because its process was killed: another worker takes it up when its lock has run out', async () => {
      const lockMs = 1_000;
      await using more = await at.openMore(lockMs);
      const job = await more.queue('q').add('job', {});
      const holder = spawn(process.execPath, [child, JSON.stringify(at.backend), 'q', String(lockMs)], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const [said] = (await once(holder.stdout, 'data')) as [Buffer];
      expect(said.toString()).toBe('taken\n');
      let taken = 0;
      await using _worker = more.queue('q').work({
        job: async () => {
          taken += 1;
          return { done: { by: 'another' } };
        },
      });
      // Longer than a lock: the living holder renews it.
      const next = await more.queue('q').add('job', {}, { delayMs: lockMs * 2 });
      await next.finished(never);
      expect(taken).toBe(1);

      holder.kill('SIGKILL');
      await once(holder, 'exit');
      expect(await job.finished(never)).toEqual({ by: 'another' });
      expect(taken).toBe(2);
    });

    test.each([
      ['the database', new LeadsyncError('database.unreachable', 'away', { retry: 'later' })],
      ['a connection to it', Object.assign(new Error('terminated by administrator'), { code: '57P01' })],
      ['the queue', new LeadsyncError('queue.unavailable', 'away', { retry: 'later' })],
    ])('because %s was away: it does not fail, and is taken up again', async (_what, outage) => {
      const queue = at.queues.queue('q');
      const job = await queue.add('job', {});
      let calls = 0;
      await using _worker = queue.work({
        job: async () => {
          calls += 1;
          if (calls === 1) throw outage;
          return { done: { calls } };
        },
      });
      expect(await job.finished(never)).toEqual({ calls: 2 });
    });
  });
});

import { describe, expect, test } from 'vitest';
import type { LeadsApiError } from '../../../src/leads-api/leads-api-error.ts';
import { refused } from '../../../src/leads-api/rate-limiter.ts';
import { apiError, firstPage } from './leads-api-calls.ts';
import { client, json, never, startServer, thrown } from './leads-api-server.ts';
import { MemoryThrottle } from '../../support/memory-throttle.ts';

const page = { items: [], nextCursor: null };

async function rateLimited(call: Promise<unknown>): Promise<LeadsApiError & { retryAfterMs: number }> {
  const error = await apiError(call);
  const { code, retry, retryAfterMs = Number.NaN } = error;
  expect([code, retry, Number.isInteger(retryAfterMs)]).toEqual(['leads.rate-limited', 'later', true]);
  return Object.assign(error, { retryAfterMs });
}

describe('after 429', () => {
  test('the throttle is moved by Retry-After and a margin, and the error says what remains', async () => {
    await using server = await startServer((response) =>
      json(response, 429, { code: 'request.rateLimited' }, { 'retry-after': '120' }),
    );
    const throttle = new MemoryThrottle();
    await using leads = client(server, { throttle });
    const before = Date.now();
    const error = await rateLimited(leads.list(firstPage, never));
    const after = Date.now();
    expect(error).toMatchObject({ status: 429, apiCode: 'request.rateLimited' });
    expect(throttle.until).toBeGreaterThan(before + 120_000);
    expect(throttle.until).toBeLessThan(after + 121_000);
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(throttle.until - after);
    expect(error.retryAfterMs).toBeLessThanOrEqual(throttle.until - before);
  });

  test('no request leaves before Retry-After has passed, and the next one does afterwards', async () => {
    let refusedAt = 0;
    await using server = await startServer((response, _request, count) => {
      if (count > 1) return json(response, 200, page);
      json(response, 429, {}, { 'retry-after': '1' });
      refusedAt = Date.now();
    });
    await using leads = client(server);
    await rateLimited(leads.list(firstPage, never));
    let refusals = 0;
    const asked = async (): Promise<boolean> => {
      const error = await leads.list(firstPage, never).then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error === null) return true;
      expect(error).toMatchObject({ code: 'leads.rate-limited', status: null });
      refusals += 1;
      return false;
    };
    await expect.poll(asked).toBe(true);
    expect(refusals).toBeGreaterThan(0);
    expect(server.seen).toHaveLength(2);
    expect(leads.requests).toBe(2);
    expect(server.seen[1]?.at).toBeGreaterThanOrEqual(refusedAt + 1000);
  });

  test('calls that were waiting their turn, and other clients of the throttle, send nothing', async () => {
    await using server = await startServer((response) => json(response, 429, {}, { 'retry-after': '60' }));
    const throttle = new MemoryThrottle();
    await using one = client(server, { throttle });
    await using other = client(server, { throttle });
    const calls = [
      one.list(firstPage, never),
      one.get('a', never),
      one.create({}, never),
      one.delete('a', never),
    ];
    for (const call of calls) await rateLimited(call);
    await rateLimited(other.update('a', {}, never));
    expect(server.seen).toHaveLength(1);
    expect([one.requests, other.requests]).toEqual([1, 0]);
  });

  test('the throttle is moved before the body has come', async () => {
    await using server = await startServer((response) => {
      response.writeHead(429, { 'retry-after': '60', 'content-length': '100' });
      response.write('{');
    });
    const { promise: paused, resolve } = Promise.withResolvers<number>();
    const kept = new MemoryThrottle();
    const throttle = Object.assign(kept, {
      pauseUntil: (until: number) => {
        kept.until = until;
        return Promise.resolve(resolve(until));
      },
    });
    const stop = new AbortController();
    await using leads = client(server, { throttle });
    const call = leads.list(firstPage, stop.signal);
    call.catch(() => {});
    expect(await paused).toBeGreaterThan(Date.now() + 59_000);
    stop.abort();
    expect(await thrown(call)).toBe(stop.signal.reason);
    await rateLimited(leads.list(firstPage, never));
  });

  test('the error comes only when the throttle has been moved', async () => {
    await using server = await startServer((response) => json(response, 429, {}, { 'retry-after': '60' }));
    const stored = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const throttle = Object.assign(new MemoryThrottle(), {
      pauseUntil: () => (asked.resolve(), stored.promise),
    });
    await using leads = client(server, { throttle });
    let ended = false;
    const call = thrown(leads.list(firstPage, never)).finally(() => {
      ended = true;
    });
    await asked.promise;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(ended).toBe(false);
    stored.resolve();
    expect(await call).toMatchObject({ code: 'leads.rate-limited' });
  });

  test('a throttle that cannot be written is thrown', async () => {
    await using server = await startServer((response) => json(response, 429, {}, { 'retry-after': '60' }));
    const down = new Error('database is down');
    const throttle = Object.assign(new MemoryThrottle(), { pauseUntil: () => Promise.reject(down) });
    await using leads = client(server, { throttle });
    expect(await thrown(leads.list(firstPage, never))).toBe(down);
  });

  test('an HTTP date counts from the Date of the reply, whatever the two clocks show', async () => {
    const serviceNow = Date.now() + 7 * 3_600_000;
    await using server = await startServer((response) =>
      json(
        response,
        429,
        {},
        {
          date: new Date(serviceNow).toUTCString(),
          'retry-after': new Date(serviceNow + 90_000).toUTCString(),
        },
      ),
    );
    await using leads = client(server);
    const { retryAfterMs } = await rateLimited(leads.list(firstPage, never));
    expect(retryAfterMs).toBeGreaterThan(85_000);
    expect(retryAfterMs).toBeLessThan(91_000);
  });

  test('several weeks count as a day', async () => {
    await using server = await startServer((response) =>
      json(response, 429, {}, { 'retry-after': '3000000' }),
    );
    await using leads = client(server);
    expect((await rateLimited(leads.list(firstPage, never))).retryAfterMs).toBeLessThanOrEqual(86_400_100);
  });

  test.each([undefined, '-5', 'soon', 'NaN', '0', ''])(
    'Retry-After %j means about a second',
    async (value) => {
      await using server = await startServer((response) =>
        json(response, 429, {}, value === undefined ? {} : { 'retry-after': value }),
      );
      const logged: string[] = [];
      const throttle = new MemoryThrottle();
      const log = (_level: unknown, _fields: unknown, message: string): number => logged.push(message);
      await using leads = client(server, { throttle, log });
      const before = Date.now();
      const { retryAfterMs } = await rateLimited(leads.list(firstPage, never));
      expect(throttle.until).toBeGreaterThan(before + 800);
      expect(retryAfterMs).toBeLessThanOrEqual(1_100);
      expect(logged).toContain('429 without a usable Retry-After: backing off');
    },
  );
});

test('a pause that another process was told holds before the first request', async () => {
  await using server = await startServer((response) => json(response, 200, page));
  const throttle = new MemoryThrottle();
  throttle.until = Date.now() + 5_000;
  await using leads = client(server, { throttle });
  const { retryAfterMs, status } = await rateLimited(leads.list(firstPage, never));
  // A ms for the two clocks.
  expect(retryAfterMs).toBeGreaterThanOrEqual(throttle.until - Date.now() - 1);
  expect(retryAfterMs).toBeLessThanOrEqual(5_001);
  expect(status).toBeNull();
  throttle.until = Date.now() - 1;
  expect(await leads.list(firstPage, never)).toEqual({ leads: [], nextCursor: null, invalidItems: 0 });
  expect([server.seen.length, leads.requests]).toEqual([1, 1]);
});

/** As SIGSTOP does: nothing of this process goes on for n ms. */
function holdStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test.each([1, 2])(
  'a process that is held after look %i looks again, and finds the pause of another one',
  async (heldAfter) => {
    await using server = await startServer((response) => json(response, 200, page));
    const throttle = new MemoryThrottle();
    throttle.until = Date.now() - 1_000;
    throttle.pace = refused(null, Date.now() - 1_000, 1_100);
    let looks = 0;
    const held = Object.assign(new MemoryThrottle(), {
      movePace: throttle.movePace.bind(throttle),
      look: async () => {
        const found = await throttle.look();
        looks += 1;
        if (looks === heldAfter) {
          holdStill(1_100);
          throttle.until = Date.now() + 60_000;
        }
        return found;
      },
    });
    await using leads = client(server, { throttle: held });
    expect((await rateLimited(leads.list(firstPage, never))).retryAfterMs).toBeGreaterThan(50_000);
    expect(server.seen).toHaveLength(0);
  },
);

test('a database that is always too slow to ask first: no request, and an error that says so', async () => {
  await using server = await startServer((response) => json(response, 200, page));
  const throttle = new MemoryThrottle();
  const slow = Object.assign(new MemoryThrottle(), {
    look: () => {
      holdStill(510);
      return throttle.look();
    },
  });
  await using leads = client(server, { throttle: slow });
  expect(await thrown(leads.list(firstPage, never))).toMatchObject({ code: 'database.slow', retry: 'later' });
  expect(server.seen).toHaveLength(0);
});

test('who makes a lead is told just before the request leaves, and not when it is cut off before', async () => {
  const order: string[] = [];
  await using server = await startServer((response) => {
    order.push('request');
    json(response, 201, { id: 'a', companyName: 'A' });
  });
  const throttle = new MemoryThrottle();
  throttle.until = Date.now() - 1;
  const due = refused(null, Date.now(), 60_000);
  throttle.pace = due;
  const cut = new AbortController();
  await using leads = client(server, {
    throttle,
    sleep: (_ms, signal) => {
      order.push('wait');
      if (order.length === 1) cut.abort();
      signal.throwIfAborted();
      throttle.pace = { ...due, nextAt: Date.now() };
      return Promise.resolve();
    },
  });
  const leaving = (): Promise<void> => Promise.resolve(void order.push('leaving'));
  expect(await thrown(leads.create({ companyName: 'A' }, cut.signal, leaving))).toBe(cut.signal.reason);
  expect(order).toEqual(['wait']);
  expect(await leads.create({ companyName: 'A' }, never, leaving)).toMatchObject({ id: 'a' });
  expect(order).toEqual(['wait', 'wait', 'leaving', 'request']);
});

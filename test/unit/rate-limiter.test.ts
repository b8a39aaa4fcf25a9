import { describe, expect, test } from 'vitest';
import type { ReplyHead } from '../../src/http/exchange.ts';
import { type Pace, RateLimiter } from '../../src/leads-api/rate-limiter.ts';
import { steadyClock, systemClock } from '../../src/ports/clock.ts';
import { MemoryThrottle } from '../support/memory-throttle.ts';

const calm = (): boolean => false;
const never = new AbortController().signal;

test('waits grow with each 429 in a row that names none, and start again after another reply', async () => {
  const receivedAt = Date.now();
  const waits: number[] = [];
  const limiter = new RateLimiter(
    Object.assign(new MemoryThrottle(), {
      pauseUntil: (until: number) => {
        waits.push(until - receivedAt);
        return Promise.resolve();
      },
    }),
    systemClock,
    calm,
  );
  for (const status of [429, 429, 429, 429, 200, 429])
    await limiter.note({ status, headers: {}, receivedAt }, never);
  const wholes = [1_000, 2_000, 4_000, 8_000, 1_000];
  expect(waits).toHaveLength(wholes.length);
  for (const [index, whole] of wholes.entries()) {
    expect(waits[index]).toBeGreaterThanOrEqual(whole * 0.75 + 100);
    expect(waits[index]).toBeLessThanOrEqual(whole + 100);
  }
});

test('a wait counts from the moment the headers were here, with a margin', async () => {
  const receivedAt = Date.now() - 400;
  const throttle = new MemoryThrottle();
  const limiter = new RateLimiter(throttle, systemClock, calm);
  expect(await limiter.note({ status: 429, headers: { 'retry-after': '3' }, receivedAt }, never)).toEqual({
    asked: true,
    longest: false,
  });
  expect(throttle.until).toBe(receivedAt + 3_100);
  await expect(limiter.acquire(true)).rejects.toMatchObject({ code: 'leads.rate-limited', status: null });
});

test.each([
  ['with Retry-After', { 'retry-after': '2' }, 2_100],
  ['without', {}, 0],
])('a 503 %s is no rate limit, but is not asked again earlier than it says', async (_name, headers, wait) => {
  const receivedAt = Date.now();
  let until = receivedAt;
  const limiter = new RateLimiter(
    Object.assign(new MemoryThrottle(), {
      pauseUntil: (epochMs: number) => {
        until = epochMs;
        return Promise.resolve();
      },
    }),
    systemClock,
    calm,
  );
  expect(await limiter.note({ status: 503, headers, receivedAt }, never)).toBeNull();
  expect(until - receivedAt).toBe(wait);
});

describe('the pace', () => {
  const head = (status: number, receivedAt: number): ReplyHead => ({
    status,
    headers: status === 429 ? { 'retry-after': '1' } : {},
    receivedAt,
  });

  /** A rate limiter that has just learned a pace of some five requests a second, by a clock that the test moves. */
  async function learned() {
    const clock = { ms: 1_000_000, isCrowded: false, now: () => clock.ms, random: () => 0 };
    const throttle = new MemoryThrottle();
    const limiter = new RateLimiter(throttle, clock, () => clock.isCrowded);
    await limiter.acquire(true);
    await limiter.note(head(429, clock.ms), never);
    clock.ms += 1_100;
    return { clock, throttle, limiter };
  }

  test('lets a request leave after the pause, and the next ones a gap after each other, of all processes', async () => {
    const { clock, throttle, limiter } = await learned();
    const waits: number[] = [];
    for (const one of [limiter, new RateLimiter(throttle, clock, calm), limiter]) {
      const { waitMs } = await one.acquire(true);
      waits.push(Math.round(waitMs / 10) * 10);
      clock.ms += waitMs;
      if (waitMs > 0) expect(await one.acquire(true)).toMatchObject({ waitMs: 0 });
    }
    expect(waits).toEqual([0, 200, 200]);
  });

  test('who finds that another process took the turn takes the next one', async () => {
    const { clock, throttle, limiter } = await learned();
    const look = throttle.look.bind(throttle);
    let looks = 0;
    throttle.look = async () => {
      const found = await look();
      if (++looks === 1) await new RateLimiter(throttle, clock, calm).acquire(true);
      return found;
    };
    expect((await limiter.acquire(true)).waitMs).toBeGreaterThan(150);
    expect(looks).toBe(2 + 1);
  });

  test('is not learned from a 503, nor forgotten for one, nor slower for what was under way with a 429', async () => {
    const busy: ReplyHead = { status: 503, headers: { 'retry-after': '1' }, receivedAt: 1_000_000 };
    const fresh = new MemoryThrottle();
    await new RateLimiter(fresh, systemClock, calm).note(busy, never);
    expect(fresh.pace).toBeNull();
    const { clock, throttle, limiter } = await learned();
    await limiter.acquire(true);
    const { rate } = throttle.pace as Pace;
    await limiter.note(busy, never);
    expect(throttle.pace).toMatchObject({ rate });
    clock.ms += 10_000;
    await limiter.note(head(429, clock.ms), never);
    const slower = throttle.pace as Pace;
    expect(slower.rate).toBeLessThan(rate);
    await limiter.note(head(429, clock.ms + 50), never);
    expect(throttle.pace).toEqual(slower);
  });

  test('a long wait for it is put off, so that nobody is held, unless it is for a write', async () => {
    const { clock, throttle, limiter } = await learned();
    throttle.pace = { ...(throttle.pace as Pace), nextAt: clock.ms + 2_500 };
    await expect(limiter.acquire(true)).rejects.toMatchObject({
      code: 'leads.rate-limited',
      retry: 'later',
      retryAfterMs: 2_500,
    });
    expect(await limiter.acquire(false)).toMatchObject({ waitMs: 2_500 });
  });

  test('hardly any wait is slept while others wait for whoever asks', async () => {
    const { clock, throttle, limiter } = await learned();
    const pace = { ...(throttle.pace as Pace), nextAt: clock.ms + 100 };
    throttle.pace = pace;
    expect(await limiter.acquire(true)).toMatchObject({ waitMs: 100 });
    clock.isCrowded = true;
    throttle.pace = pace;
    await expect(limiter.acquire(true)).rejects.toMatchObject({ retryAfterMs: 100 });
    expect(await limiter.acquire(false)).toMatchObject({ waitMs: 100 });
  });

  test('that was learned more than a day ago is none, and so is what no one understands', async () => {
    const { clock, throttle, limiter } = await learned();
    const pace = { ...(throttle.pace as Pace), nextAt: clock.ms + 1_000 };
    throttle.pace = pace;
    expect(await limiter.acquire(true)).toMatchObject({ waitMs: 1_000 });
    throttle.pace = { limit: 5 };
    expect(await limiter.acquire(true)).toMatchObject({ waitMs: 0 });
    clock.ms += 24 * 3_600_000;
    throttle.pace = { ...pace, nextAt: clock.ms + 1_000 };
    expect(await limiter.acquire(true)).toMatchObject({ waitMs: 0 });
  });
});

describe('a look at the throttle', () => {
  /** `looks`: how often it was looked so far. */
  function looking() {
    const clock = steadyClock;
    const throttle = new MemoryThrottle();
    const look = throttle.look.bind(throttle);
    const scene = { clock, throttle, looks: 0, limiter: new RateLimiter(throttle, clock, calm) };
    throttle.look = () => {
      scene.looks += 1;
      return look();
    };
    return scene;
  }

  const stand = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

  test('serves all requests of the next quarter of a second, also such as leave at once', async () => {
    const scene = looking();
    const { limiter } = scene;
    const permissions = await Promise.all([true, false, true].map((mayYield) => limiter.acquire(mayYield)));
    permissions.push(await limiter.acquire(true));
    expect(permissions.map(({ isFresh }) => isFresh())).toEqual([true, true, true, true]);
    expect(scene.looks).toBe(1);
  });

  test('is made again after that, also in a process that was held still', async () => {
    const scene = looking();
    await scene.limiter.acquire(true);
    stand(260);
    scene.throttle.until = scene.clock.now() + 5_000;
    await expect(scene.limiter.acquire(true)).rejects.toMatchObject({ code: 'leads.rate-limited' });
    expect(scene.looks).toBe(2);
  });

  test('that is half a second old lets no request leave any more', async () => {
    const permission = await looking().limiter.acquire(true);
    stand(510);
    expect([permission.isFresh(), permission.isCurrent()]).toEqual([false, true]);
  });

  test('does not count when a 429 was received since, by any connection of this process', async () => {
    const scene = looking();
    const permission = await scene.limiter.acquire(true);
    await new RateLimiter(scene.throttle, scene.clock, calm).acquire(true);
    expect(permission.isFresh()).toBe(true);
    await scene.throttle.pauseUntil(scene.clock.now() + 5_000);
    expect(permission.isFresh()).toBe(false);
    await expect(scene.limiter.acquire(true)).rejects.toMatchObject({ code: 'leads.rate-limited' });
  });

  test('that fails is made again', async () => {
    const scene = looking();
    const look = scene.throttle.look.bind(scene.throttle);
    scene.throttle.look = () => Promise.reject(new Error('the database is away'));
    await expect(scene.limiter.acquire(true)).rejects.toThrow('the database is away');
    scene.throttle.look = look;
    expect(await scene.limiter.acquire(true)).toMatchObject({ waitMs: 0 });
  });
});

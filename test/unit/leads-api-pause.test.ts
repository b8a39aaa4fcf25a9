import { describe, expect, test } from 'vitest';
import type { ReplyHead } from '../../src/http/exchange.ts';
import type { Pace } from '../../src/leads-api/pace.ts';
import { systemClock } from '../../src/sync/clock.ts';
import { MemoryThrottle } from '../support/memory-throttle.ts';
import { Pause } from '../../src/leads-api/pause.ts';

const calm = (): boolean => false;
const never = new AbortController().signal;

test('waits grow with each 429 in a row that names none, and start again after another reply', async () => {
  const receivedAt = Date.now();
  const waits: number[] = [];
  const pause = new Pause(
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
    await pause.note({ status, headers: {}, receivedAt }, never);
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
  const pause = new Pause(throttle, systemClock, calm);
  expect(await pause.note({ status: 429, headers: { 'retry-after': '3' }, receivedAt }, never)).toEqual({
    asked: true,
    longest: false,
  });
  expect(throttle.until).toBe(receivedAt + 3_100);
  await expect(pause.check(true)).rejects.toMatchObject({ code: 'leads.rate-limited', status: null });
});

test.each([
  ['with Retry-After', { 'retry-after': '2' }, 2_100],
  ['without', {}, 0],
])('a 503 %s is no rate limit, but is not asked again earlier than it says', async (_name, headers, wait) => {
  const receivedAt = Date.now();
  let until = receivedAt;
  const pause = new Pause(
    Object.assign(new MemoryThrottle(), {
      pauseUntil: (epochMs: number) => {
        until = epochMs;
        return Promise.resolve();
      },
    }),
    systemClock,
    calm,
  );
  expect(await pause.note({ status: 503, headers, receivedAt }, never)).toBeNull();
  expect(until - receivedAt).toBe(wait);
});

describe('the pace', () => {
  const head = (status: number, receivedAt: number): ReplyHead => ({
    status,
    headers: status === 429 ? { 'retry-after': '1' } : {},
    receivedAt,
  });

  /** A pause that has just learned a pace of about two requests a second, by a clock that the test moves. */
  async function learned() {
    const clock = { ms: 1_000_000, isCrowded: false, now: () => clock.ms, random: () => 0 };
    const throttle = new MemoryThrottle();
    const pause = new Pause(throttle, clock, () => clock.isCrowded);
    await pause.check(true);
    pause.leave();
    await pause.note(head(429, clock.ms), never);
    clock.ms += 1_100;
    return { clock, throttle, pause };
  }

  test('lets a request leave after the pause, and the next one only after a gap', async () => {
    const { clock, pause } = await learned();
    expect(await pause.check(true)).toEqual({ limitedLately: true, waitMs: 0 });
    pause.leave();
    await pause.note(head(200, clock.ms), never);
    const { waitMs } = await pause.check(true);
    expect(waitMs).toBeGreaterThan(450);
    expect(waitMs).toBeLessThan(700);
    clock.ms += waitMs;
    expect(await pause.check(true)).toMatchObject({ waitMs: 0 });
  });

  test('is not learned from a 503, nor forgotten for one', async () => {
    const busy: ReplyHead = { status: 503, headers: { 'retry-after': '1' }, receivedAt: 1_000_000 };
    const fresh = new MemoryThrottle();
    await new Pause(fresh, systemClock, calm).note(busy, never);
    expect(fresh.pace).toBeNull();
    const { throttle, pause } = await learned();
    const { limit } = throttle.pace as Pace;
    await pause.check(true);
    await pause.note(busy, never);
    expect(throttle.pace).toMatchObject({ limit });
  });

  test('a long wait for it is put off, so that nobody is held, unless it is for a write', async () => {
    const { clock, throttle, pause } = await learned();
    throttle.pace = { ...(throttle.pace as Pace), nextAt: clock.ms + 2_500 };
    await expect(pause.check(true)).rejects.toMatchObject({
      code: 'leads.rate-limited',
      retry: 'later',
      retryAfterMs: 2_500,
    });
    expect(await pause.check(false)).toMatchObject({ waitMs: 2_500 });
  });

  test('hardly any wait is slept while others wait for whoever asks', async () => {
    const { clock, throttle, pause } = await learned();
    throttle.pace = { ...(throttle.pace as Pace), nextAt: clock.ms + 100 };
    expect(await pause.check(true)).toMatchObject({ waitMs: 100 });
    clock.isCrowded = true;
    await expect(pause.check(true)).rejects.toMatchObject({ retryAfterMs: 100 });
    expect(await pause.check(false)).toMatchObject({ waitMs: 100 });
  });

  test('that was learned more than a day ago is none, and so is what no one understands', async () => {
    const { clock, throttle, pause } = await learned();
    throttle.pace = { ...(throttle.pace as Pace), nextAt: clock.ms + 1_000 };
    expect(await pause.check(true)).toMatchObject({ waitMs: 1_000 });
    throttle.pace = { rate: 5 };
    expect(await pause.check(true)).toEqual({ limitedLately: true, waitMs: 0 });
    clock.ms += 24 * 3_600_000;
    throttle.pace = { ...(throttle.pace as Pace), nextAt: clock.ms + 1_000 };
    expect(await pause.check(true)).toEqual({ limitedLately: false, waitMs: 0 });
  });

  test('a reply is not lost when the pace cannot be kept', async () => {
    const { clock, throttle, pause } = await learned();
    throttle.keepPace = () => Promise.reject(new Error('the database is away'));
    await pause.check(true);
    pause.leave();
    expect(await pause.note(head(200, clock.ms), never)).toBeNull();
  });
});

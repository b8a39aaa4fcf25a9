import { expect, test } from 'vitest';
import { systemClock } from '../../src/sync/clock.ts';
import { MemoryThrottle } from '../support/memory-throttle.ts';
import { Pause } from '../../src/leads-api/pause.ts';

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
  );
  for (const status of [429, 429, 429, 429, 200, 429]) await pause.note({ status, headers: {}, receivedAt });
  const wholes = [1_000, 2_000, 4_000, 8_000, 1_000];
  expect(waits).toHaveLength(wholes.length);
  for (const [index, whole] of wholes.entries()) {
    expect(waits[index]).toBeGreaterThanOrEqual(whole * 0.75 + 100);
    expect(waits[index]).toBeLessThanOrEqual(whole + 100);
  }
});

test('a wait counts from the moment the headers were here, with a margin', async () => {
  const receivedAt = Date.now() - 400;
  let until = 0;
  const pause = new Pause(
    Object.assign(new MemoryThrottle(), {
      pauseUntil: (epochMs: number) => {
        until = epochMs;
        return Promise.resolve();
      },
    }),
    systemClock,
  );
  expect(await pause.note({ status: 429, headers: { 'retry-after': '3' }, receivedAt })).toEqual({
    asked: true,
  });
  expect(until).toBe(receivedAt + 3_100);
  await expect(pause.check()).rejects.toMatchObject({ code: 'leads.rate-limited', status: null });
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
  );
  expect(await pause.note({ status: 503, headers, receivedAt })).toBeNull();
  expect(until - receivedAt).toBe(wait);
});

import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { createThrottle } from '../../../src/store/services.ts';
import { useScenes } from './store-scene.ts';

const scene = useScenes();
const address = () => `https://${randomUUID()}.example`;

/** What a wait may seem longer by (ms), since it is stored and read a moment later; never shorter. */
const slackMs = 5_000;

const throttleOf = (pool: pg.Pool, url: string, key = 'key', aheadMs = 0) =>
  createThrottle(pool, url, key, { now: () => Date.now() + aheadMs });

test('without a pause, requests may leave at once', async () => {
  expect((await throttleOf(scene().pool, address()).look()).notBefore).toBe(0);
});

test('a pause never ends early', async () => {
  const throttle = throttleOf(scene().pool, address());
  for (const ms of [100, 1_000.4, 60_000, 30 * 86_400_000]) {
    const moment = Date.now() + ms;
    await throttle.pauseUntil(moment);
    const until = (await throttle.look()).notBefore;
    expect(until).toBeGreaterThanOrEqual(moment);
    expect(until).toBeLessThan(moment + slackMs);
  }
});

test('a pause holds in its own process before it is stored, also for a look that ends when it is', async () => {
  const { pool } = scene();
  const stored = Promise.withResolvers<void>();
  const seen = Promise.withResolvers<void>();
  const slow = Object.assign(Object.create(pool) as pg.Pool, {
    query: async (text: string, values: unknown[]) => {
      if (text.includes('insert')) await stored.promise;
      const result = await pool.query(text, values);
      if (text.includes('select')) await seen.promise;
      return result;
    },
  });
  const throttle = throttleOf(slow, address());
  const moment = Date.now() + 60_000;
  const storing = throttle.pauseUntil(moment);
  const look = throttle.look();
  stored.resolve();
  await storing;
  seen.resolve();
  expect((await look).notBefore).toBeGreaterThanOrEqual(moment);
});

test('a pause never moves back', async () => {
  const throttle = throttleOf(scene().pool, address());
  const moment = Date.now() + 3_600_000;
  await throttle.pauseUntil(moment);
  await throttle.pauseUntil(moment - 1_800_000);
  await throttle.pauseUntil(Date.now() - 1_800_000);
  expect((await throttle.look()).notBefore).toBeGreaterThanOrEqual(moment);
  await Promise.all([50_000, 90_000, 10_000].map((ms) => throttle.pauseUntil(moment + ms)));
  expect((await throttle.look()).notBefore).toBeGreaterThanOrEqual(moment + 90_000);
});

test('a pause holds for the same key at the same address, in every process, and for no other', async () => {
  const here = scene();
  const url = address();
  await throttleOf(here.pool, url).pauseUntil(Date.now() + 60_000);
  const elsewhere = openDatabase({ connectionString: here.url });
  try {
    expect((await throttleOf(elsewhere, url).look()).notBefore).toBeGreaterThan(Date.now() + 50_000);
  } finally {
    await elsewhere.end();
  }
  expect((await throttleOf(here.pool, url, 'another key').look()).notBefore).toBe(0);
  expect((await throttleOf(here.pool, address()).look()).notBefore).toBe(0);
});

test('a pause is as long for processes whose clocks are hours apart, or jump', async () => {
  const here = scene();
  const url = address();
  const hourMs = 3_600_000;
  const clock = { aheadMs: 3 * hourMs, now: () => Date.now() + clock.aheadMs };
  const ahead = createThrottle(here.pool, url, 'key', clock);
  await ahead.pauseUntil(clock.now() + 10_000);
  for (const aheadMs of [0, -5 * hourMs, 7 * hourMs]) {
    const left = (await throttleOf(here.pool, url, 'key', aheadMs).look()).notBefore - Date.now() - aheadMs;
    expect(left).toBeGreaterThan(10_000 - slackMs);
    expect(left).toBeLessThan(10_000 + slackMs);
  }
  clock.aheadMs = -hourMs;
  expect((await ahead.look()).notBefore - clock.now()).toBeLessThan(10_000 + slackMs);
});

test('the key is not stored', async () => {
  const here = scene();
  const key = randomUUID();
  await throttleOf(here.pool, address(), key).pauseUntil(Date.now() + 60_000);
  const { rows } = await here.pool.query<{ scope: string }>('select scope from services');
  expect(rows.filter(({ scope }) => scope.includes(key))).toEqual([]);
});

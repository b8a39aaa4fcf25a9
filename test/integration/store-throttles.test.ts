import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { createThrottle } from '../../src/store/throttles.ts';
import { useScenes } from './store-scene.ts';

const scene = useScenes();
const address = () => `https://${randomUUID()}.example`;

test('without a pause, requests may leave at once', async () => {
  expect(await createThrottle(scene().pool, address(), 'key').notBefore()).toBe(0);
});

test('a pause is known to the millisecond, and never ends early', async () => {
  const throttle = createThrottle(scene().pool, address(), 'key');
  for (const moment of [1_795_248_000_000, 1_795_248_000_001, 1_795_248_000_999.4]) {
    await throttle.pauseUntil(moment);
    const until = await throttle.notBefore();
    expect(until).toBeGreaterThanOrEqual(moment);
    expect(until).toBeLessThan(moment + 2);
  }
});

test('a pause never moves back', async () => {
  const throttle = createThrottle(scene().pool, address(), 'key');
  await throttle.pauseUntil(2_000_000_000_000);
  await throttle.pauseUntil(1_000_000_000_000);
  expect(await throttle.notBefore()).toBe(2_000_000_000_000);
  await Promise.all(
    [2_000_000_000_005, 2_000_000_000_009, 2_000_000_000_001].map((moment) => throttle.pauseUntil(moment)),
  );
  expect(await throttle.notBefore()).toBe(2_000_000_000_009);
});

test('a pause holds for the same key at the same address, in every process, and for no other', async () => {
  const here = scene();
  const url = address();
  await createThrottle(here.pool, url, 'key').pauseUntil(2_000_000_000_000);
  const elsewhere = openDatabase({ connectionString: here.url });
  try {
    expect(await createThrottle(elsewhere, url, 'key').notBefore()).toBe(2_000_000_000_000);
  } finally {
    await elsewhere.end();
  }
  expect(await createThrottle(here.pool, url, 'another key').notBefore()).toBe(0);
  expect(await createThrottle(here.pool, address(), 'key').notBefore()).toBe(0);
});

test('the key is not stored', async () => {
  const here = scene();
  const key = randomUUID();
  await createThrottle(here.pool, address(), key).pauseUntil(2_000_000_000_000);
  const { rows } = await here.pool.query<{ scope: string }>('select scope from throttles');
  expect(rows.filter(({ scope }) => scope.includes(key))).toEqual([]);
});

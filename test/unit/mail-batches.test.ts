import { describe, expect, test } from 'vitest';
import { batchesOf } from '../../src/reminders/send/batches.ts';
import { Semaphore } from '../../src/lib/semaphore.ts';
import { createBatcher } from '../../src/store/batcher.ts';
import type { Reminder } from '../../src/store/mails.ts';

const now = 1_800_000_000_000;
const reminder = (id: number, fromNow: number, more: Partial<Reminder> = {}): Reminder => ({
  id,
  connection: 'main',
  leadId: `lead-${id}`,
  dueAt: now + fromNow,
  kind: 'reminder',
  note: null,
  offsetText: '0m',
  sendAt: now + fromNow,
  recipient: 'anna@example.com',
  state: 'scheduled',
  sequence: 0,
  attempts: 0,
  resends: 0,
  unknownOutcomes: 0,
  firstTriedAt: null,
  round: 0,
  updatedAt: now,
  sender: null,
  isSenderThere: false,
  idleMs: 0,
  awaitsDigest: false,
  told: null,
  ...more,
});
const idsOf = (reminders: readonly Reminder[]): number[][] =>
  batchesOf(reminders, now).map((batch) => batch.map(({ id }) => id));

describe('reminders of one job', () => {
  test('are those of one second, in their order; what is late goes together', () => {
    const given = [-5_000, -1, 0, 1, 999, 1_000, 1_001, 2_000, 90_000].map((at, id) => reminder(id, at));
    expect(idsOf(given)).toEqual([[0, 1, 2], [3, 4, 5], [6, 7], [8]]);
  });

  test('are never too many, and all are there', () => {
    const given = Array.from({ length: 1_201 }, (_, id) => reminder(id, -1_201 + id));
    expect(idsOf(given).map(({ length }) => length)).toEqual([500, 500, 201]);
    expect(idsOf(given).flat()).toEqual(given.map(({ id }) => id));
  });

  test('were not tried before: those wait for their own next try', () => {
    const given = [
      reminder(1, -1),
      reminder(2, -1, { attempts: 1 }),
      reminder(3, -1, { state: 'sending' }),
      reminder(4, -1),
    ];
    expect(idsOf(given)).toEqual([[1, 4], [2], [3]]);
  });

  test('tell their round and their moment', () => {
    const [batch] = batchesOf([reminder(7, 60_000, { round: 3 })], now);
    expect(batch).toEqual([{ id: 7, round: 3, sendAt: now + 60_000 }]);
  });
});

describe('calls that are gathered', () => {
  test('go together when they come together or while others are under way; each gets its own result', async () => {
    const carriedOut: number[][] = [];
    const doors = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const double = createBatcher(async (numbers: readonly number[]) => {
      const door = doors[carriedOut.push([...numbers]) - 1];
      await door?.promise;
      return numbers.map((n) => n * 2);
    }, 0);
    const first = Promise.all([double(1), double(2)]);
    await expect.poll(() => carriedOut).toEqual([[1, 2]]);
    const second = Promise.all([double(3), double(4)]);
    doors[0]?.resolve();
    expect(await first).toEqual([2, 4]);
    doors[1]?.resolve();
    expect(await second).toEqual([6, 8]);
    expect(carriedOut).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test('fail together, and the next ones are carried out', async () => {
    let fails = true;
    const call = createBatcher(async (items: readonly string[]) => {
      if (fails) throw new Error('out of order');
      return items;
    }, 0);
    const results = await Promise.allSettled([call('a'), call('b')]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await call('c')).toBe('c');
  });
});

test('no more tasks than places, in the order in which they came', async () => {
  const slots = new Semaphore(2);
  const order: number[] = [];
  let [running, most] = [0, 0];
  await Promise.all(
    [0, 1, 2, 3, 4].map(async (n) => {
      using _slot = await slots.acquire();
      order.push(n);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    }),
  );
  expect(most).toBe(2);
  expect(order).toEqual([0, 1, 2, 3, 4]);
});

import { expect, test } from 'vitest';
import { readAhead } from '../../src/sync/concurrency.ts';

/** Numbers from 0 on; `taken` are those that were asked for. */
function numbers(count: number, taken: number[] = [], fault?: Error) {
  return (async function* () {
    for (let next = 0; next < count; next++) {
      taken.push(next);
      yield next;
    }
    if (fault !== undefined) throw fault;
  })();
}

const moment = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('so many come at a time, in their order, and the last ones', async () => {
  const batches: (readonly number[])[] = [];
  for await (const batch of readAhead(numbers(10), 4)) {
    batches.push(batch);
    await moment();
  }
  expect(batches).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9],
  ]);
});

test('heavy items come with fewer others', async () => {
  const batches: (readonly number[])[] = [];
  for await (const batch of readAhead(numbers(6), 4, (number) => (number < 2 ? 5 : 2))) {
    batches.push(batch);
    await moment();
  }
  expect(batches).toEqual([[0], [1], [2, 3], [4, 5]]);
});

test('an item that no other one joins comes alone', async () => {
  const end = Promise.withResolvers<void>();
  async function* slow() {
    yield 0;
    await end.promise;
  }
  const batches = readAhead(slow(), 4);
  expect(await batches.next()).toEqual({ done: false, value: [0] });
  end.resolve();
  expect(await batches.next()).toMatchObject({ done: true });
});

test('no more than so many are taken before they are needed', async () => {
  const taken: number[] = [];
  const batches = readAhead(numbers(100, taken), 3);
  await batches.next();
  await moment();
  // Those that came, as many again, and the one that follows when there is room.
  expect(taken.length).toBeLessThanOrEqual(7);
  await batches.return();
  expect(taken.length).toBeLessThanOrEqual(8);
});

test('a fault comes after what was there before it', async () => {
  const seen: number[] = [];
  const read = async (): Promise<void> => {
    for await (const batch of readAhead(numbers(3, [], new Error('the reason')), 2)) {
      seen.push(...batch);
      await moment();
    }
  };
  await expect(read()).rejects.toThrow('the reason');
  expect(seen).toEqual([0, 1, 2]);
});

test('nothing at all', async () => {
  const batches: unknown[] = [];
  for await (const batch of readAhead(numbers(0), 2)) batches.push(batch);
  expect(batches).toEqual([]);
});

test('who stops early does not hear of a fault of what was under way, and nobody else does', async () => {
  const batches = readAhead(numbers(1, [], new Error('too late')), 1);
  await batches.next();
  const ended = batches.return();
  await expect(ended).resolves.toMatchObject({ done: true });
  // Node ends the process, and the test, for a rejection that nobody listens to.
  await moment();
});

import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MemoryThrottle } from '../../support/memory-throttle.ts';
import { apiError, firstPage } from './leads-api-calls.ts';
import { client, json, never, startServer } from './leads-api-server.ts';

const page = { items: [], nextCursor: null };

/** Replies after which four requests may be under way. */
const repliesForAll = 24;

/** A service that answers at once until it has answered n; those after that are answered by hand, in their order. */
async function startHolding(stack: AsyncDisposableStack) {
  const held: { readonly response: ServerResponse; readonly url: string }[] = [];
  const arrived: (() => void)[] = [];
  let most = 0;
  const server = stack.use(
    await startServer((response, { url }, count) => {
      if (count <= repliesForAll) return json(response, 200, page);
      held.push({ response, url });
      most = Math.max(most, held.length);
      for (const tell of arrived.splice(0)) tell();
    }),
  );
  const answer = (index: number, status: number, headers: Record<string, string> = {}): void => {
    const [one] = held.splice(index, 1);
    if (one !== undefined) json(one.response, status, {}, headers);
  };
  const holding = async (count: number): Promise<void> => {
    while (held.length < count) await new Promise<void>((resolve) => arrived.push(resolve));
  };
  return { server, held, answer, holding, most: () => most };
}

test('four of a process are under way at most, whichever connections ask; one is answered 429: none leaves any more, and later one at a time', async () => {
  await using stack = new AsyncDisposableStack();
  const { server, held, answer, holding, most } = await startHolding(stack);
  const throttle = new MemoryThrottle();
  const [one, other] = [stack.use(client(server, { throttle })), stack.use(client(server, { throttle }))];
  for (let reply = 0; reply < repliesForAll; reply++) await one.list(firstPage, never);
  expect([one.lanes, other.lanes, server.connections]).toEqual([4, 4, 1]);

  const ask = (number: number) => (number % 2 === 0 ? one : other).get(`lead-${number}`, never);
  const calls = Array.from({ length: 12 }, (_, number) =>
    ask(number).then(
      () => 'answered',
      (error: { code: string; status: number | null }) => `${error.code} ${error.status}`,
    ),
  );
  await holding(4);
  // One more leaves on a connection that is kept alive, then the 429 comes.
  answer(0, 404);
  await holding(4);
  answer(1, 429, { 'retry-after': '1' });
  const refusedAt = Date.now();
  expect(await calls[2]).toBe('leads.rate-limited 429');
  while (held.length > 0) answer(0, 404);
  const ends = await Promise.all(calls);
  expect(ends.filter((end) => end === 'answered')).toHaveLength(4);
  expect(ends.filter((end) => end === 'leads.rate-limited null')).toHaveLength(7);
  expect(server.seen).toHaveLength(repliesForAll + 5);
  expect([one.lanes, other.lanes, most()]).toEqual([1, 1, 4]);

  await expect.poll(() => throttle.until < Date.now()).toBe(true);
  const later = Promise.all(Array.from({ length: 6 }, (_, number) => ask(number)));
  for (let number = 0; number < 6; number++) {
    await holding(1);
    expect(held).toHaveLength(1);
    answer(0, 404);
  }
  await later;
  expect(server.seen.slice(repliesForAll + 5).every(({ at }) => at >= refusedAt + 1000)).toBe(true);
});

test('a 429 that comes while a connection is made stops the request before its first byte', async () => {
  await using server = await startServer((response) => json(response, 404, {}));
  const throttle = new MemoryThrottle();
  await using leads = client(server, { throttle });
  const stopped = apiError(leads.update('lead', { city: 'Ulm' }, never));
  // It was looked whether it may leave, and the connection cannot be there yet.
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  throttle.pauses += 1;
  expect(await stopped).toMatchObject({ code: 'leads.rate-limited', status: null, retry: 'later' });
  expect([server.seen.length, leads.requests]).toEqual([0, 0]);
  expect(await leads.get('lead', never)).toBeNull();
});

test('who was limited by another process meanwhile lets those under way end first', async () => {
  await using stack = new AsyncDisposableStack();
  const { server, held, answer, holding } = await startHolding(stack);
  const throttle = new MemoryThrottle();
  const leads = stack.use(client(server, { throttle }));
  for (let reply = 0; reply < repliesForAll; reply++) await leads.list(firstPage, never);
  const first = [leads.get('a', never), leads.get('b', never)];
  await holding(2);
  // A look serves the requests of a quarter of a second.
  await sleep(260);
  // Long over, but within the day.
  throttle.until = Date.now() - 3_600_000;
  const rest = [leads.get('c', never), leads.get('d', never)];
  await expect.poll(() => leads.lanes).toBe(1);
  expect(held).toHaveLength(2);
  answer(0, 404);
  answer(0, 404);
  await Promise.all(first);
  for (const _ of rest) {
    await holding(1);
    expect(held).toHaveLength(1);
    answer(0, 404);
  }
  await Promise.all(rest);
});

import { describe, expect, test } from 'vitest';
import { retryReads } from '../../../src/leads-api/leads-client.ts';
import { Workspace } from '../../support/workspace.ts';
import { each, operations } from './leads-api-calls.ts';
import { client, json, startServer, thrown } from './leads-api-server.ts';

const lead = { id: 'a', companyName: 'A' };
const page = { items: [lead], nextCursor: null, ...lead };

describe('reads of a service that fails for a moment', () => {
  test.each(each)(
    '%s: a reset and a 503 are survived in place when it reads, and never tried again when it writes',
    async (name, call) => {
      await using server = await startServer((response, _request, count) => {
        if (count === 1) response.destroy();
        else if (count === 2) json(response, 503, {});
        else json(response, 200, page);
      });
      await using leads = client(server);
      const isRead = name === 'list' || name === 'get';
      const end = await call(retryReads(leads, 1)).catch((error: unknown) => error);
      if (isRead) expect(end).toMatchObject(name === 'get' ? { id: 'a' } : { leads: [{ id: 'a' }] });
      else expect(end).toMatchObject({ code: 'leads.unavailable' });
      expect(server.seen).toHaveLength(isRead ? 3 : 1);
    },
  );

  test.each([
    ['one that goes on is told after three tries', 503, {}, 3, 'leads.unavailable'],
    ['what it asks to wait is waited for by the job', 503, { 'retry-after': '60' }, 1, 'leads.rate-limited'],
    ['so is a 429', 429, { 'retry-after': '60' }, 1, 'leads.rate-limited'],
    ['a rejection is no matter of time', 400, {}, 1, 'leads.rejected'],
  ])('%s', async (_name, status, headers, requests, code) => {
    await using server = await startServer((response) => json(response, status, {}, headers));
    await using leads = client(server);
    const reading = operations['list']?.(retryReads(leads, 1));
    expect(await thrown(reading ?? Promise.resolve())).toMatchObject({ code });
    expect(server.seen).toHaveLength(requests);
  });

  test('who stops waits for no further try', async () => {
    await using server = await startServer((response) => json(response, 503, {}));
    await using leads = client(server);
    const stop = new AbortController();
    const reading = retryReads(leads, 60_000).get('a', stop.signal);
    await expect.poll(() => leads.requests).toBe(1);
    await expect.poll(() => server.seen.length).toBe(1);
    stop.abort();
    expect(await thrown(reading)).toBe(stop.signal.reason);
    expect(server.seen).toHaveLength(1);
  });
});

test('one 503 and one reset while paging do not end the step', async () => {
  await using workspace = await Workspace.open({
    sandbox: {
      leads: 60,
      maxLimit: 20,
      faults: [
        { kind: 'status', status: 503, when: { once: 2 }, on: ['list'] },
        { kind: 'reset', when: { once: 3 }, on: ['list'] },
      ],
    },
  });
  expect(await workspace.sync({ maxAttempts: 1 })).toMatchObject({ status: 'succeeded', pulled: 60 });
});

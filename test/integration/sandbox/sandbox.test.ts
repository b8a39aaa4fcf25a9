import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startSandbox } from '../../../src/demo/sandbox.ts';
import { cpuMs } from '../../support/cpu-ms.ts';
import { firstId, page, pages, post, send } from './sandbox-client.ts';

describe('the five operations', () => {
  test('a lead is created, read, updated and deleted', async () => {
    await using sandbox = await startSandbox({ leads: 3 });
    const created = await send(sandbox, '/v1/leads', post);
    expect(created.status).toBe(201);
    const { id } = z.looseObject({ id: z.string() }).parse(created.json);
    expect(created.json).toEqual({
      id,
      companyName: 'Neu GmbH',
      segment: '',
      city: '',
      region: '',
      stage: 'new',
      nextFollowUpAt: null,
    });
    const changes = { city: 'Köln', nextFollowUpAt: '2026-10-05T11:00:00+02:00' };
    const updated = await send(sandbox, `/v1/leads/${id}`, { method: 'PATCH', body: changes });
    expect(updated.status).toBe(200);
    expect(updated.json).toMatchObject({
      id,
      companyName: 'Neu GmbH',
      city: 'Köln',
      nextFollowUpAt: '2026-10-05T09:00:00.000Z',
    });
    expect((await send(sandbox, `/v1/leads/${id}`)).json).toEqual(updated.json);
    expect((await page(sandbox)).items).toContainEqual(updated.json);

    const deleted = await send(sandbox, `/v1/leads/${id}`, { method: 'DELETE' });
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const gone = await send(sandbox, `/v1/leads/${id}`, {
        method,
        ...(method === 'PATCH' ? { body: {} } : {}),
      });
      expect(gone.status).toBe(404);
    }
    expect(sandbox.leads.size).toBe(3);
    expect(sandbox.stats).toMatchObject({
      requests: 8,
      byRoute: { list: 1, get: 2, create: 1, update: 2, delete: 2 },
    });
    expect(sandbox.log.map((entry) => entry.status)).toEqual([201, 200, 200, 200, 204, 404, 404, 404]);
  });

  test.each([
    ['GET', '/v1/other'],
    ['PUT', '/v1/leads'],
    ['POST', '/v1/leads/some-id'],
    ['GET', '/v1/leads/a/b'],
    ['GET', '/v1/leads/%E0%A4%A'],
  ])('%s %s is not there', async (method, path) => {
    await using sandbox = await startSandbox({ leads: 1 });
    expect((await send(sandbox, path, { method })).status).toBe(404);
  });

  test.each(['', 'not json', '[]', '"text"', 'null'])('the body %j is no JSON object', async (body) => {
    await using sandbox = await startSandbox({ leads: 1 });
    expect((await send(sandbox, '/v1/leads', { method: 'POST', body })).status).toBe(400);
    expect((await send(sandbox, `/v1/leads/${firstId(sandbox)}`, { method: 'PATCH', body })).status).toBe(
      400,
    );
    expect(sandbox.leads.size).toBe(1);
  });

  test.each([
    [{ companyName: 5 }],
    [{ nextFollowUpAt: 'next Tuesday' }],
    [{ nextFollowUpAt: '2026-02-30T00:00:00Z' }],
    [{ companyName: '' }],
    [{ companyName: null }],
  ])('%j is not accepted', async (body) => {
    await using sandbox = await startSandbox({ leads: 1 });
    const before = sandbox.leads.list();
    const path = `/v1/leads/${firstId(sandbox)}`;
    expect((await send(sandbox, path, { method: 'PATCH', body })).status).toBe(422);
    sandbox.set({ invalidStatus: 400 });
    expect((await send(sandbox, path, { method: 'PATCH', body })).status).toBe(400);
    expect(sandbox.leads.list()).toEqual(before);
  });
});

describe('keys', () => {
  test('a missing or wrong key is 401 on every path', async () => {
    await using sandbox = await startSandbox({ leads: 1, apiKey: 'right' });
    for (const path of ['/v1/leads', '/v1/other']) {
      expect(await send(sandbox, path, { key: 'wrong' })).toMatchObject({
        status: 401,
        json: { code: 'auth.unauthenticated' },
      });
    }
    expect((await fetch(`${sandbox.url}/v1/leads`)).status).toBe(401);
    expect((await send(sandbox, '/v1/leads', { key: 'right' })).status).toBe(200);
    sandbox.set({ apiKey: 'new' });
    expect((await send(sandbox, '/v1/leads', { key: 'right' })).status).toBe(401);
    expect((await send(sandbox, '/v1/leads', { key: sandbox.apiKey })).status).toBe(200);
  });

  test('a key without the permission is 403', async () => {
    await using sandbox = await startSandbox({ leads: 1, permissions: ['leads:read'] });
    const path = `/v1/leads/${firstId(sandbox)}`;
    expect((await send(sandbox, path)).status).toBe(200);
    const refused = [post, { method: 'PATCH', body: {} }, { method: 'DELETE' }];
    for (const [index, request] of refused.entries()) {
      const reply = await send(sandbox, index === 0 ? '/v1/leads' : path, request);
      expect(reply).toMatchObject({ status: 403, json: { code: 'auth.forbidden' } });
    }
    sandbox.set({ permissions: ['leads:delete'] });
    expect((await send(sandbox, path)).status).toBe(403);
    expect((await send(sandbox, path, { method: 'DELETE' })).status).toBe(204);
  });
});

describe('pages', () => {
  test.each(['created', 'random'] as const)('%s order: each lead once, all of them', async (order) => {
    await using sandbox = await startSandbox({ leads: 95, order });
    const seen = await pages(sandbox, 10);
    expect(seen.map((ids) => ids.length)).toEqual([10, 10, 10, 10, 10, 10, 10, 10, 10, 5]);
    const all = sandbox.leads.list().map((lead) => lead.id);
    expect(seen.flat().toSorted()).toEqual(all);
    expect(seen.flat().join() === all.join()).toBe(order === 'created');
  });

  test('a full last page has no next cursor, and no leads are one page', async () => {
    await using sandbox = await startSandbox({ leads: 20 });
    expect((await pages(sandbox, 10)).map((ids) => ids.length)).toEqual([10, 10]);
    for (const { id } of sandbox.leads.list()) sandbox.leads.remove(id);
    expect(await page(sandbox)).toEqual({ items: [], nextCursor: null });
  });

  test('an order drawn for each request repeats and misses leads', async () => {
    await using sandbox = await startSandbox({ leads: 200, order: 'random-per-request' });
    const seen = await pages(sandbox, 20);
    expect(seen.map((ids) => new Set(ids).size)).toEqual(Array<number>(10).fill(20));
    expect(new Set(seen.flat()).size).toBeLessThan(200);
    for (let time = 0; time < 20; time++) {
      const [whole] = await pages(sandbox, 200);
      expect(new Set(whole).size).toBe(200);
    }
  });

  test('every page repeats the last items of the page before it', async () => {
    await using sandbox = await startSandbox({ leads: 30, repeatItems: 3 });
    const seen = await pages(sandbox, 10);
    for (const [index, ids] of seen.entries()) {
      expect(ids.length).toBeLessThanOrEqual(10);
      if (index > 0) expect(ids.slice(0, 3)).toEqual(seen[index - 1]?.slice(-3));
    }
    expect(new Set(seen.flat()).size).toBe(30);
    sandbox.set({ repeatItems: 50 });
    expect(new Set((await pages(sandbox, 5)).flat()).size).toBe(30);
  });

  test.each(['created', 'random'] as const)(
    '%s order: leads removed and added while paging lose no other',
    async (order) => {
      await using sandbox = await startSandbox({ leads: 30, order });
      const first = (await pages(sandbox, 30)).flat();
      const { items, nextCursor } = await page(sandbox, '?limit=10');
      const back = sandbox.leads.get(first[20] ?? '');
      for (const id of [first[0], first[15], back?.id]) sandbox.leads.remove(id ?? '');
      const added = sandbox.leads.add({ companyName: 'Added' });
      sandbox.leads.add({ ...back });
      const rest = await page(sandbox, `?limit=30&cursor=${nextCursor}`);
      expect([...items, ...rest.items].map((item) => item.id)).toEqual([
        ...first.slice(0, 15),
        ...first.slice(16, 20),
        ...first.slice(21),
        added.id,
        back?.id,
      ]);
    },
  );

  test('default, cap and refusal of limit', async () => {
    await using sandbox = await startSandbox({ leads: 100, defaultLimit: 7, maxLimit: 25 });
    expect((await page(sandbox)).items).toHaveLength(7);
    expect((await page(sandbox, '?limit=100')).items).toHaveLength(25);
    for (const limit of ['0', '-1', '1.5', 'many', '']) {
      expect((await send(sandbox, `/v1/leads?limit=${limit}`)).status).toBe(400);
    }
    sandbox.set({ rejectLimit: true });
    expect((await send(sandbox, '/v1/leads?limit=10')).status).toBe(400);
    expect((await page(sandbox)).items).toHaveLength(7);
  });

  test('a foreign or expired cursor is 400', async () => {
    await using sandbox = await startSandbox({ leads: 10, cursorLifetimeMs: 0 });
    const { nextCursor } = await page(sandbox, '?limit=5');
    for (const cursor of [nextCursor, 'nonsense', '', '5']) {
      expect((await send(sandbox, `/v1/leads?cursor=${cursor}`)).status).toBe(400);
    }
  });

  test('filters by stage, city and part of the name', async () => {
    await using sandbox = await startSandbox({ leads: 0 });
    const wanted = sandbox.leads.add({ companyName: 'Alpha Werk', city: 'Köln', stage: 'new' });
    sandbox.leads.add({ companyName: 'Alpha Bau', city: 'Köln', stage: 'won' });
    sandbox.leads.add({ companyName: 'Beta', city: 'Bonn', stage: 'new' });
    const found = await page(sandbox, '?name=alpha&city=K%C3%B6ln&stage=new&limit=1');
    expect([found.items.map((item) => item.id), found.nextCursor]).toEqual([[wanted.id], null]);
  });
});

test('a port that is taken is a clear error', async () => {
  await using sandbox = await startSandbox({ leads: 0 });
  const port = Number(new URL(sandbox.url).port);
  await expect(startSandbox({ leads: 0, port })).rejects.toMatchObject({ code: 'sandbox.port-unavailable' });
});

test('unknown ids and ids that are there already are errors for direct access', async () => {
  await using sandbox = await startSandbox({ leads: 1 });
  expect(() => sandbox.leads.edit('x', { city: 'Bonn' })).toThrow('no lead x');
  expect(() => sandbox.leads.add({ id: firstId(sandbox) })).toThrow('already has');
  expect(sandbox.leads.remove('x')).toBe(false);
});

test('100,000 leads are there in a moment, and a late page is as quick as the first', async () => {
  const startedAt = cpuMs();
  await using sandbox = await startSandbox({ leads: 100_000, maxLimit: 1000 });
  expect(cpuMs() - startedAt).toBeLessThan(10_000);
  expect(new Set((await pages(sandbox, 1000)).flat()).size).toBe(100_000);
});

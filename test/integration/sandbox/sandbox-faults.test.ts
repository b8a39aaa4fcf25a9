import { Agent, request } from 'undici';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseFaults } from '../../../src/demo/faults.ts';
import { type Sandbox, startSandbox } from '../../../src/demo/sandbox.ts';

interface Sent {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path?: string;
  readonly body?: object;
}

interface Received {
  readonly status: number | 'failed';
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly error?: unknown;
}

/** Status and text, or `failed` when the connection ended before the whole reply was there. */
async function send(
  sandbox: Sandbox,
  { method = 'GET', path = '/v1/leads', body }: Sent = {},
): Promise<Received> {
  const dispatcher = new Agent();
  try {
    const reply = await request(sandbox.url + path, {
      method,
      dispatcher,
      headers: { authorization: `Bearer ${sandbox.apiKey}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.statusCode, headers: reply.headers, text: await reply.body.text() };
  } catch (error) {
    return { status: 'failed', error, headers: {}, text: '' };
  } finally {
    await dispatcher.destroy();
  }
}

async function statuses(sandbox: Sandbox, count: number, sent: Sent = {}): Promise<(number | string)[]> {
  const seen: (number | string)[] = [];
  for (let index = 0; index < count; index++) seen.push((await send(sandbox, sent)).status);
  return seen;
}

const start = (spec: string, leads = 3) => startSandbox({ leads, faults: parseFaults(spec) });
const post: Sent = { method: 'POST', body: { companyName: 'Neu GmbH' } };

describe('when', () => {
  test.each([
    ['500:every=3', [200, 200, 500, 200, 200, 500]],
    ['503:once=2', [200, 503, 200, 200, 200, 200]],
    ['502:after=4', [200, 200, 200, 502, 502, 502]],
    ['500:every=2;503:every=3', [200, 500, 503, 500, 200, 500]],
    ['302:once=1;409:once=2', [302, 409, 200, 200, 200, 200]],
  ])('%s', async (spec, expected) => {
    await using sandbox = await start(spec);
    expect(await statuses(sandbox, 6)).toEqual(expected);
    expect(sandbox.stats.faults).toBe(expected.filter((status) => status !== 200).length);
  });

  test('a rate is drawn from the seed', async () => {
    const run = async (seed: number) => {
      await using sandbox = await startSandbox({ leads: 0, seed, faults: parseFaults('503:rate=0.5') });
      return await statuses(sandbox, 40);
    };
    const first = await run(1);
    expect(new Set(first)).toEqual(new Set([200, 503]));
    expect(await run(1)).toEqual(first);
    expect(await run(2)).not.toEqual(first);
  });

  test('on counts only the requests it names', async () => {
    await using sandbox = await start('500:every=2,on=POST+get');
    expect(await statuses(sandbox, 4)).toEqual([200, 200, 200, 200]);
    expect((await send(sandbox, post)).status).toBe(201);
    expect((await send(sandbox, { path: '/v1/leads/x' })).status).toBe(500);
  });

  test('set replaces the faults and counts anew', async () => {
    await using sandbox = await start('500:every=2');
    expect(await statuses(sandbox, 1)).toEqual([200]);
    sandbox.set({ faults: parseFaults('503:every=2') });
    expect(await statuses(sandbox, 2)).toEqual([200, 503]);
    sandbox.set({ faults: [] });
    expect(await statuses(sandbox, 2)).toEqual([200, 200]);
  });
});

describe('429', () => {
  test('until Retry-After has passed every request is refused and counted as early', async () => {
    const clock = { ms: Date.now(), now: () => clock.ms };
    await using sandbox = await startSandbox({
      leads: 3,
      faults: parseFaults('429:once=2,retryAfter=1'),
      clock,
    });
    expect((await send(sandbox)).status).toBe(200);
    const limited = await send(sandbox);
    expect(limited).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(JSON.parse(limited.text)).toMatchObject({ code: 'request.rateLimited' });
    expect(sandbox.stats).toMatchObject({ early: 0, throttled: 1 });

    expect(await send(sandbox)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(sandbox.stats).toMatchObject({ early: 1, throttled: 2, faults: 1 });
    clock.ms += 1_000;
    expect((await send(sandbox)).status).toBe(200);
    expect(sandbox.stats).toMatchObject({ early: 1, throttled: 2, requests: 4 });
  });

  test('early requests can be counted alone', async () => {
    await using sandbox = await start('429:once=1,retryAfter=60');
    sandbox.set({ rateWindow: 'count' });
    expect(await statuses(sandbox, 3)).toEqual([429, 200, 200]);
    expect(sandbox.stats).toMatchObject({ early: 2, throttled: 1 });
  });

  test('the remaining seconds of a long window are rounded up', async () => {
    await using sandbox = await start('429:once=1,retryAfter=100');
    await send(sandbox);
    const { headers } = await send(sandbox);
    expect(Number(headers['retry-after'])).toBeGreaterThan(80);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(100);
  });

  test('within the grace time nothing is early', async () => {
    await using sandbox = await start('429:once=1,retryAfter=100');
    sandbox.set({ earlyGraceMs: 60_000 });
    expect(await statuses(sandbox, 2)).toEqual([429, 429]);
    expect(sandbox.stats.early).toBe(0);
  });

  test('an HTTP date', async () => {
    await using sandbox = await start('429:once=1,retryAfter=date+30');
    const before = Date.now();
    const { headers } = await send(sandbox);
    const date = Date.parse(String(headers['retry-after']));
    expect(date).toBeGreaterThanOrEqual(before + 30_000);
    expect(date).toBeLessThan(Date.now() + 31_000);
    expect(await statuses(sandbox, 1)).toEqual([429]);
    expect(sandbox.stats.early).toBe(1);
  });

  test.each([
    ['none', undefined],
    ['garbage', 'soon'],
    ['-5', '-5'],
  ])('Retry-After %s tells no time', async (retryAfter, header) => {
    await using sandbox = await start(`429:once=1,retryAfter=${retryAfter}`);
    const { headers } = await send(sandbox);
    expect(headers['retry-after']).toBe(header);
    expect(await statuses(sandbox, 1)).toEqual([200]);
    expect(sandbox.stats.early).toBe(0);
  });
});

describe('broken connections', () => {
  test('reset: nothing is done', async () => {
    await using sandbox = await start('reset:once=1');
    expect(await send(sandbox, post)).toMatchObject({ status: 'failed', error: { code: 'ECONNRESET' } });
    expect(sandbox.leads.size).toBe(3);
    expect(sandbox.log.map((entry) => entry.status)).toEqual([null]);
    expect(await statuses(sandbox, 1)).toEqual([200]);
  });

  test.each(['unfinished', 'lost-reply'])('%s: it is done', async (kind) => {
    await using sandbox = await start(`${kind}:once=1`);
    expect((await send(sandbox, post)).status).toBe('failed');
    expect(sandbox.leads.size).toBe(4);
    expect((await send(sandbox, post)).status).toBe(201);
  });

  test('an unfinished body has a whole head', async () => {
    await using sandbox = await start('unfinished');
    const reply = await fetch(`${sandbox.url}/v1/leads`, {
      headers: { authorization: `Bearer ${sandbox.apiKey}` },
    });
    expect(reply.status).toBe(200);
    await expect(reply.text()).rejects.toThrow();
  });

  test('an unfinished reply without a body is none', async () => {
    await using sandbox = await start('unfinished');
    const path = `/v1/leads/${sandbox.leads.list()[0]?.id}`;
    expect((await send(sandbox, { method: 'DELETE', path })).status).toBe('failed');
    expect(sandbox.leads.size).toBe(2);
  });

  test('lost-reply and error-after-write leave reads alone unless told otherwise', async () => {
    await using sandbox = await start('lost-reply;error-after-write');
    expect(await statuses(sandbox, 2)).toEqual([200, 200]);
    sandbox.set({ faults: parseFaults('lost-reply:on=list') });
    expect(await statuses(sandbox, 1)).toEqual(['failed']);
  });

  test('error-after-write: it is done, the reply is 500', async () => {
    await using sandbox = await start('error-after-write:every=2,on=POST');
    expect(await statuses(sandbox, 4, post)).toEqual([201, 500, 201, 500]);
    expect(sandbox.leads.size).toBe(7);
  });

  test('slow: it is done at once, the reply comes later, and closing does not wait for it', async () => {
    await using sandbox = await start('slow:ms=60000');
    const reply = send(sandbox, post);
    await expect.poll(() => sandbox.leads.size).toBe(4);
    await sandbox.close();
    expect((await reply).status).toBe('failed');
  });

  test('slow comes on top of another fault', async () => {
    await using sandbox = await start('slow:ms=200;503');
    const startedAt = performance.now();
    expect(await statuses(sandbox, 1)).toEqual([503]);
    expect(performance.now() - startedAt).toBeGreaterThan(190);
    expect(sandbox.stats.faults).toBe(2);
  });
});

describe('bodies', () => {
  test('not-json', async () => {
    await using sandbox = await start('not-json:every=2');
    await send(sandbox);
    const { status, headers, text } = await send(sandbox, post);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(sandbox.leads.size).toBe(4);
  });

  test('maintenance', async () => {
    await using sandbox = await start('maintenance:once=1');
    const { status, headers } = await send(sandbox, post);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(sandbox.leads.size).toBe(3);
  });

  test('huge', async () => {
    await using sandbox = await start('huge:once=1');
    const { status, headers, text } = await send(sandbox);
    expect([status, text.length, headers['content-length']]).toEqual([200, 10 * 1024 * 1024, undefined]);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  test('a client that does not read a huge body to its end does no harm', async () => {
    await using sandbox = await start('huge:once=1');
    const abort = new AbortController();
    const reply = await fetch(`${sandbox.url}/v1/leads`, {
      headers: { authorization: `Bearer ${sandbox.apiKey}` },
      signal: abort.signal,
    });
    abort.abort();
    await expect(reply.text()).rejects.toThrow();
    expect(await statuses(sandbox, 1)).toEqual([200]);
  });

  test('a request body above 1 MB is refused', async () => {
    await using sandbox = await start('');
    const body = { companyName: 'x'.repeat(2 * 1024 * 1024) };
    expect((await send(sandbox, { method: 'POST', body })).status).toBe(413);
    expect(sandbox.leads.size).toBe(3);
  });
});

describe('a POST with the name of a lead that is there', () => {
  test.each([
    ['find-or-create', 'Berlin'],
    ['upsert', 'Ulm'],
  ])('%s: answers with that lead', async (spec, city) => {
    await using sandbox = await start(spec);
    const lead = sandbox.leads.add({ companyName: 'Acme GmbH', city: 'Berlin' });
    const { text } = await send(sandbox, {
      method: 'POST',
      body: { companyName: ' acme gmbh', city: 'Ulm' },
    });
    expect(JSON.parse(text)).toMatchObject({ id: lead.id, city });
    expect(sandbox.leads.get(lead.id)).toMatchObject({ city });
    await send(sandbox, post);
    expect(sandbox.leads.size).toBe(5);
  });
});

describe('in the middle of a scan', () => {
  test('revoked: 401 from then on', async () => {
    await using sandbox = await start('revoked:after=3');
    expect(await statuses(sandbox, 5)).toEqual([200, 200, 401, 401, 401]);
  });

  test('expired-cursor counts only requests that carry a cursor', async () => {
    await using sandbox = await start('expired-cursor:every=2', 100);
    const { nextCursor } = z.object({ nextCursor: z.string() }).parse(JSON.parse((await send(sandbox)).text));
    const next = { path: `/v1/leads?cursor=${nextCursor}` };
    expect(await statuses(sandbox, 2, next)).toEqual([200, 400]);
    expect(await statuses(sandbox, 2)).toEqual([200, 200]);
    expect(await statuses(sandbox, 2, next)).toEqual([200, 400]);
  });

  test('moving: a scan repeats one lead and misses another for each move', async () => {
    await using sandbox = await start('moving:once=2', 100);
    const ids: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const path = `/v1/leads?limit=10${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page = z
        .object({ items: z.array(z.object({ id: z.string() })), nextCursor: z.string().nullable() })
        .parse(JSON.parse((await send(sandbox, { path })).text));
      ids.push(...page.items.map((item) => item.id));
      cursor = page.nextCursor;
    }
    expect([ids.length, new Set(ids).size]).toEqual([100, 99]);
    expect(sandbox.leads.size).toBe(100);
  });
});

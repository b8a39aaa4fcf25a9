import { describe, expect, test } from 'vitest';
import { apiError } from './leads-api-calls.ts';
import { client, json, key, never, startServer } from './leads-api-server.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const lead = {
  id,
  companyName: 'Ångström & Söhne',
  segment: 'Solar',
  city: 'Köln',
  region: 'NW',
  stage: 'new',
  nextFollowUpAt: null,
  custom: { deep: [1, 'zwei'] },
};
const { id: _, ...fields } = lead;

describe('requests', () => {
  test('carry the bearer key, ask for plain JSON and no compression', async () => {
    await using server = await startServer((response) =>
      json(response, 200, { items: [], nextCursor: null }),
    );
    await using leads = client(server);
    await leads.list({ cursor: null, limit: null }, never);
    expect(server.seen).toMatchObject([
      {
        method: 'GET',
        url: '/v1/leads',
        body: '',
        headers: {
          authorization: `Bearer ${key}`,
          accept: 'application/json',
          'accept-encoding': 'identity',
        },
      },
    ]);
    expect(leads.requests).toBe(1);
  });

  test('keep the path prefix of the base URL and encode ids, cursors and query', async () => {
    await using server = await startServer((response, { url }) =>
      url.includes('?') ? json(response, 200, { items: [], nextCursor: null }) : json(response, 404, {}),
    );
    await using leads = client(
      { url: `${server.url}/crm/eu/` },
      { query: { stage: 'new & hot', cursor: 'no', limit: '9' } },
    );
    await leads.list({ cursor: 'a+b/=&x y', limit: 25 }, never);
    await leads.list({ cursor: null, limit: null }, never);
    await leads.get('../a?b#c d/é', never);
    expect(server.seen.map((request) => request.url)).toEqual([
      '/crm/eu/v1/leads?stage=new%20%26%20hot&limit=25&cursor=a%2Bb%2F%3D%26x%20y',
      '/crm/eu/v1/leads?stage=new%20%26%20hot',
      '/crm/eu/v1/leads/..%2Fa%3Fb%23c%20d%2F%C3%A9',
    ]);
  });

  test.each(['', ' ', '.', '..', '\ud800'])(
    'with an id that cannot be one (%j) are not sent',
    async (bad) => {
      await using server = await startServer((response) => json(response, 200, {}));
      await using leads = client(server);
      const calls = [leads.get(bad, never), leads.update(bad, {}, never), leads.delete(bad, never)];
      for (const call of calls)
        await expect(call).rejects.toMatchObject({ code: 'leads.rejected', retry: 'never' });
      expect(server.seen).toEqual([]);
      expect(leads.requests).toBe(0);
    },
  );

  test('reuse one connection', async () => {
    await using server = await startServer((response) => json(response, 404, {}));
    await using leads = client(server);
    for (let n = 0; n < 5; n++) await leads.get(id, never);
    expect(server.connections).toBe(1);
    expect(leads.requests).toBe(5);
  });

  test('reach an IPv6 loopback address', async ({ skip }) => {
    const server = await startServer((response) => json(response, 404, {}), '::1').catch(() => null);
    if (server === null) {
      skip('no IPv6 loopback here');
      return;
    }
    await using leads = client(server);
    expect(await leads.get(id, never)).toBeNull();
    await leads[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
});

describe('list', () => {
  test('passes items through untouched and counts those without a usable id', async () => {
    const items = [
      lead,
      { ...lead, id: '' },
      { ...lead, id: 7 },
      null,
      'x',
      [lead],
      { companyName: 'no id' },
    ];
    await using server = await startServer((response) =>
      json(response, 200, { items, nextCursor: 'c2', total: 9 }),
    );
    await using leads = client(server);
    expect(await leads.list({ cursor: null, limit: 7 }, never)).toEqual({
      leads: [{ id, fields }],
      nextCursor: 'c2',
      invalidItems: 6,
    });
  });

  test.each([[{ items: [], nextCursor: '' }], [{ items: [] }], [{ items: [], nextCursor: null }]])(
    'takes %j for the last page',
    async (body) => {
      await using server = await startServer((response) => json(response, 200, body));
      await using leads = client(server);
      expect((await leads.list({ cursor: 'c', limit: null }, never)).nextCursor).toBeNull();
    },
  );

  test.each([
    ['an empty body', ''],
    ['HTML', '<!doctype html><title>Sign in</title>'],
    ['broken JSON', '{"items":[{"id":"a"}'],
    ['a bare array', '[]'],
    ['no items', '{"nextCursor":null}'],
    ['items that are no array', '{"items":{},"nextCursor":null}'],
    ['a cursor that is no text', '{"items":[],"nextCursor":3}'],
    ['an error with status 200', '{"error":{"code":"auth.forbidden"}}'],
  ])('throws leads.not-json for %s', async (_name, body) => {
    await using server = await startServer((response) => response.end(body));
    await using leads = client(server);
    await expect(leads.list({ cursor: null, limit: null }, never)).rejects.toMatchObject({
      code: 'leads.not-json',
      retry: 'now',
      status: 200,
    });
  });

  test('throws leads.not-json for bytes that are not UTF-8 and for a compressed body', async () => {
    const page = '{"items":[{"id":"a","city":"K\u00f6ln"}],"nextCursor":null}';
    await using server = await startServer((response, _request, count) => {
      if (count === 1) response.end(Buffer.from(page, 'latin1'));
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from('1f8b0800', 'hex'));
    });
    await using leads = client(server);
    for (let n = 0; n < 2; n++) {
      const call = leads.list({ cursor: null, limit: null }, never);
      await expect(call).rejects.toMatchObject({ code: 'leads.not-json' });
    }
  });

  test('shows at most 200 characters of what came instead, on one line', async () => {
    await using server = await startServer((response) =>
      response.end(`\u001b[31m<p>\r\n\0${'x'.repeat(5000)}`),
    );
    await using leads = client(server);
    const { message } = await apiError(leads.list({ cursor: null, limit: null }, never));
    expect(message).toContain('[31m<p> xxx');
    expect(message).toMatch(/^[^\p{Cc}]{200,320}$/u);
  });
});

describe('get', () => {
  test.each([
    ['bare', lead],
    ['under data', { data: lead, meta: { id: 'request-1' } }],
    ['under lead', { lead }],
    ['with the id in upper case', { ...lead, id: id.toUpperCase() }],
  ])('finds the lead %s', async (_name, body) => {
    await using server = await startServer((response) => json(response, 200, body));
    await using leads = client(server);
    const found = await leads.get(id, never);
    expect(found?.id.toLowerCase()).toBe(id);
    expect(found?.fields).toEqual(fields);
  });

  test.each([404, 410])('returns null for %i', async (status) => {
    await using server = await startServer((response) => response.writeHead(status).end());
    await using leads = client(server);
    expect(await leads.get(id, never)).toBeNull();
  });

  test.each([
    ['another lead', { ...lead, id: 'other' }],
    ['nothing', null],
    ['three levels down', { a: { b: { c: lead } } }],
  ])('throws leads.not-json for %s', async (_name, body) => {
    await using server = await startServer((response) => json(response, 200, body));
    await using leads = client(server);
    await expect(leads.get(id, never)).rejects.toMatchObject({ code: 'leads.not-json', retry: 'now' });
  });
});

describe('create', () => {
  const location = `/v1/leads/${id}`;
  test.each([
    ['the lead', 201, lead, {}, { id, fields }],
    ['the lead with status 200', 200, lead, {}, { id, fields }],
    ['the lead one level down beside another id', 201, { data: lead, user: { id: 'u' } }, {}, { id, fields }],
    ['its id alone', 201, { id }, {}, { id }],
    ['its id alone one level down', 201, { data: { id } }, {}, { id }],
    ['an object with id that shows nothing of the lead', 202, { id, queued: true }, {}, { id }],
    ['a relative Location', 201, '', { location }, { id }],
    [
      'an absolute Location with a query',
      201,
      '',
      { location: `https://x.example${location}/?a=/b` },
      { id },
    ],
    ['an encoded Location', 201, '', { location: '/v1/leads/a%2Fb' }, { id: 'a/b' }],
    ['a Location without id', 201, '', { location: '/v1/leads' }, null],
    ['a Location that cannot be decoded', 201, '', { location: '/v1/leads/%E0%A4%A' }, null],
    ['nothing', 201, '', {}, null],
    ['no body at all', 204, null, {}, null],
    ['text', 200, 'created', {}, null],
    ['two objects with ids that show nothing', 201, { a: { id: '1' }, b: { id: '2' } }, {}, null],
  ])('understands a reply with %s', async (_name, status, body, headers, expected) => {
    await using server = await startServer((response) => {
      response.writeHead(status, headers);
      response.end(body === null ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
    });
    await using leads = client(server);
    expect(await leads.create({ companyName: 'Ångström & Söhne', stage: 'new' }, never)).toEqual(expected);
    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        url: '/v1/leads',
        body: '{"companyName":"Ångström & Söhne","stage":"new"}',
        headers: { 'content-type': 'application/json' },
      },
    ]);
  });
});

describe('update', () => {
  test.each([
    ['the lead', 200, lead, { id, fields }],
    ['the lead one level down', 200, { lead }, { id, fields }],
    [
      'the written fields alone',
      200,
      { id, stage: 'won', nextFollowUpAt: null },
      { id, fields: { stage: 'won', nextFollowUpAt: null } },
    ],
    ['only one of the written fields', 200, { id, stage: 'won' }, null],
    ['another lead', 200, { ...lead, id: 'other' }, null],
    ['the id alone', 200, { id }, null],
    ['text', 200, 'OK', null],
    ['nothing', 204, null, null],
  ])('understands a reply with %s', async (_name, status, body, expected) => {
    await using server = await startServer((response) => {
      response.writeHead(status);
      response.end(body === null ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
    });
    await using leads = client(server);
    expect(await leads.update(id, { stage: 'won', nextFollowUpAt: null }, never)).toEqual(expected);
    expect(server.seen).toMatchObject([
      { method: 'PATCH', url: `/v1/leads/${id}`, body: '{"stage":"won","nextFollowUpAt":null}' },
    ]);
  });

  test('of a lead that is gone is rejected', async () => {
    await using server = await startServer((response) => json(response, 404, { code: 'lead.notFound' }));
    await using leads = client(server);
    await expect(leads.update(id, {}, never)).rejects.toMatchObject({
      code: 'leads.rejected',
      status: 404,
      apiCode: 'lead.notFound',
    });
  });
});

describe('delete', () => {
  test.each([
    [200, true],
    [202, true],
    [204, true],
    [404, false],
    [410, false],
  ])('with %i gives %s', async (status, expected) => {
    await using server = await startServer((response) => response.writeHead(status).end());
    await using leads = client(server);
    expect(await leads.delete(id, never)).toBe(expected);
    expect(server.seen).toMatchObject([{ method: 'DELETE', url: `/v1/leads/${id}`, body: '' }]);
  });
});

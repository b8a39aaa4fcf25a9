import { describe, expect, test } from 'vitest';
import { apiError, each, firstPage, okPage, operations } from './leads-api-calls.ts';
import { client, json, never, startServer, startSocketServer, thrown } from './leads-api-server.ts';

test('404 for the list itself: the base URL leads elsewhere', async () => {
  await using server = await startServer((response) => json(response, 404, {}));
  await using leads = client(server);
  const error = await apiError(leads.list(firstPage, never));
  expect(error).toMatchObject({ code: 'leads.rejected', help: expect.stringContaining('base URL') });
});

describe.each(each)('a reply to %s', (_name, call) => {
  test.each([
    [400, 'leads.rejected', 'never'],
    [401, 'leads.unauthenticated', 'never'],
    [403, 'leads.forbidden', 'never'],
    [405, 'leads.rejected', 'never'],
    [408, 'leads.unavailable', 'now'],
    [409, 'leads.rejected', 'never'],
    [413, 'leads.rejected', 'never'],
    [422, 'leads.rejected', 'never'],
    [425, 'leads.unavailable', 'now'],
    [500, 'leads.unavailable', 'now'],
    [503, 'leads.unavailable', 'now'],
    [599, 'leads.unavailable', 'now'],
  ])('with %i is %s, whatever code its body has', async (status, code, retry) => {
    await using server = await startServer((response) =>
      json(response, status, { code: 'request.rateLimited' }),
    );
    await using leads = client(server);
    const error = await apiError(call(leads));
    expect(error).toMatchObject({ code, retry, status, apiCode: 'request.rateLimited' });
    expect(error.message).toContain(String(status));
    expect(server.seen).toHaveLength(1);
  });

  test.each([300, 301, 302, 303, 304, 307, 308])(
    'with %i is leads.redirected and goes nowhere else',
    async (status) => {
      await using elsewhere = await startServer((response) => json(response, 200, { items: [] }));
      await using server = await startServer((response) =>
        response.writeHead(status, { location: `${elsewhere.url}/v1/leads` }).end(),
      );
      await using leads = client(server);
      expect(await apiError(call(leads))).toMatchObject({ code: 'leads.redirected', retry: 'never', status });
      expect(elsewhere.connections).toBe(0);
      expect(leads.requests).toBe(1);
    },
  );

  test('that never comes: the socket is closed after the request, which is not sent again', async () => {
    let requests = 0;
    await using server = await startSocketServer((socket, data) => {
      requests += data.match(/ HTTP\/1\.1\r\n/g)?.length ?? 0;
      socket.destroy();
    });
    await using leads = client(server);
    expect(await apiError(call(leads))).toMatchObject({
      code: 'leads.unavailable',
      retry: 'now',
      status: null,
    });
    expect([requests, server.connections, leads.requests]).toEqual([1, 1, 1]);
  });

  test('that never comes on a connection that was good before: not sent again either', async () => {
    let requests = 0;
    await using server = await startSocketServer((socket, data) => {
      requests += data.match(/ HTTP\/1\.1\r\n/g)?.length ?? 0;
      if (requests === 1) socket.write(okPage);
      else socket.resetAndDestroy();
    });
    await using leads = client(server);
    await leads.list(firstPage, never);
    expect(await apiError(call(leads))).toMatchObject({ code: 'leads.unavailable' });
    expect([requests, server.connections, leads.requests]).toEqual([2, 1, 2]);
  });

  test('that never comes: the other side is silent', async () => {
    await using server = await startSocketServer(() => {});
    await using leads = client(server, { timeouts: { headersMs: 50 } });
    expect(await apiError(call(leads))).toMatchObject({
      code: 'leads.unavailable',
      retry: 'now',
      status: null,
    });
    expect(leads.requests).toBe(1);
  });

  test.each([
    ['content-length', 'content-length: 100\r\n\r\n{"id":"a"}'],
    ['chunks', 'transfer-encoding: chunked\r\n\r\na\r\n{"id":"a"}\r\n'],
  ])('whose body ends too early (%s) is leads.unavailable', async (_kind, rest) => {
    await using server = await startSocketServer((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
    await using leads = client(server);
    expect(await apiError(call(leads))).toMatchObject({
      code: 'leads.unavailable',
      retry: 'now',
      status: 200,
    });
  });

  test('that trickles for ever ends at the deadline', async () => {
    await using server = await startServer((response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    });
    await using leads = client(server, { timeouts: { totalMs: 1_000 } });
    expect(await apiError(call(leads))).toMatchObject({ code: 'leads.unavailable', status: 200 });
  });

  test('is given up with the reason of the signal: before, at the headers, in the body', async () => {
    const reason = { not: 'an error' };
    const arrived: (() => void)[] = [];
    await using server = await startServer((response, _request, count) => {
      if (count === 2) response.writeHead(200).write('{');
      arrived.shift()?.();
    });
    await using leads = client(server);
    expect(await thrown(call(leads, AbortSignal.abort(reason)))).toBe(reason);
    expect(leads.requests).toBe(0);
    for (const sent of [1, 2]) {
      const stop = new AbortController();
      const { promise, resolve } = Promise.withResolvers<void>();
      arrived.push(resolve);
      const ended = thrown(call(leads, stop.signal));
      await promise;
      stop.abort(reason);
      expect(await ended).toBe(reason);
      expect(leads.requests).toBe(sent);
    }
  });
});

test.each([
  ['list', 'the permission leads:read'],
  ['get', 'the permission to read leads'],
  ['create', 'the permission to create leads'],
  ['update', 'the permission to update leads'],
  ['delete', 'the permission to delete leads'],
])('403 on %s names %s', async (name, permission) => {
  await using server = await startServer((response) => json(response, 403, { code: 'auth.forbidden' }));
  await using leads = client(server);
  const error = await apiError(operations[name]?.(leads) ?? Promise.resolve());
  expect(error.message).toContain(permission);
  expect(error.help).toContain(permission);
});

test.each([
  ['flat', '{"code":"lead.invalid","message":"stage is unknown"}', 'lead.invalid', 'stage is unknown'],
  [
    'nested',
    '{"error":{"code":"lead.invalid","message":"stage is unknown"}}',
    'lead.invalid',
    'stage is unknown',
  ],
  [
    'array',
    '{"errors":[{"code":"lead.invalid","message":"stage is unknown"}]}',
    'lead.invalid',
    'stage is unknown',
  ],
  ['text', 'stage is unknown', null, 'stage is unknown'],
  ['empty', '', null, ''],
])('an error body that is %s is understood', async (_name, body, apiCode, message) => {
  await using server = await startServer((response) => response.writeHead(422).end(body));
  const logged: object[] = [];
  await using leads = client(server, { log: (level, fields) => logged.push({ level, ...fields }) });
  const error = await apiError(leads.update('a', {}, never));
  expect(error).toMatchObject({ code: 'leads.rejected', status: 422, apiCode });
  expect(error.message).toContain(message);
  const bodies = logged.filter((fields) => 'body' in fields);
  expect(bodies).toMatchObject(body === '' ? [] : [{ level: 'debug', status: 422, body }]);
});

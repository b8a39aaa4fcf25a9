import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { LeadsyncError } from '../../src/errors.ts';
import { LeadsApiError } from '../../src/leads-api/leads-api-error.ts';
import { createLeadsClient } from '../../src/leads-api/leads-client.ts';
import type { LeadsPort } from '../../src/sync/leads-port.ts';
import {
  client,
  json,
  key,
  MemoryThrottle,
  never,
  startServer,
  startSocketServer,
  thrown,
} from './leads-api-server.ts';

const firstPage = { cursor: null, limit: null };
const okPage = 'HTTP/1.1 200 OK\r\ncontent-length: 31\r\n\r\n{"items":[], "nextCursor":null}';

type Operation = (leads: LeadsPort, signal?: AbortSignal) => Promise<unknown>;
const operations: Record<string, Operation> = {
  list: (leads, signal = never) => leads.list(firstPage, signal),
  get: (leads, signal = never) => leads.get('a', signal),
  create: (leads, signal = never) => leads.create({ companyName: 'A' }, signal),
  update: (leads, signal = never) => leads.update('a', { companyName: 'A' }, signal),
  delete: (leads, signal = never) => leads.delete('a', signal),
};
const each = Object.entries(operations);

async function apiError(call: Promise<unknown>): Promise<LeadsApiError> {
  const error = await thrown(call);
  expect(error).toBeInstanceOf(LeadsApiError);
  expect(error).toBeInstanceOf(LeadsyncError);
  return error as LeadsApiError;
}

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
    await using leads = client(server, { timeouts: { totalMs: 150 } });
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
  const logged: unknown[] = [];
  await using leads = client(server, { log: (...line) => logged.push(line) });
  const error = await apiError(leads.update('a', {}, never));
  expect(error).toMatchObject({ code: 'leads.rejected', status: 422, apiCode });
  expect(error.message).toContain(message);
  if (body !== '')
    expect(logged).toContainEqual([
      'debug',
      expect.objectContaining({ status: 422, body }),
      expect.any(String),
    ]);
});

describe('bounds', () => {
  const mebibyte = Buffer.alloc(1024 * 1024, 0x20);

  test('10 MB of garbage is no JSON, and the message stays short', async () => {
    await using server = await startServer((response) =>
      response.end(Buffer.alloc(10_000_000, 'garbage \u0000')),
    );
    await using leads = client(server);
    const error = await apiError(leads.list(firstPage, never));
    expect(error.code).toBe('leads.not-json');
    expect(error.message.length).toBeLessThan(400);
  });

  test('16 MiB are read, one byte more is leads.too-large', async () => {
    const start = '{"items":[],"nextCursor":null}';
    await using server = await startServer((response, _request, count) =>
      response.end(start + ' '.repeat(16 * 1024 * 1024 - start.length + count - 1)),
    );
    await using leads = client(server);
    expect(await leads.list(firstPage, never)).toMatchObject({ leads: [] });
    expect(await apiError(leads.list(firstPage, never))).toMatchObject({
      code: 'leads.too-large',
      retry: 'never',
    });
  });

  test.each(each)('%s does not read an endless stream of chunks', async (_name, call) => {
    let written = 0;
    await using server = await startServer((response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write(mebibyte)) written += 1;
        written += 1;
      };
      response.on('drain', more);
      more();
    });
    await using leads = client(server);
    expect(await apiError(call(leads))).toMatchObject({ code: 'leads.too-large', status: 200 });
    expect(written).toBeLessThan(64);
  });

  test.each([
    [401, 'leads.unauthenticated'],
    [422, 'leads.rejected'],
    [500, 'leads.unavailable'],
  ])('an endless body with %i changes nothing about %s', async (status, code) => {
    await using server = await startServer((response) => {
      response.writeHead(status);
      const more = (): void => {
        while (!response.destroyed && response.write(mebibyte));
      };
      response.on('drain', more);
      more();
    });
    await using leads = client(server);
    expect(await apiError(leads.get('a', never))).toMatchObject({ code, status });
  });

  test.each([
    [401, 'leads.unauthenticated'],
    [409, 'leads.rejected'],
  ])('an unfinished body with %i changes nothing about %s', async (status, code) => {
    await using server = await startSocketServer((socket) =>
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 99\r\n\r\n{`),
    );
    await using leads = client(server);
    expect(await apiError(leads.get('a', never))).toMatchObject({ code, status });
  });

  test('a 404 whose body hangs is still a 404', async () => {
    await using server = await startSocketServer((socket) =>
      socket.write('HTTP/1.1 404 No\r\ncontent-length: 99\r\n\r\n{'),
    );
    await using leads = client(server, { timeouts: { totalMs: 100 } });
    expect(await leads.get('a', never)).toBeNull();
  });

  test('what is no HTTP is leads.unavailable', async () => {
    await using server = await startSocketServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    await using leads = client(server);
    expect(await apiError(leads.list(firstPage, never))).toMatchObject({ code: 'leads.unavailable' });
  });
});

describe('no connection', () => {
  async function unreachable(leads: LeadsPort): Promise<void> {
    for (const [, call] of each) {
      expect(await apiError(call(leads))).toMatchObject({
        code: 'leads.unreachable',
        retry: 'now',
        status: null,
      });
    }
    expect(leads.requests).toBe(0);
  }

  test('to a closed port', async () => {
    const server = await startServer(() => {});
    await server[Symbol.asyncDispose]();
    await using leads = client(server);
    await unreachable(leads);
  });

  test('to a name that does not exist', async () => {
    await using leads = client({ url: 'https://leads.invalid' });
    await unreachable(leads);
  });

  test('over TLS to a server without TLS', async () => {
    await using server = await startServer((response) => response.end());
    await using leads = client({ url: `https://127.0.0.1:${server.port}` });
    await unreachable(leads);
    expect(server.seen).toEqual([]);
  });

  test('to a server that says nothing during the TLS handshake', async () => {
    await using server = await startSocketServer(() => {});
    await using leads = client({ url: `https://127.0.0.1:${server.port}` }, { timeouts: { connectMs: 50 } });
    expect(await apiError(leads.create({}, never))).toMatchObject({
      code: 'leads.unreachable',
      status: null,
    });
    expect(leads.requests).toBe(0);
  });

  test('to a server that closes during the TLS handshake', async () => {
    await using server = await startSocketServer((socket) => socket.destroy());
    await using leads = client({ url: `https://127.0.0.1:${server.port}` });
    await unreachable(leads);
  });

  test('to a server whose certificate nobody has signed', async () => {
    let requests = 0;
    const server = createTlsServer(selfSigned, (_request, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await using leads = client({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` });
      await unreachable(leads);
      expect(requests).toBe(0);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test('is given up with the reason of the signal while the TLS handshake hangs', async () => {
    await using server = await startSocketServer(() => {});
    await using leads = client({ url: `https://127.0.0.1:${server.port}` });
    const stop = new AbortController();
    const ended = thrown(leads.create({}, stop.signal));
    setImmediate(() => stop.abort());
    expect(await ended).toBe(stop.signal.reason);
    expect(leads.requests).toBe(0);
  });

  test('and a request that was given up before there was one is not sent when there is', async () => {
    await using server = await startServer((response) => json(response, 404, {}));
    const stop = new AbortController();
    const throttle = new MemoryThrottle();
    throttle.notBefore = () => {
      // Runs when the promises at hand have, so after the request was handed over, and before any network event.
      process.nextTick(() => stop.abort());
      return Promise.resolve(0);
    };
    await using leads = client(server, { throttle });
    expect(await thrown(leads.delete('given-up', stop.signal))).toBe(stop.signal.reason);
    expect(await leads.get('next', never)).toBeNull();
    expect(server.seen.map(({ url }) => url)).toEqual(['/v1/leads/next']);
    expect(leads.requests).toBe(1);
  });
});

test('a connection that the service closed while it was idle is replaced', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  await using server = await startSocketServer((socket, _data, count) => {
    if (count > 1) return void socket.write(okPage);
    socket.on('close', () => resolve());
    socket.end(okPage);
  });
  await using leads = client(server);
  await leads.list(firstPage, never);
  await closed;
  expect(await leads.list(firstPage, never)).toMatchObject({ leads: [] });
  expect([server.connections, leads.requests]).toEqual([2, 2]);
});

test('a call that waits for its turn can be given up, and those behind it keep their order', async () => {
  const { promise: firstArrived, resolve: arrived } = Promise.withResolvers<() => void>();
  await using server = await startServer((response, _request, count) => {
    if (count === 1) arrived(() => json(response, 404, {}));
    else json(response, 404, {});
  });
  await using leads = client(server);
  const stop = new AbortController();
  const first = leads.get('first', never);
  const second = thrown(leads.get('second', stop.signal));
  const third = leads.get('third', never);
  const answerFirst = await firstArrived;
  stop.abort();
  expect(await second).toBe(stop.signal.reason);
  expect(server.seen).toHaveLength(1);
  answerFirst();
  expect(await Promise.all([first, third])).toEqual([null, null]);
  expect(server.seen.map(({ url }) => url)).toEqual(['/v1/leads/first', '/v1/leads/third']);
});

test('disposing ends the call under way, and later ones are refused', async () => {
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  await using server = await startServer(() => resolve());
  const leads = client(server);
  const ended = thrown(leads.create({}, never));
  await arrived;
  await leads[Symbol.asyncDispose]();
  expect(await ended).toMatchObject({ code: 'leads.unavailable' });
  expect(await thrown(leads.create({}, never))).toMatchObject({ code: 'leads.closed', retry: 'never' });
  expect(server.seen).toHaveLength(1);
});

test('no error, log line or printed client shows the key, even when the service repeats it', async () => {
  const said: unknown[] = [];
  const log = (...line: unknown[]): void => void said.push(line);
  const echo = `Bearer ${key} is not welcome`;
  const replies = [
    ...[400, 401, 403, 404, 422, 429, 500].map(
      (status) => `HTTP/1.1 ${status} No\r\ncontent-length: LENGTH\r\n\r\n`,
    ),
    'HTTP/1.1 200 OK\r\ncontent-length: LENGTH\r\n\r\n',
    `HTTP/1.1 302 Found\r\nlocation: https://x.example/?k=${key}\r\ncontent-length: LENGTH\r\n\r\n`,
    `${key} HTTP`,
    `HTTP/1.1 200 OK\r\n${key}\r\n\r\n`,
    '',
  ];
  const bodies = [echo, JSON.stringify({ code: key, message: echo }), JSON.stringify({ error: echo })];
  for (const reply of replies) {
    for (const body of bodies) {
      await using server = await startSocketServer((socket) =>
        socket.end(reply === '' ? '' : reply.replace('LENGTH', String(body.length)) + body),
      );
      await using leads = client(server, { log });
      said.push(leads);
      for (const [, call] of each) {
        said.push(await call(leads).catch((error: unknown) => error));
      }
    }
  }
  await using refused = client({ url: 'http://127.0.0.1:1' }, { log });
  said.push(await thrown(refused.list(firstPage, never)));
  expect(said.length).toBeGreaterThan(200);
  for (const thing of said) {
    const printed = inspect(thing, {
      depth: Infinity,
      showHidden: true,
      getters: true,
      maxStringLength: Infinity,
    });
    expect(printed).not.toContain(key);
    expect(JSON.stringify(thing)).not.toContain(key);
    expect(String(thing)).not.toContain(key);
  }
});

describe('createLeadsClient refuses', () => {
  const create = (baseUrl: string, apiKey = key) =>
    createLeadsClient({ baseUrl, apiKey: new Secret(apiKey), query: {}, throttle: new MemoryThrottle() });

  test.each([
    'http://api.example.com',
    'http://10.0.0.1',
    'http://127.0.0.1.example.com',
    'http://[::2]',
    'http://localhost.example.com',
  ])('to send the key to %s', (url) => {
    expect(() => create(url)).toThrow(
      expect.objectContaining({ code: 'leads.insecure-url', retry: 'never' }),
    );
  });

  test.each([
    '',
    'api.example.com',
    'ftp://api.example.com',
    'https://a:pass@api.example.com',
    'https://x.com/?a',
    'https://x.com/#a',
  ])('what is no base URL: %s', (url) => {
    expect(() => create(url)).toThrow(expect.objectContaining({ code: 'leads.bad-url' }));
    expect(() => create(url)).not.toThrow(/pass@/);
  });

  test.each(['', ' ', 'two words', 'line\nbreak', 'schl\u00fcssel', 'x\r\nx-evil: 1'])(
    'the key %j',
    (bad) => {
      expect(() => create('https://api.example.com', bad)).toThrow(
        expect.objectContaining({ code: 'leads.bad-key' }),
      );
    },
  );

  test.each([
    'https://api.example.com/',
    'http://localhost:1/a',
    'http://127.0.0.1',
    'http://127.8.9.1',
    'http://[::1]:80',
  ])('nothing about %s', async (url) => {
    await create(url)[Symbol.asyncDispose]();
  });
});

/** For 127.0.0.1, made for this test, valid for a hundred years. */
const selfSigned = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgDNsoB7v65qp4yXEZ
0g/ynf7k5nueUGb6FJRqu+7lko6hRANCAAS6+WD1Awmu8UC39hJOn/vk2LhHWPjA
Rqs9gRje5LHSZGwQ+qGz7fCYMaICwnEKNDfk+w9U96S4Tk99E2FbRI5I
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUBAyeKezOSBTCHmFUfcBwR4/ZfjUwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTAzMTA0M1oYDzIxMjYxMDI4
MDMxMDQzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS6+WD1Awmu8UC39hJOn/vk2LhHWPjARqs9gRje5LHSZGwQ+qGz7fCY
MaICwnEKNDfk+w9U96S4Tk99E2FbRI5Io2QwYjAdBgNVHQ4EFgQUTNFZmTYiNb5S
p2siOQPxhQEFSMAwHwYDVR0jBBgwFoAUTNFZmTYiNb5Sp2siOQPxhQEFSMAwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IQCZdHuRnaG32p+G28kjnEht4J4nFyLm2des3mXuTFshDgIgd2d+cCirwUoBIASo
zQdJOP5jXmnQBcBuV7XnMZ69v0Y=
-----END CERTIFICATE-----`,
};

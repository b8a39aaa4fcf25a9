import { createServer as createTlsServer } from 'node:https';
import { describe, expect, test } from 'vitest';
import type { LeadsPort } from '../../../src/ports/leads-service.ts';
import { apiError, each, firstPage, okPage } from './leads-api-calls.ts';
import { client, json, never, portOf, startServer, startSocketServer, thrown } from './leads-api-server.ts';
import { MemoryThrottle } from '../../support/memory-throttle.ts';

/** What each of the five calls throws, and the requests that were counted. */
async function outcomes(leads: LeadsPort): Promise<unknown> {
  const errors = await Promise.all(each.map(([, call]) => apiError(call(leads))));
  const seen = errors.map(({ code, retry, status }) => `${code} ${retry} ${status}`);
  return { errors: [...new Set(seen)], requests: leads.requests };
}
const unreachable = { errors: ['leads.unreachable now null'], requests: 0 };

describe('no connection', () => {
  test('to a closed port', async () => {
    const server = await startServer(() => {});
    await server[Symbol.asyncDispose]();
    await using leads = client(server);
    expect(await outcomes(leads)).toEqual(unreachable);
  });

  test('to a name that does not exist', async () => {
    await using leads = client({ url: 'https://leads.invalid' });
    expect(await outcomes(leads)).toEqual(unreachable);
  });

  test('over TLS to a server without TLS', async () => {
    await using server = await startServer((response) => response.end());
    await using leads = client({ url: `https://127.0.0.1:${server.port}` });
    expect(await outcomes(leads)).toEqual(unreachable);
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
    expect(await outcomes(leads)).toEqual(unreachable);
  });

  test('to a server whose certificate nobody has signed', async () => {
    let requests = 0;
    const server = createTlsServer(selfSigned, (_request, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await using leads = client({ url: `https://127.0.0.1:${portOf(server)}` });
      expect(await outcomes(leads)).toEqual(unreachable);
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
    throttle.look = () => {
      // Runs when the promises at hand have, so after the request was handed over, and before any network event.
      process.nextTick(() => stop.abort());
      return Promise.resolve({ notBefore: 0, pace: null, aheadMs: 0 });
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
    if (count > 1) {
      socket.write(okPage);
    } else {
      socket.on('close', () => resolve());
      socket.end(okPage);
    }
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

import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/config/secret.ts';
import { LeadsClient } from '../../../src/leads-api/leads-client.ts';
import { each, firstPage } from './leads-api-calls.ts';
import { client, key, never, startSocketServer, thrown } from './leads-api-server.ts';
import { MemoryThrottle } from '../../support/memory-throttle.ts';

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

const create = (baseUrl: string, apiKey = key) =>
  new LeadsClient({ baseUrl, apiKey: new Secret(apiKey), query: {}, throttle: new MemoryThrottle() });

describe('LeadsClient refuses', () => {
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
    await using leads = create(url);
    expect(leads.requests).toBe(0);
  });
});

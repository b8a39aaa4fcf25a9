import { describe, expect, test } from 'vitest';
import { apiError, each, firstPage } from './leads-api-calls.ts';
import { client, never, startServer, startSocketServer } from './leads-api-server.ts';

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
    await using leads = client(server, { timeouts: { totalMs: 500 } });
    expect(await leads.get('a', never)).toBeNull();
  });

  test('what is no HTTP is leads.unavailable', async () => {
    await using server = await startSocketServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    await using leads = client(server);
    expect(await apiError(leads.list(firstPage, never))).toMatchObject({ code: 'leads.unavailable' });
  });
});

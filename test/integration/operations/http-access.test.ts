import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../../src/config/secret.ts';
import { watchDatabase, watchQueue } from '../../../src/ops/outage-watch.ts';
import { type HttpServer, startHttpServer } from '../../../src/ops/http.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { adminToken, askOnce, logIn, openStatusSite, type StatusSite } from '../../support/status-site.ts';
import { until } from '../../support/until.ts';
import { portOf } from '../leads-api/leads-api-server.ts';

const html = { accept: 'text/html' };
const bearer = { authorization: `Bearer ${adminToken}` };

let site: StatusSite;
beforeAll(async () => {
  site = await openStatusSite({ env: { ADMIN_TOKEN: adminToken } });
});
afterAll(() => site[Symbol.asyncDispose]());

describe('with ADMIN_TOKEN', () => {
  const pages = ['/', '/connections/main', '/conflicts', '/runs/1', '/metrics', '/queues', '/live', '/x'];

  test('everybody may ask the probes, and nothing else', async () => {
    expect(await site.ask('/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    expect(await site.ask('/readyz', { headers: { host: 'any.example' } })).toMatchObject({
      status: 200,
      body: 'ready\n',
    });
    for (const path of pages) {
      const reply = await site.ask(path);
      expect([reply.status, reply.body], path).toEqual([401, 'unauthorized\n']);
      expect(reply.headers['www-authenticate']).toContain('Bearer');
      const page = await site.ask(path, { headers: html });
      expect([page.status, page.body.includes('Admin token')], path).toEqual([401, true]);
    }
    expect((await site.ask('/', { headers: { authorization: 'Basic b3Blbi1zZXNhbWU=' } })).status).toBe(401);
    expect((await site.ask('/', { headers: { authorization: 'Bearer open-sesam' } })).status).toBe(401);
    expect((await site.ask('/conflicts/1', { form: { use: 'lead' } })).status).toBe(401);
  });

  test('a load balancer that speaks HTTP/1.0 and names no host may ask the probes', async () => {
    const answer = async (path: string): Promise<string> => {
      await using socket = connect(site.server.port, '127.0.0.1');
      socket.end(`GET ${path} HTTP/1.0\r\n\r\n`);
      return await text(socket);
    };
    expect(await answer('/healthz')).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nok\n$/);
    expect(await answer('/')).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('whoever brings it is answered', async () => {
    for (const [path, status] of [
      ['/', 200],
      ['/connections/main', 200],
      ['/connections/other', 404],
      ['/conflicts', 200],
      ['/runs/1', 404],
      ['/runs/x', 404],
      ['/queues', 200],
      ['/x', 404],
    ] as const)
      expect((await site.ask(path, { headers: bearer })).status, path).toBe(status);
    const scraped = await site.ask('/metrics', { headers: bearer });
    expect(scraped.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(scraped.body).toContain('leadsync_');
    expect((await site.ask('/healthz', { method: 'POST' })).status).toBe(405);
    expect(
      (await site.ask('/', { method: 'PUT', headers: { ...bearer, 'content-length': '0' } })).status,
    ).toBe(405);
  });

  const soon = String(Math.floor(Date.now() / 1000) + 3_600);
  const cookieFor = (endsAt: string, token: string): string => {
    const key = createHmac('sha256', token).update('leadsync session').digest('base64');
    const session = `${endsAt} ${'a'.repeat(22)} http://x.example`;
    const signature = createHmac('sha256', key).update(session).digest('base64');
    return `leadsync=${encodeURIComponent(`${session}.${signature}`)}`;
  };
  test.each([
    ['no cookie of ours', 'other=1', 401],
    ['one of a login', cookieFor(soon, adminToken), 200],
    ['one that has ended', cookieFor('1000', adminToken), 401],
    ['one that is signed with another token', cookieFor(soon, 'another'), 401],
    ['one with another end than was signed', cookieFor(soon, adminToken).replace(soon, `9${soon}`), 401],
    ['one without a signature', `leadsync=${soon}`, 401],
    ['nonsense', 'leadsync=%00.%ff', 401],
  ])('a cookie: %s', async (_, cookie, status) => {
    expect((await site.ask('/', { headers: { cookie } })).status).toBe(status);
  });

  test('a login leads to the page that was asked for, by a cookie for this site alone; a logout ends it', async () => {
    const login = (next: string, headers = {}) =>
      site.ask('/login', { form: { token: adminToken, next }, headers });
    const reply = await login('/conflicts?after=3');
    expect([reply.status, reply.headers['location']]).toEqual([303, '/conflicts?after=3']);
    const [cookie = ''] = reply.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(adminToken);
    const overHttps = await login('/', { 'x-forwarded-proto': 'https' });
    expect(overHttps.headers['set-cookie']?.[0]).toContain('; Secure');
    const elsewhere = [
      '//',
      'https://',
      '/\\',
      '/..//',
      '/.//',
      '/%2e%2e//',
      '/a/..//',
      '/..\\\\',
      '\t//',
      '/\t/',
    ];
    for (const start of [...elsewhere, 'javascript:'])
      expect((await login(`${start}evil.example`)).headers['location'], start).toBe('/');

    const session = { cookie: cookie.split(';')[0] ?? '' };
    const out = await site.ask('/logout', { form: {}, headers: session });
    expect(out.headers['set-cookie']?.[0]).toMatch(/^leadsync=; Max-Age=0/);
    // A copy of the cookie is worth nothing, not for another worker either.
    expect((await site.ask('/', { headers: session })).status).toBe(401);
    await using other = await startHttpServer(site.app);
    expect((await askOnce(other.port, '/', { headers: session })).status).toBe(401);
    expect((await site.ask('/', { headers: await logIn(site) })).status).toBe(200);
    const wrong = await site.ask('/login', { form: { token: 'wrong', next: '/x"><script>' } });
    expect([wrong.status, wrong.body.includes('<script>')]).toEqual([401, false]);
    expect(wrong.body).toContain('role="alert"');
    expect((await site.ask('/login', { form: { token: adminToken.repeat(200) } })).status).toBe(400);
  });

  test('a form is taken from pages of this site alone, and no longer than it may be', async () => {
    const headers = await logIn(site);
    const form = { use: 'lead', seen: 'x', back: '/conflicts' };
    const post = async (more: Record<string, string>) =>
      (await site.ask('/conflicts/1', { form, headers: { ...headers, ...more } })).status;
    const here = `127.0.0.1:${site.server.port}`;
    // Nothing is held under this id: what counts is that it was looked for.
    expect(await post({})).toBe(409);
    expect(await post({ origin: `https://${here}` })).toBe(409);
    expect(await post({ origin: 'null', 'sec-fetch-site': 'same-origin' })).toBe(409);
    expect(await post({ origin: 'http://evil.example' })).toBe(403);
    expect(await post({ origin: `http://${here}.evil.example` })).toBe(403);
    expect(await post({ origin: 'null' })).toBe(403);
    expect(await post({ origin: 'null', 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await post({ origin: 'http://evil.example', 'content-type': 'text/plain' })).toBe(403);
    for (const type of ['application/json', 'text/x', '', 'multipart/form-data'])
      expect(await post({ origin: 'http://evil.example', 'content-type': type }), type).toBe(403);
    const program = await site.ask('/connections/main/pause', { method: 'POST' });
    expect([program.status, program.body]).toEqual([
      403,
      expect.stringMatching(/publicUrl.*Bearer ADMIN_TOKEN"/),
    ]);
    const posts = ['/login', '/logout', '/connections/main/sync', '/conflicts/all', '/x'];
    for (const path of posts) {
      const strange = { ...headers, origin: 'http://evil.example' };
      const asked = [{ form: { token: adminToken } }, { method: 'POST', headers: { 'content-length': '0' } }];
      for (const one of asked) {
        const { status } = await site.ask(path, { ...one, headers: { ...one.headers, ...strange } });
        expect([status, path]).toEqual([403, path]);
      }
    }
    const long = { ...form, seen: 'x'.repeat(20_000) };
    expect((await site.ask('/conflicts/1', { form: long, headers })).status).toBe(413);
    const streamed = { ...headers, 'transfer-encoding': 'chunked' };
    expect((await site.ask('/conflicts/1', { form: long, headers: streamed })).status).toBe(411);
    for (const bad of [{ use: 'both' }, { seen: 'x'.repeat(65) }, { back: '//evil.example' }, { back: 'x' }])
      expect((await site.ask('/conflicts/1', { form: { ...form, ...bad }, headers })).status).toBe(400);
  });

  test('every answer tells the browser what it may do', async () => {
    for (const path of ['/', '/healthz', '/login', '/x', '/conflicts']) {
      const { headers } = await site.ask(path, { headers: html });
      expect(headers['content-security-policy'], path).toBe(
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      );
      expect(headers, path).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      expect(headers, path).not.toHaveProperty('strict-transport-security');
      expect(headers, path).not.toHaveProperty('x-powered-by');
    }
    const overHttps = await site.ask('/', { headers: { 'x-forwarded-proto': 'https' } });
    expect(overHttps.headers['strict-transport-security']).toContain('max-age=');
    const board = await site.ask('/queues', { headers: bearer });
    expect(board.headers['content-security-policy']).toContain("style-src 'self' 'unsafe-inline'");
    expect(board.headers['content-security-policy']).toContain("script-src 'self';");
    const style = (await site.ask('/login')).body.match(/\/assets\/style\.css\?\w+/)?.[0] ?? '';
    expect((await site.ask(style)).headers['cache-control']).toContain('immutable');
  });

  test('who tries many tokens has to wait; who asks from another address, or is logged in, has not', async () => {
    const headers = await logIn(site);
    await using other = await startHttpServer(site.app);
    const { port } = other;
    const ask = async (authorization: string, localAddress?: string) =>
      (await askOnce(port, '/metrics', { headers: { authorization }, ...(localAddress && { localAddress }) }))
        .status;
    const attempts = await Promise.all(Array.from({ length: 30 }, (_, index) => ask(`Bearer ${index}`)));
    expect(new Set(attempts)).toEqual(new Set([401, 429]));
    expect(attempts.filter((status) => status === 401).length).toBeLessThan(15);
    expect(await ask(bearer.authorization)).toBe(429);
    expect(await ask(bearer.authorization, '127.0.0.2')).toBe(200);
    expect((await fetch(other.url, { headers })).status).toBe(200);
  });

  test('the log tells who logged in and out, and whose token was refused, but no token', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    await using other = await startHttpServer({
      ...site.app,
      log,
      config: { ...site.app.config, publicUrl: 'https://leads.example' },
    });
    const ask = (path: string, options: Parameters<typeof askOnce>[2]) => askOnce(other.port, path, options);
    const headers = { origin: other.url };
    const login = await ask('/login', { form: { token: adminToken, next: '/' }, headers });
    const [cookie = ''] = login.headers['set-cookie'] ?? [];
    await ask('/logout', { form: {}, headers: { ...headers, cookie: cookie.split(';')[0] ?? '' } });
    await ask('/login', { form: { token: 'guessed-1', next: '/' }, headers });
    await ask('/metrics', { headers: { authorization: 'Bearer guessed-2' } });
    await ask('/metrics', { headers: bearer });
    await ask('/follow-up/guessed-3', {});
    const address = expect.stringContaining('127.0.0.1');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 30, address, msg: 'somebody logged in' },
      { level: 30, address, msg: 'somebody logged out' },
      { level: 40, address, path: '/login', msg: 'a wrong token or link was refused' },
      { level: 40, address, path: '/metrics', msg: 'a wrong token or link was refused' },
      { level: 40, address, path: '/follow-up/:token', msg: 'a wrong token or link was refused' },
    ]);
    expect(lines.join('')).not.toMatch(new RegExp(`guessed|${adminToken}`));
  });

  test('nobody keeps others from a random token by wrong ones', async () => {
    const random = 'x'.repeat(32);
    const http = { ...site.app.config.http, adminToken: new Secret(random) };
    await using other = await startHttpServer({ ...site.app, config: { ...site.app.config, http } });
    const ask = async (token: string) =>
      (await askOnce(other.port, '/metrics', { headers: { authorization: `Bearer ${token}` } })).status;
    for (let tries = 0; tries < 12; tries++) await ask('wrong');
    expect([await ask('wrong'), await ask(random)]).toEqual([429, 200]);
  });

  test('whoever opens connections and says nothing, half of a request or half of a form keeps nobody away', async () => {
    const form = 'POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na';
    const half = ['', 'GET / HTTP/1.1\r\nHost: x\r\n'];
    await using stack = new AsyncDisposableStack();
    for (let nth = 0; nth < 620; nth++) {
      // From one address, then from several.
      const localAddress = nth < 110 ? '127.0.0.1' : `127.0.0.${(nth % 7) + 1}`;
      const socket = connect({ port: site.server.port, host: '127.0.0.1', localAddress });
      stack.defer(() => void socket.destroy());
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(nth < 520 ? (half[nth % 2] ?? '') : form);
    }
    for (let nth = 0; nth < 5; nth++)
      expect(await site.ask('/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
  });

  test.each(['DELETE', 'OPTIONS', 'PUT', 'PATCH'])('%s is no method of any page', async (method) => {
    for (const [path, allow] of [
      ['/', 'GET, HEAD'],
      ['/connections/main', 'GET, HEAD'],
      ['/connections/main/sync', 'POST'],
      ['/conflicts', 'GET, HEAD'],
      ['/conflicts/1', 'POST'],
      ['/runs/1', 'GET, HEAD'],
      ['/login', 'GET, HEAD, POST'],
      ['/logout', 'POST'],
      ['/metrics', 'GET, HEAD'],
      ['/live', 'GET, HEAD'],
      ['/assets/style.css', 'GET, HEAD'],
      ['/queues', 'GET, HEAD'],
      ['/queues/api/queues', 'GET, HEAD'],
      ['/healthz', 'GET, HEAD'],
    ] as const) {
      for (const headers of [bearer, { 'content-length': '0' }]) {
        const reply = await site.ask(path, { method, headers });
        expect([reply.status, reply.headers['allow']], path).toEqual([405, allow]);
      }
    }
    expect((await site.ask('/nowhere', { method, headers: bearer })).status).toBe(404);
    expect((await site.ask('/', { method: 'POST', form: {}, headers: bearer })).status).toBe(405);
  });
});

describe('without ADMIN_TOKEN', () => {
  test('the pages are open on this machine, for requests that name it: not for a page whose name leads here', async () => {
    await using open = await openStatusSite();
    const { port } = open.server;
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'LOCALHOST'])
      expect((await open.ask('/', { headers: { host } })).status, host).toBe(200);
    for (const host of ['evil.example', `127.0.0.1.evil.example:${port}`, '169.254.169.254', 'localhost.']) {
      const reply = await open.ask('/', { headers: { host } });
      expect([reply.status, reply.body.includes('set ADMIN_TOKEN')], host).toEqual([403, true]);
      expect((await open.ask('/healthz', { headers: { host } })).status, host).toBe(200);
    }
    expect((await open.ask('/')).body).not.toContain('Log out');
    expect((await open.ask('/login')).status).toBe(404);
    const form = { use: 'lead', seen: 'x', back: '/conflicts' };
    const post = async (headers: Record<string, string>) =>
      (await open.ask('/conflicts/1', { form, headers })).status;
    expect(await post({})).toBe(409);
    expect(await post({ origin: 'http://evil.example' })).toBe(403);
    expect(await post({ origin: 'http://evil.example', authorization: 'Basic eDp5' })).toBe(403);
    const program = await open.ask('/connections/main/pause', { method: 'POST' });
    expect([program.status, program.body]).toEqual([
      403,
      expect.stringContaining('a program sends the header "Authorization: Bearer x"'),
    ]);
    expect(program.body, 'it would close the pages').not.toContain('publicUrl');
    const authorization = /Authorization: (.*?)"/.exec(program.body)?.[1] ?? '';
    const taken = await open.ask('/connections/main/pause', { method: 'POST', headers: { authorization } });
    expect(taken.status).toBe(303);
  });

  test.each([
    { forwarded: 'for=10.0.0.1' },
    { 'x-forwarded-for': '10.0.0.1' },
    { 'x-forwarded-host': 'localhost' },
    { 'x-forwarded-proto': 'https' },
    { 'X-Forwarded-Server': 'a' },
    { 'x-real-ip': '10.0.0.1' },
    { via: '1.1 a' },
  ])('a proxy gets no page: %o', async (headers) => {
    await using open = await openStatusSite();
    for (const path of ['/', '/metrics', '/live', '/queues', '/conflicts', '/assets/style.css']) {
      const reply = await open.ask(path, { headers });
      expect([reply.status, reply.body.includes('set ADMIN_TOKEN')], path).toEqual([403, true]);
    }
    expect((await open.ask('/connections/main/sync', { form: {}, headers })).status).toBe(403);
    expect((await open.ask('/healthz', { headers })).status).toBe(200);
    expect((await open.ask('/')).status).toBe(200);
  });

  test('with publicUrl only links, feeds and probes answer; check and the log say so', async () => {
    const beside = { publicUrl: 'https://leads.example/app' };
    await using open = await openStatusSite({ beside });
    for (const path of ['/', '/metrics', '/live', '/queues', '/conflicts', '/login', '/assets/style.css']) {
      const reply = await open.ask(path);
      expect([reply.status, reply.body.includes('set ADMIN_TOKEN')], path).toEqual([403, true]);
    }
    expect((await open.ask('/connections/main/sync', { form: {} })).status).toBe(403);
    expect((await open.ask('/healthz')).status).toBe(200);
    expect((await open.ask('/follow-up/x')).status).toBe(404);
    const checked = await open.workspace.cli('check');
    expect(checked.stdout).toMatch(/status page: publicUrl is set and ADMIN_TOKEN is not.*closed/);
    await using worker = open.workspace.start(['worker']);
    await until('the log says it', () => /publicUrl is set and ADMIN_TOKEN is not/.test(worker.stderr));
    await worker.kill('SIGTERM');
  });

  test.each(['0.0.0.0', '::'])('nothing but the probes is served at %s', async (host) => {
    await using open = await openStatusSite({ env: { HOST: host } });
    expect((await open.ask('/healthz')).status).toBe(200);
    expect((await open.ask('/readyz')).status).toBe(200);
    for (const path of ['/', '/login', '/conflicts', '/assets/style.css', '/live']) {
      const reply = await open.ask(path);
      expect([reply.status, reply.body.includes('set ADMIN_TOKEN')], path).toEqual([403, true]);
    }
  });
});

test('not ready while the database or the queue does not answer', async () => {
  let isAway = false;
  const ping = async () => {
    if (isAway) throw new Error('away');
  };
  const pool = openDatabase({ connectionString: 'postgres://127.0.0.1:1/none' });
  await using queueless = await startHttpServer({
    ...site.app,
    queue: watchQueue(async () => ({ ping }), site.app.log),
  });
  const database = watchDatabase({ pool, bundled: false, hasJobs: true }, site.app.log);
  await using baseless = await startHttpServer({ ...site.app, pool, database });
  const ready = async ({ url }: HttpServer): Promise<readonly [number, string]> => {
    const reply = await fetch(`${url}readyz`);
    return [reply.status, await reply.text()];
  };
  expect(await ready(queueless)).toEqual([200, 'ready\n']);
  isAway = true;
  expect(await ready(queueless)).toEqual([503, 'the queue does not answer\n']);
  expect(await ready(baseless)).toEqual([503, 'the database does not answer\n']);
  expect((await fetch(`${baseless.url}healthz`)).status).toBe(200);
  const page = await fetch(`${baseless.url}conflicts`, { headers: bearer });
  expect([page.status, (await page.text()).includes('127.0.0.1')]).toEqual([500, false]);
  await pool.end();
});

test('the end of the server ends every connection, also one that never said anything', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const port = portOf(other);
  await new Promise((resolve) => other.close(resolve));
  const config = { ...site.app.config, http: { host: '127.0.0.1', port } };
  const server = await startHttpServer({ ...site.app, config });
  const silent = connect(server.port, '127.0.0.1');
  await once(silent, 'connect');
  const closed = once(silent, 'close');
  await server[Symbol.asyncDispose]();
  await closed;
  await expect(fetch(`${server.url}healthz`)).rejects.toThrow();
});

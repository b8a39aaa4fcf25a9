import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownPaths } from '../../../src/config/addresses.ts';
import { site as openSite } from '../../../src/ops/site.ts';
import { launchChromium } from '../../support/browser.ts';
import { startNginx } from '../../support/nginx.ts';
import type { Program } from '../../support/programs.ts';
import { adminToken, askOnce, openStatusSite, type StatusSite } from '../../support/status-site.ts';

/** Below which path of a shared name people reach the page. */
const base = '/tools/leadsync';

interface Proxy extends AsyncDisposable {
  readonly port: number;
}

async function nginx(location: string): Promise<Proxy> {
  const running = await startNginx([location]);
  return { port: running.ports[0] ?? 0, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

/** Not Traefik, but the requests that it makes: with its headers, and the path kept or stripped. */
async function traefikLike(to: number, strips: boolean): Promise<Proxy> {
  const server = createServer((incoming, reply) => {
    const { method, url = '/', headers } = incoming;
    if (!url.startsWith(base)) return void reply.writeHead(404).end();
    const forwarded = {
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-host': headers.host,
      'x-forwarded-port': '80',
      'x-forwarded-proto': 'http',
      'x-forwarded-server': 'traefik',
      'x-real-ip': '10.0.0.1',
    };
    const path = strips ? url.slice(base.length).replace(/^(?!\/)/, '/') : url;
    const prefix = strips ? { 'x-forwarded-prefix': base } : {};
    const passed = request(
      { port: to, method, path, headers: { ...headers, ...forwarded, ...prefix } },
      (response) => {
        reply.writeHead(response.statusCode ?? 502, response.headers);
        pipeline(response, reply).catch(() => {});
      },
    );
    passed.on('error', () => reply.destroy());
    pipeline(incoming, passed).catch(() => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const proxies: Readonly<Record<string, readonly [Program[], (to: number) => Promise<Proxy>]>> = {
  'nginx, path stripped': [
    ['nginx'],
    (to) => nginx(`location ${base}/ { proxy_pass http://127.0.0.1:${to}/; }`),
  ],
  'nginx, path kept': [['nginx'], (to) => nginx(`location ${base}/ { proxy_pass http://127.0.0.1:${to}; }`)],
  "as Traefik's StripPrefix": [[], (to) => traefikLike(to, true)],
  'as Traefik without it': [[], (to) => traefikLike(to, false)],
};

let site: StatusSite;
beforeAll(async () => {
  site = await openStatusSite({
    sandbox: { leads: 3 },
    connection: {
      reminders: { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' },
    },
    beside: { publicUrl: `http://127.0.0.1${base}` },
    env: { ADMIN_TOKEN: adminToken },
  });
  await site.workspace.sync();
  const [lead] = site.workspace.sandbox.leads.list();
  site.workspace.sandbox.leads.edit(lead?.id ?? '', { stage: 'won' });
  site.workspace.sheet.edit((row) => row['Lead ID'] === lead?.id, { Stage: 'lost' });
  await site.workspace.sync();
});
afterAll(() => site[Symbol.asyncDispose]());

/** What a browser sends of the cookie that a reply sets. */
function cookieOf(headers: Awaited<ReturnType<typeof askOnce>>['headers']): string {
  return String(headers['set-cookie']).replace(/;.*/, '');
}

/** The addresses that a page names. */
function addressesOf(html: string): string[] {
  return [...html.matchAll(/ (?:href|src|action)="([^"]*)"/g)]
    .map(([, address = '']) => address.replaceAll('&amp;', '&').replace(/#.*$/, ''))
    .filter((address) => address !== '');
}

for (const [way, [tags, open]] of Object.entries(proxies)) {
  test(`below a path, ${way}: login, every link, asset, form and redirect stays below it`, {
    tags,
  }, async () => {
    await using proxy = await open(site.server.port);
    const asked = await askOnce(proxy.port, `${base}/conflicts?connection=main`, {
      headers: { accept: 'text/html' },
    });
    expect(asked.status).toBe(401);
    const next = / name="next" value="([^"]*)"/.exec(asked.body)?.[1] ?? '';
    const login = await askOnce(
      proxy.port,
      addressesOf(asked.body).find((one) => one.endsWith('/login')) ?? '',
      {
        method: 'POST',
        headers: { cookie: cookieOf(asked.headers) },
        form: { token: adminToken, next },
      },
    );
    expect([login.status, login.headers['location']]).toEqual([303, `${base}/conflicts?connection=main`]);
    expect(String(login.headers['set-cookie'])).toContain(`Path=${base};`);
    const headers = { cookie: cookieOf(login.headers), accept: 'text/html' };

    const seen = new Set([`${base}/`]);
    for (const path of seen) {
      const { status, headers: told, body } = await askOnce(proxy.port, path, { headers });
      if (path.endsWith('/logout') || /\/(?:sync|pause|all|main\/[a-z-]+)$/.test(path)) continue;
      expect([path, status]).toEqual([path, 200]);
      // The scripts of the queue board find their addresses by its base.
      if (!String(told['content-type']).startsWith('text/html') || path.endsWith('/queues')) continue;
      for (const address of addressesOf(body)) {
        expect(address).toMatch(new RegExp(`^${base}(/|$)`));
        if (!/\/conflicts\/\d+$/.test(address)) seen.add(address);
      }
    }
    const runs = [...seen].filter((path) => path.includes('/runs/'));
    expect(runs.length).toBeGreaterThan(0);
    const pages = ['/conflicts', '/queues', '/connections/main'];
    expect([...seen]).toEqual(expect.arrayContaining(pages.map((path) => base + path)));

    const pause = await askOnce(proxy.port, `${base}/connections/main/pause`, {
      method: 'POST',
      headers: { cookie: headers.cookie },
      form: {},
    });
    expect([pause.status, pause.headers['location']]).toEqual([303, `${base}/connections/main`]);
    const logout = await askOnce(proxy.port, `${base}/logout`, {
      method: 'POST',
      headers: { cookie: headers.cookie },
      form: {},
    });
    expect([logout.status, logout.headers['location']]).toEqual([303, `${base}/login`]);
    expect(String(logout.headers['set-cookie'])).toContain(`Path=${base}`);
    for (const probe of ['/healthz', '/readyz'])
      expect(await askOnce(proxy.port, base + probe)).toMatchObject({ status: 200 });
    const feeds = (await site.workspace.cli('status', '--feeds', '--json')).json<{
      feeds: { url: string }[];
    }>();
    const feed = new URL(feeds.feeds[0]?.url ?? '').pathname;
    expect(feed.startsWith(`${base}/calendar/`)).toBe(true);
    expect(await askOnce(proxy.port, feed)).toMatchObject({ status: 200 });
  });

  test(`below a path, ${way}: the queue board and the live line work in a browser`, {
    tags: [...tags, 'chromium'],
  }, async () => {
    await using proxy = await open(site.server.port);
    const origin = `http://127.0.0.1:${proxy.port}`;
    const browser = await launchChromium([]);
    try {
      const page = await browser.newPage();
      const strays: string[] = [];
      page.on('request', (one) => {
        const url = new URL(one.url());
        if (url.origin === origin && !url.pathname.startsWith(base)) strays.push(url.pathname);
      });
      await page.goto(`${origin}${base}/`);
      await page.fill('input[name=token]', adminToken);
      const [live] = await Promise.all([
        page.waitForRequest((one) => one.url().endsWith('/live')),
        page.press('input[name=token]', 'Enter'),
      ]);
      expect(new URL(live.url()).pathname).toBe(`${base}/live`);
      await (await site.app.queues()).queue('syncs').counts();
      await page.click('a:has-text("Queues")');
      await page.getByText('syncs').first().waitFor();
      await page.click('a:has-text("Back to the status page")');
      await page.waitForURL(`${origin}${base}/`);
      expect(strays.filter((path) => path !== '/favicon.ico')).toEqual([]);
    } finally {
      await browser.close();
    }
  });
}

test('every page begins with a part that `publicUrl` may not begin with', async () => {
  const { app } = site;
  const here = { host: '127.0.0.1', address: '127.0.0.1' };
  const policy = { ...here, token: app.config.http.adminToken, publicUrl: app.config.publicUrl };
  const { routes } = await openSite(app, policy);
  const parts = new Set(routes.map(({ path }) => path.split('/')[1] ?? ''));
  expect([...parts].filter((part) => !['', '*'].includes(part)).toSorted()).toEqual([...ownPaths]);
});

test('without a proxy the page works at its own address, below the path and above it', async () => {
  const headers = { authorization: `Bearer ${adminToken}` };
  for (const path of ['/', base, `${base}/`, '/conflicts', `${base}/conflicts`])
    expect(await site.ask(path, { headers })).toMatchObject({ status: 200 });
  for (const path of [`${base}x/conflicts`, `${base}${base}/conflicts`])
    expect(await site.ask(path, { headers })).toMatchObject({ status: 404 });
});

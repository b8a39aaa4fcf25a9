import { networkInterfaces } from 'node:os';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../support/browser.ts';
import { startNginx } from '../../support/nginx.ts';
import { adminToken, askOnce, openStatusSite, type StatusSite } from '../../support/status-site.ts';

describe('in Chromium', { tags: 'chromium' }, () => {
  let browser: Browser;
  let site: StatusSite;
  beforeAll(async () => {
    browser = await launchChromium(['--host-resolver-rules=MAP leads.test 127.0.0.1']);
    site = await openStatusSite({ env: { ADMIN_TOKEN: adminToken, HOST: '0.0.0.0' } });
  });
  afterAll(async () => {
    await browser.close();
    await site[Symbol.asyncDispose]();
  });

  /** Logs in at an address, presses a button, and logs out, as a person does. */
  async function useSite(origin: string): Promise<void> {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}/conflicts`);
    await page.fill('input[name=token]', adminToken);
    await page.press('input[name=token]', 'Enter');
    await page.waitForURL(`${origin}/conflicts`);
    await page.goto(`${origin}/connections/main`);
    await page.click('button:has-text("Pause")');
    await page.waitForSelector('button:has-text("Resume")');
    await page.click('button:has-text("Resume")');
    await page.waitForSelector('button:has-text("Pause")');
    const cookies = await context.cookies();
    await page.click('button:has-text("Log out")');
    await page.waitForURL(`${origin}/login`);
    await context.addCookies(cookies);
    expect((await page.goto(`${origin}/conflicts`))?.status()).toBe(401);
    await context.close();
  }

  test('people log in and press buttons over http from another machine, by an address and by a name', async () => {
    const { port } = site.server;
    const others = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).flatMap(({ family, internal, address }) =>
        family === 'IPv4' && !internal ? [address] : [],
      ),
    );
    for (const host of ['leads.test', '127.0.0.1', ...others.slice(0, 1)])
      await useSite(`http://${host}:${port}`);
  });

  test('the same through nginx with its own headers; without a token it gets no page', {
    tags: 'nginx',
  }, async () => {
    await using open = await openStatusSite();
    const to = ({ server }: StatusSite): string =>
      `location / { proxy_pass http://127.0.0.1:${server.port}; }`;
    await using nginx = await startNginx([to(site), to(open)]);
    const [port = 0, openPort = 0] = nginx.ports;
    await useSite(`http://leads.test:${port}`);
    expect(await askOnce(openPort, '/')).toMatchObject({ status: 403 });
    expect(await askOnce(openPort, '/healthz')).toMatchObject({ status: 200 });
  });

  test('a page of another site logs nobody in, and presses nothing', async () => {
    const { port } = site.server;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`http://leads.test:${port}/login`);
    await page.fill('input[name=token]', adminToken);
    await page.press('input[name=token]', 'Enter');
    await page.waitForURL(`http://leads.test:${port}/`);
    for (const path of ['/login', '/connections/main/pause']) {
      const field = `<input name=token value=${adminToken}>`;
      const form = `<form method=post action=http://leads.test:${port}${path}>${field}<button>go</button></form>`;
      await page.goto(`data:text/html,${encodeURIComponent(form)}`);
      const [reply] = await Promise.all([
        page.waitForResponse((response) => response.url().endsWith(path)),
        page.click('button'),
      ]);
      expect(reply.status()).toBe(403);
    }
    await context.close();
  });
});

import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../support/browser.ts';
import { adminToken, type StatusSite } from '../../support/status-site.ts';
import { hostile, openTroubledSite } from '../../support/troubled-site.ts';

/** Words of ours that a line end cuts: values of leads may be longer than the screen, and break where they must. */
const brokenWords = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.parentElement.closest('bdi, code, script, style, .hidden, svg') !== null) continue;
    for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word);
    }
  }
  return found;
})()`;

/** A page, and all that the browser complained of: scripts that failed, and what the policy kept it from loading. */
interface Tab extends AsyncDisposable {
  readonly page: Page;
  readonly complaints: readonly string[];
}

describe('in Chromium', { tags: 'chromium' }, () => {
  let site: StatusSite;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([openTroubledSite(), launchChromium()]);
  });
  // A sync that waits for a worker takes away the button that asks for one.
  afterEach(async () => (await site.app.queues()).queue('syncs').forget());
  afterAll(async () => {
    await browser.close();
    await site[Symbol.asyncDispose]();
  });

  async function openTab(options: Parameters<Browser['newContext']>[0] = {}): Promise<Tab> {
    const context: BrowserContext = await browser.newContext({ baseURL: site.server.url, ...options });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', ({ message }) => complaints.push(message));
    // A page that is not there, or asks for the token, shows in its status alone.
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 40[14]/.test(message.text()))
        complaints.push(message.text());
    });
    return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
  }

  async function logIn(page: Page, path = '/'): Promise<void> {
    await page.goto(path);
    await page.getByLabel('Admin token').fill(adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Log out' }).waitFor();
  }

  test.each([
    ['light', 1200],
    ['dark', 360],
  ] as const)(
    'every page, %s and %d wide: no barrier, nothing beside the screen',
    async (colorScheme, width) => {
      await using tab = await openTab({ colorScheme, viewport: { width, height: 700 } });
      const { page, complaints } = tab;
      const look = async (): Promise<void> => {
        const { violations } = await new AxeBuilder({ page }).analyze();
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
        expect(found, page.url()).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), page.url()).toBe(0);
        expect(await page.evaluate(brokenWords), page.url()).toEqual([]);
      };
      await page.goto('/conflicts');
      await page.getByLabel('Admin token').fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await look();
      await logIn(page, '/connections/main');
      expect(page.url()).toContain('/connections/main');
      for (const path of [
        '/',
        '/connections/main',
        '/conflicts?after=25',
        '/conflicts/all?use=lead&after=25',
        '/runs/2?after=85',
        '/nowhere',
      ]) {
        await page.goto(path);
        await look();
      }
      expect(complaints).toEqual([]);
    },
    // Ten pages are examined, which takes a slow machine most of a minute.
    180_000,
  );

  test('a conflict is settled with the keyboard alone; what the values hold does nothing', async () => {
    await using tab = await openTab();
    const { page, complaints } = tab;
    await logIn(page, '/conflicts');
    expect(await page.title()).toBe('Conflicts · leadsync');
    expect(await page.locator('bdi.value').allInnerTexts()).toContain(hostile.script);
    const focused = async () => String(await page.evaluate('document.activeElement.textContent'));
    while (!(await focused()).startsWith('Keep the row’s value of City')) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#held-\d+$/);
    const card = page.locator(new URL(page.url()).hash);
    await card.getByText('Decided: the row’s value').waitFor();
    await page.getByRole('button', { name: 'Log out' }).press('Enter');
    await page.getByLabel('Admin token').waitFor();
    await page.goto('/conflicts');
    expect(await page.getByRole('article').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('with the keyboard alone and no script: a match, many conflicts at once, pause, resume and a sync', async () => {
    await using tab = await openTab({ javaScriptEnabled: false });
    const { page } = tab;
    const press = async (words: string): Promise<void> => {
      const focused = async () => String(await page.evaluate('document.activeElement.textContent'));
      while (!(await focused()).startsWith(words)) await page.keyboard.press('Tab');
      const loaded = page.waitForEvent('load');
      await page.keyboard.press('Enter');
      await loaded;
    };
    await logIn(page, '/conflicts');
    await press('They are two: Dorn Logistik GmbH');
    await page.getByText('Decided: they are two, by somebody on the status page').waitFor();
    await page.goto('/conflicts?after=25');
    await press('Keep the lead’s value of all 7 shown…');
    await press('Keep the lead’s 7 values');
    expect(await page.getByText('Decided: the lead’s value, by somebody on the status page').count()).toBe(7);
    await page.goto('/');
    await press('Pause main');
    await page.getByText('no sync runs, reminders go on').waitFor();
    await press('Resume main');
    await press('Sync now main');
    await page.getByText('A sync starts as soon as a worker is free.').waitFor();
  });

  test('the board of the queues works under its policy, and asks nobody else for anything', async () => {
    await using tab = await openTab();
    const { page, complaints } = tab;
    const asked = new Set<string>();
    page.on('request', (request) => asked.add(new URL(request.url()).origin));
    (await site.app.queues()).queue('syncs');
    await logIn(page, '/conflicts');
    await page.getByRole('link', { name: 'Queues' }).click();
    await page.getByText('syncs').first().waitFor();
    await page.waitForLoadState('networkidle');
    expect([...asked]).toEqual([new URL(site.server.url).origin]);
    expect(complaints).toEqual([]);
    expect(await page.content()).not.toContain('fonts.');
    await page.getByRole('link', { name: 'Back to the status page' }).click();
    await page.getByRole('heading', { name: 'Status' }).waitFor();
  });

  test('a sync that begins while the page is open is followed to its end', async () => {
    await using tab = await openTab();
    const { page, complaints } = tab;
    const { sandbox } = site.workspace;
    await logIn(page);
    const line = page.locator('[data-progress=main]');
    expect(await line.isVisible()).toBe(false);
    sandbox.set({ maxLimit: 20, faults: [{ kind: 'slow', ms: 700, when: { every: 1 }, on: ['list'] }] });
    const running = site.workspace.sync();
    try {
      await line.getByText(/run \d+: \d+ leads, about \d+ % of last time/).waitFor();
      expect(await page.getByRole('status').innerText()).toMatch(/^main: run \d+ has begun$/);
      await page.reload();
      expect(await line.innerText()).toMatch(/^Running now run \d+: /);
      const { runId } = await running;
      await line.getByRole('link', { name: `run ${runId} has ended` }).click();
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(`Run ${runId}`);
    } finally {
      sandbox.set({ maxLimit: 100, faults: [] });
      await running;
    }
    expect(complaints).toEqual([]);
  });

  test('a page that waits shows the end of a sync that begins and ends between two looks', async () => {
    await using tab = await openTab();
    const { page, complaints } = tab;
    await site.ask('/connections/main/sync', {
      form: {},
      headers: { authorization: `Bearer ${adminToken}` },
    });
    await logIn(page, '/connections/main');
    const waiting = page.getByText('A sync starts as soon as a worker is free.');
    await waiting.waitFor();
    await page.route('**/live', (route) => route.fulfill({ status: 503 }));
    const { runId } = await site.workspace.sync();
    await page.unroute('**/live');
    await page.getByRole('link', { name: `run ${runId} has ended` }).waitFor();
    expect(await waiting.isVisible()).toBe(false);
    expect(await page.getByRole('status').innerText()).toBe(`main: run ${runId} has ended`);
    await page.reload();
    await page.waitForResponse('**/live');
    expect(await page.locator('[data-progress=main]').isVisible()).toBe(false);
    expect(complaints.filter((line) => !line.includes('503'))).toEqual([]);
  });
});

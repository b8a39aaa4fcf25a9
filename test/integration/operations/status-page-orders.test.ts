import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { runHandlers, syncQueue } from '../../../jobs/runs.ts';
import { acquireLease } from '../../../src/store/leases.ts';
import { lastRun } from '../../../src/store/runs.ts';
import { createThrottle } from '../../../src/store/services.ts';
import { systemClock } from '../../../src/ports/clock.ts';
import { jobPlaces, startRedis } from '../../support/redis.ts';
import { openStatusSite, type StatusSite } from '../../support/status-site.ts';
import { connectionName } from '../../support/workspace.ts';

const page = `/connections/${connectionName}`;

/** Presses a button of the connection; where that leads, or what it said. */
async function press(site: StatusSite, order: string, headers = {}): Promise<readonly [number, string]> {
  const { status, headers: said, body } = await site.ask(`${page}/${order}`, { form: {}, headers });
  return [status, String(said['location'] ?? /<main[\s\S]*?<p>(.*?)<\/p>/.exec(body)?.[1] ?? body)];
}

/** What the buttons of the connection say, and where they lead. */
async function buttons(site: StatusSite, path = page): Promise<readonly string[]> {
  const { body } = await site.ask(path);
  return [...body.matchAll(/action="(\S+)"><button[^>]*>([^<]*)/g)].map(([, to, words]) => `${words}: ${to}`);
}

for (const [where, tags] of Object.entries(jobPlaces))
  test(`"Sync now" is a job in ${where} for whichever worker is free, once, and none while a sync runs`, {
    tags,
  }, async () => {
    await using redis = where === 'Redis' ? await startRedis() : undefined;
    await using site = await openStatusSite({ sandbox: { leads: 3 }, ...(redis && { redis }) });
    const { app } = site;
    for (const path of ['/', page])
      expect(await buttons(site, path)).toEqual([`Sync now: ${page}/sync`, `Pause: ${page}/pause`]);
    expect(await press(site, 'sync')).toEqual([303, page]);
    expect((await site.ask(page)).body).toContain('A sync starts as soon as a worker is free.');
    expect(await buttons(site)).toEqual([`Pause: ${page}/pause`]);
    const live = async (): Promise<unknown> => JSON.parse((await site.ask('/live')).body);
    expect(await live()).toEqual({ running: {}, ended: {} });
    const again = await press(site, 'sync');
    expect(again).toEqual([409, expect.stringContaining('is waiting already')]);

    const queue = (await app.queues()).queue(syncQueue);
    const handlers = runHandlers(app);
    const payloads: unknown[] = [];
    await using worker = queue.work({
      ...handlers,
      sync: async (payload, ...rest) => {
        payloads.push(payload);
        return handlers.sync(payload, ...rest);
      },
    });
    await expect
      .poll(async () => (await lastRun(app.pool, connectionName, 'sync'))?.status)
      .toBe('succeeded');
    expect(payloads).toMatchObject([{ isAsked: true }]);
    expect(site.workspace.sheet.rows()).toHaveLength(3);
    await expect.poll(() => queue.counts()).toMatchObject({ waiting: 0, active: 0 });
    await worker[Symbol.asyncDispose]();
    const { id } = (await lastRun(app.pool, connectionName, 'sync')) ?? expect.fail('no run');
    const { body } = await site.ask(page);
    expect(body).not.toContain('A sync starts');
    expect(body).toContain(`data-ended="${id}"`);
    await expect.poll(live).toEqual({ running: {}, ended: { [connectionName]: id } });

    const lease = await acquireLease(app.pool, `${connectionName}/sync`);
    expect(await press(site, 'sync')).toEqual([409, expect.stringContaining('is running already')]);
    await lease?.[Symbol.asyncDispose]();
    expect(await queue.counts()).toMatchObject({ waiting: 0, active: 0 });
    expect(await press(site, 'sync')).toEqual([303, page]);
  });

test('a connection is paused, by a program too, and goes on by its buttons', async () => {
  await using site = await openStatusSite({ sandbox: { leads: 1 } });
  const { port } = site.server;
  // As curl --request POST sends it: with no word on a body.
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `POST ${page}/pause HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1.1 303 /);
  expect(await buttons(site)).toEqual([`Resume: ${page}/resume`]);
  expect((await site.ask('/')).body).toMatch(/1 paused[\s\S]*no sync runs, reminders go on/);
  expect(await press(site, 'sync')).toEqual([409, expect.stringContaining('main is paused')]);
  expect(await press(site, 'resume')).toEqual([303, page]);
  expect((await buttons(site))[0]).toBe(`Sync now: ${page}/sync`);
});

test('a wait that the service asked for is ended by its button', async () => {
  await using site = await openStatusSite();
  const { leads } = site.app.config.connections[0] ?? expect.fail('no connection');
  const throttle = createThrottle(site.app.pool, leads.baseUrl, leads.apiKey.reveal(), systemClock);
  await throttle.pauseUntil(Date.now() + 3_600_000);
  expect(await buttons(site)).toContain(`End the wait: ${page}/lift-wait`);
  expect(await press(site, 'lift-wait')).toEqual([303, page]);
  expect((await throttle.look()).notBefore).toBeLessThanOrEqual(Date.now());
  expect(await buttons(site)).not.toContain(`End the wait: ${page}/lift-wait`);
});

test('no page from elsewhere presses a button, and there is none of a connection that is not configured', async () => {
  await using site = await openStatusSite();
  for (const order of ['sync', 'pause', 'resume', 'lift-wait']) {
    expect((await press(site, order, { origin: 'http://evil.example' }))[0], order).toBe(403);
    expect((await site.ask(`/connections/other/${order}`, { form: {} })).status).toBe(404);
  }
  expect(await buttons(site)).toEqual([`Sync now: ${page}/sync`, `Pause: ${page}/pause`]);
  expect((await site.ask(page)).body).not.toContain('A sync starts');
});

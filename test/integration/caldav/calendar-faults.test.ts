import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fate, startDavProxy } from '../../support/dav-proxy.ts';
import { type Radicale, startRadicale } from '../../support/radicale.ts';
import { until } from '../../support/until.ts';
import { calendarScene, friday, tuesday } from './calendar-scene.ts';

/** Requests of the longest pass below, and some more. */
const mostRequests = 7;

describe('a calendar whose server fails', { tags: 'radicale' }, () => {
  let server: Radicale;
  beforeAll(async () => {
    server = await startRadicale();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(['lost', 'cut'] as const)(
    'cut off at any request (%s), nothing is there twice, and no date is lost',
    async (way) => {
      let end = 0;
      await using proxy = await startDavProxy(server.origin, (_, nth): Fate => (nth === end ? way : 'pass'));
      await using scene = await calendarScene(server, {
        leads: 3,
        through: (url) => url.replace(server.origin, proxy.origin),
      });
      const program = await scene.program();
      for (let nth = 1; nth <= mostRequests; nth++) {
        const day = String(nth + 10);
        // One is moved in the service, one by the person, and one goes and comes.
        scene.move(`2031-03-${day}T08:00:00.000Z`, 0);
        scene.move(nth % 2 === 0 ? null : friday, 2);
        await scene.sync();
        await program.edit('Lead 2', (text) =>
          text.replace(/^DTSTART.*/m, `DTSTART:203104${day}T080000Z`).replace(/^DTEND.*\r\n/m, ''),
        );
        end = proxy.requests.length + nth;
        await scene.pass();
        end = 0;
        await scene.pass();
        await scene.carryOut();
        await scene.sync();
        await scene.pass();
        const dates = [`:203103${day}T080000Z`, ...(nth % 2 === 0 ? [] : [':20310307T080000Z'])];
        // On the first round there is no entry yet that the person could move.
        const moved = nth === 1 ? ':20310303T080000Z' : `:203104${day}T080000Z`;
        expect([nth, (await scene.dates()).toSorted()]).toEqual([nth, [...dates, moved].toSorted()]);
        expect(scene.due()[1]).toBe(nth === 1 ? '2031-03-03T08:00:00.000Z' : `2031-04-${day}T08:00:00.000Z`);
      }
      expect((await scene.edits()).every(({ state }) => state === 'applied')).toBe(true);
    },
  );

  test('a server that asks to wait is left alone for that long, and a wrong password for an hour', async () => {
    let fate: Fate = { status: 503, headers: { 'retry-after': '120' } };
    await using proxy = await startDavProxy(server.origin, () => fate);
    const through = (url: string): string => url.replace(server.origin, proxy.origin);
    await using scene = await calendarScene(server, { through });
    await scene.pass();
    await scene.pass();
    expect(proxy.requests).toHaveLength(1);
    expect(await scene.calendars()).toMatchObject([{ code: 'caldav.limited' }]);
    const waits = async (): Promise<number> => {
      const { rows } = await scene.pool.query<{ wait: number }>(
        'select extract(epoch from not_before - now())::float8 as wait from calendars',
      );
      return rows[0]?.wait ?? 0;
    };
    expect(await waits()).toBeGreaterThan(110);
    for (const [status, code] of [
      [401, 'caldav.unauthenticated'],
      [403, 'caldav.forbidden'],
      [404, 'caldav.not-found'],
      [302, 'caldav.redirected'],
      [507, 'caldav.full'],
      [500, 'caldav.server-error'],
    ] as const) {
      fate = { status, headers: { location: 'https://elsewhere.example/x/?secret=1' } };
      await scene.pool.query('update calendars set not_before = null');
      await scene.pass();
      expect(await scene.calendars()).toMatchObject([{ code }]);
      if (status === 401) expect(await waits()).toBeGreaterThan(3_000);
    }
    fate = { status: 207, body: '<!DOCTYPE x [<!ENTITY a "b">]><multistatus xmlns="DAV:"/>' };
    await scene.pool.query('update calendars set not_before = null');
    await scene.pass();
    expect(await scene.calendars()).toMatchObject([{ code: 'caldav.unreadable' }]);
    fate = 'pass';
    expect(await scene.pass()).toMatchObject({ put: 1 });
    expect(await scene.calendars()).toMatchObject([{ code: null }]);
  });

  test('an entry that is listed without its ETag is there: it is read, and never taken for deleted', async () => {
    let listing: Fate = 'pass';
    await using proxy = await startDavProxy(server.origin, (method): Fate => {
      if (method !== 'PROPFIND') return 'pass';
      const fate = listing;
      listing = 'pass';
      return fate;
    });
    await using scene = await calendarScene(server, {
      through: (url) => url.replace(server.origin, proxy.origin),
    });
    await scene.pass();
    const program = await scene.program();
    await program.edit('Lead 1', (text) =>
      text.replace(/^DTSTART.*/m, 'DTSTART:20310304T080000Z').replace(/^DTEND.*\r\n/m, ''),
    );
    const { rows } = await scene.pool.query<{ name: string }>('select name from calendar_entries');
    const none = '<propstat><prop><getetag/></prop><status>HTTP/1.1 404 Not Found</status></propstat>';
    const body = `<multistatus xmlns="DAV:"><response><href>/x/${rows[0]?.name}</href>${none}</response></multistatus>`;
    listing = { status: 207, body };
    expect(await scene.pass()).toMatchObject({ requested: 1 });
    await scene.carryOut();
    expect(scene.due()).toEqual([tuesday]);
  });

  test('entries that the server refuses, however many, keep no other from being put', async () => {
    let refused: readonly string[] = [];
    await using proxy = await startDavProxy(server.origin, (method, _, path): Fate => {
      const isRefused = refused.length === 0 || refused.some((name) => path.endsWith(name));
      return method === 'PUT' && isRefused ? { status: 400 } : 'pass';
    });
    await using scene = await calendarScene(server, {
      leads: 5,
      through: (url) => url.replace(server.origin, proxy.origin),
    });
    await scene.pass();
    const { rows } = await scene.pool.query<{ name: string }>(
      'select name from calendar_entries order by lead_id limit 4',
    );
    refused = rows.map(({ name }) => name);
    for (let pass = 0; pass < 2; pass++) await scene.pass();
    expect(await scene.entries()).toHaveLength(1);
    const { stdout } = await scene.workspace.cli('status', '--reminders');
    for (const nth of [1, 2, 3, 4])
      expect(stdout).toMatch(new RegExp(`Lead ${nth}, due .* rejected a request`));
  });

  test('where nothing changed a pass is one request, and each change costs two more', async () => {
    await using proxy = await startDavProxy(server.origin, () => 'pass');
    await using scene = await calendarScene(server, {
      leads: 120,
      through: (url) => url.replace(server.origin, proxy.origin),
    });
    const during = async (): Promise<Record<string, number>> => {
      const from = proxy.requests.length;
      await scene.pass();
      const methods = Map.groupBy(proxy.requests.slice(from), (method) => method);
      return Object.fromEntries([...methods].map(([method, all]) => [method, all.length]));
    };
    expect(await during()).toEqual({ PROPFIND: 1, PUT: 120 });
    // What leadsync wrote is no news.
    expect(await during()).toEqual({ PROPFIND: 1 });
    scene.move(friday);
    await scene.sync();
    expect(await during()).toEqual({ PROPFIND: 1, REPORT: 1, PUT: 1 });
    expect(await during()).toEqual({ PROPFIND: 1 });
  });

  test('a worker that is killed while it puts entries leaves each there once, and the next one goes on', async () => {
    const count = 60;
    await using scene = await calendarScene(server, { leads: count });
    const worker = scene.workspace.start(['worker']);
    await until('some entries are there', async () => (await scene.entries()).length >= 5);
    await worker.kill('SIGKILL');
    expect((await scene.entries()).length).toBeLessThan(count);
    await until('the lease is free', async () => (await scene.pass()).put > 0);
    await scene.pass();
    const uids = (await scene.entries()).map((text) => /UID:(.*)/.exec(text)?.[1]);
    expect(new Set(uids).size).toBe(count);
    expect(uids).toHaveLength(count);
    expect(await scene.pass()).toEqual({ put: 0, changed: 0, requested: 0 });
  });
});

test('leadsync check says what is wrong with a calendar', { tags: 'radicale' }, async () => {
  await using server = await startRadicale();
  await using scene = await calendarScene(server, { users: ['anna', 'bert'] });
  const { env } = scene.workspace;
  const right = await scene.workspace.cli('check');
  expect(right.stdout).toMatch(/ok\s+main: calendar of anna@example.com: .* answers;\s+1 follow-up /);
  const wrong = scene.workspace.start(['check'], { env: { ...env, DAV_PASSWORD: 'n0t-it' } });
  const { stdout, stderr } = await wrong.ended;
  expect(stdout).toMatch(
    /FAIL\s+main: calendar of bert@example.com: .*rejected the user name or the password/,
  );
  expect(stdout + stderr).not.toContain('n0t-it');
});

import { mostLanes } from '../../../src/leads-api/lanes.ts';
import { expect, describe, test } from 'vitest';
import type { LeadTable } from '../../../src/sandbox/lead-table.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import type { LeadsPort } from '../../../src/ports/leads-service.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { connectionName, Workspace, type WorkspaceOptions } from '../../support/workspace.ts';
import { json, startServer, type TestServer } from '../leads-api/leads-api-server.ts';

const none = { leads: 0, rows: 0 };

/** A stop between the sync and the sandbox that answers some requests itself, and passes the others on. */
async function startBetween(
  workspace: Workspace,
  refuse: (method: string, path: string) => number | 'too-large' | null,
): Promise<TestServer> {
  return startServer((response, request) => {
    const status = refuse(request.method, request.url);
    if (status === 'too-large') {
      response.writeHead(200, { 'content-length': String(17 * 1024 * 1024) });
      response.flushHeaders();
      return;
    }
    if (status !== null) return json(response, status, { code: 'test', message: 'as the test wants' });
    const { authorization } = request.headers;
    fetch(workspace.sandbox.url + request.url, {
      method: request.method,
      headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
      ...(request.body !== '' && { body: request.body }),
    }).then(
      async (reply) => {
        response.writeHead(reply.status, { 'content-type': 'application/json' });
        response.end(await reply.text());
      },
      () => response.destroy(),
    );
  });
}

/** A workspace whose 6 leads are in step with their rows, and then edited: row 1 to 3 by hand, lead 4 in the service. */
async function openEdited(options: WorkspaceOptions = {}): Promise<{ workspace: Workspace; ids: string[] }> {
  const workspace = await Workspace.open({ sandbox: { leads: 6 }, ...options });
  await workspace.sync();
  const ids = workspace.sandbox.leads.list().map(({ id }) => id);
  for (const id of ids.slice(0, 3))
    workspace.sheet.edit((row) => row['Lead ID'] === id, { City: 'from the row' });
  workspace.sandbox.leads.edit(ids[3] ?? '', { city: 'from the lead' });
  return { workspace, ids };
}

function cities(leads: LeadTable, ids: readonly string[]): boolean[] {
  return ids.map((id) => leads.get(id)?.city === 'from the row');
}

function cityInRow(workspace: Workspace, id: string): string | undefined {
  return workspace.sheet.rows().find((row) => row['Lead ID'] === id)?.['City'];
}

describe('paging', () => {
  test('a cursor that expired restarts the scan, once', async () => {
    await using workspace = await Workspace.open({
      sandbox: {
        leads: 60,
        maxLimit: 20,
        faults: [{ kind: 'expired-cursor', when: { once: 2 }, on: [] }],
      },
    });
    const report = await workspace.sync();
    expect(report).toMatchObject({ status: 'succeeded', pulled: 60, created: { leads: 0, rows: 60 } });
    // Two pages and the rejected one, then three from the beginning.
    expect(workspace.sandbox.log.map(({ status }) => status)).toEqual([200, 200, 400, 200, 200, 200]);
    const first = workspace.sandbox.log[0]?.query;
    expect(workspace.sandbox.log.filter(({ query }) => query === first)).toHaveLength(2);
    expect(workspace.sheet.rows()).toHaveLength(60);
  });

  test('a cursor that expires again fails the run; nothing is written', async () => {
    await using workspace = await Workspace.open({
      sandbox: { leads: 60, maxLimit: 20, faults: [{ kind: 'expired-cursor', when: { every: 1 }, on: [] }] },
    });
    const report = await workspace.sync();
    expect(report).toMatchObject({ status: 'failed', created: none, problems: [{ code: 'leads.rejected' }] });
    expect(workspace.sandbox.log.map(({ status }) => status)).toEqual([200, 400, 200, 400]);
    workspace.sandbox.set({ faults: [] });
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 60 } });
  });

  test('a scan that was restarted proves no absence: nothing is taken for deleted', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 60, maxLimit: 20 } });
    await workspace.sync();
    const { sandbox, sheet } = workspace;
    const [gone] = sandbox.leads.list();
    sandbox.leads.remove(gone?.id ?? '');
    const file = sheet.text();
    for (let round = 0; round < 2; round++) {
      sandbox.set({ faults: [{ kind: 'expired-cursor', when: { once: 1 }, on: [] }] });
      expect(await workspace.sync()).toMatchObject({ deleted: none });
    }
    expect(sheet.text()).toBe(file);
    expect(sandbox.stats.byRoute.get, 'not even asked for').toBe(0);
  });

  test('a table that was read while the pages came is not forgotten when their scan begins again', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 60, maxLimit: 20 } });
    await workspace.sync();
    workspace.sandbox.set({
      faults: [
        { kind: 'slow', ms: 300, when: { every: 1 }, on: ['list'] },
        { kind: 'expired-cursor', when: { once: 2 }, on: [] },
      ],
    });
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', targetRows: 60, created: none });
    expect(workspace.sandbox.stats.byRoute.list).toBe(3 + 6);
  });

  test('a cursor that comes again is an error, not an endless loop', async () => {
    await using workspace = await Workspace.open();
    const lead = (nth: number) => ({ id: `lead-${nth}`, companyName: `Lead ${nth}` });
    await using server = await startServer((response, _request, count) => {
      json(response, 200, { items: [lead(count)], nextCursor: count % 2 === 0 ? 'b' : 'a' });
    });
    workspace.configure({ leads: { baseUrl: server.url } });
    const report = await workspace.sync();
    expect(report).toMatchObject({
      status: 'failed',
      created: none,
      problems: [{ code: 'leads.cursor-repeated' }],
    });
    expect(server.seen.map(({ url }) => new URL(url, server.url).searchParams.get('cursor'))).toEqual([
      null,
      'a',
      'b',
    ]);
  });

  /** The `limit` of each request for a page that the sandbox got since its log had so many entries; null: none. */
  const limitsSince = ({ sandbox }: Workspace, from = 0): (string | null)[] =>
    sandbox.log.slice(from).map(({ query }) => new URLSearchParams(query).get('limit'));

  test('a service that rejects any limit is asked without, in the next scans at once; with another size, and after a month, it is tried', async () => {
    await using workspace = await Workspace.open({
      sandbox: { leads: 60, defaultLimit: 25, rejectLimit: true },
    });
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 60 } });
    expect(limitsSince(workspace)).toEqual(['1000', '500', '200', '100', null, null, null]);

    const limitsSent = async (): Promise<(string | null)[]> => {
      const from = workspace.sandbox.log.length;
      expect(await workspace.sync()).toMatchObject({ status: 'succeeded' });
      return limitsSince(workspace, from).filter((limit) => limit !== null);
    };
    expect(await limitsSent()).toEqual([]);
    await workspace.database.pool.query(`update page_limits set learned_at = now() - interval '31 days'`);
    expect(await limitsSent()).toEqual(['1000', '500', '200', '100']);
    expect(await limitsSent()).toEqual([]);
    workspace.configure({ leads: { pageSize: 50 } });
    expect(await limitsSent()).toEqual(['50']);
  });

  test('a page is as large as the service takes: rejected sizes are not asked for again, clamped pages believed', async () => {
    await using workspace = await Workspace.open({
      sandbox: { leads: 450, maxLimit: 200, rejectLimit: 'above-max' },
    });
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', pulled: 450 });
    expect(limitsSince(workspace)).toEqual(['1000', '500', '200', '200', '200']);
    workspace.sandbox.set({ maxLimit: 150, rejectLimit: false });
    const from = workspace.sandbox.log.length;
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', pulled: 450 });
    expect(limitsSince(workspace, from)).toEqual(['200', '200', '200']);
  });

  test('a page that is too large is asked for with half as many leads, and so are the next scans', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 900, maxLimit: 1_000 } });
    const asked: (string | null)[] = [];
    await using between = await startBetween(workspace, (_method, path) => {
      const limit = new URL(path, 'http://localhost').searchParams.get('limit');
      asked.push(limit);
      return Number(limit) > 300 ? 'too-large' : null;
    });
    workspace.configure({ leads: { baseUrl: between.url } });
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', pulled: 900 });
    expect(asked).toEqual(['1000', '500', '250', '250', '250', '250']);
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', pulled: 900 });
    expect(asked.slice(6)).toEqual(['250', '250', '250', '250']);
  });

  test('so is one that takes longer than ten seconds, down to a hundred; the scan goes on where it was', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 1_600, maxLimit: 1_000 } });
    await using app = await workspace.openApp();
    const real = app.contexts.get(connectionName);
    if (real === undefined) throw new Error('the connection is not configured');
    const clock = { ms: 0, now: () => clock.ms, random: () => 0 };
    const leads: LeadsPort = Object.create(real.leads);
    leads.list = async (request, signal) => {
      clock.ms += (request.limit ?? 0) > 250 ? 11_000 : 9_000;
      return real.leads.list(request, signal);
    };
    const request = { mode: 'sync', allow: [], maxAttempts: 1 } as const;
    const result = await advanceRun({ ...real, leads, clock }, request, new AbortController().signal);
    expect(result).toMatchObject({ kind: 'finished', run: { status: 'succeeded', pulled: 1_600 } });
    expect(limitsSince(workspace)).toEqual(['1000', '500', '250']);
    expect(result).toMatchObject({ run: { pageSize: 250 } });
  });
});

describe('a service that fails while edits are pushed', () => {
  test('for one lead alone: that one is put off, the rest is carried, rows included', async () => {
    const { workspace, ids } = await openEdited();
    await using _workspace = workspace;
    const faulty = `/v1/leads/${ids[1]}`;
    let isDown = true;
    await using between = await startBetween(workspace, (method, path) =>
      isDown && method === 'GET' && path === faulty ? 500 : null,
    );
    workspace.configure({ leads: { baseUrl: between.url } });
    const report = await workspace.sync({ maxAttempts: 10, allow: ['other-service'] });
    expect(report).toMatchObject({
      status: 'partial',
      updated: { leads: 2, rows: 1 },
      putOff: 1,
      held: 0,
      problems: [{ code: 'leads.unavailable', leadId: ids[1] }],
    });
    expect(cities(workspace.sandbox.leads, ids.slice(0, 3))).toEqual([true, false, true]);
    expect(cityInRow(workspace, ids[3] ?? '')).toBe('from the lead');
    // Three tries in place, and three of the job.
    expect(between.seen.filter(({ url }) => url === faulty)).toHaveLength(3 * 3);

    isDown = false;
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 1, rows: 0 } });
    expect(cities(workspace.sandbox.leads, ids.slice(0, 3))).toEqual([true, true, true]);
  });

  test.each([
    ['reads', 'get', 3],
    ['writes', 'update', 1],
  ] as const)(
    'for all single %s: the rows get their values, the lead side is put off',
    async (_, route, inPlace) => {
      const { workspace, ids } = await openEdited({ sandbox: { leads: 12 } });
      await using _workspace = workspace;
      const { sandbox, sheet } = workspace;
      for (const id of ids.slice(4, 8)) sheet.edit((row) => row['Lead ID'] === id, { Stage: 'from the row' });
      sandbox.set({ faults: [{ kind: 'status', status: 500, when: { every: 1 }, on: [route] }] });
      const report = await workspace.sync({ maxAttempts: 10 });
      expect(report).toMatchObject({
        status: 'partial',
        updated: { leads: 0, rows: 1 },
        putOff: 7,
        held: 0,
      });
      expect(new Set(report.problems.map(({ code }) => code))).toEqual(new Set(['leads.unavailable']));
      expect(report.problems).toHaveLength(7);
      expect(cityInRow(workspace, ids[3] ?? '')).toBe('from the lead');
      // Three items three times each tell that it is not the items; the other four are not tried, but what was under way.
      const tried = sandbox.log.filter(({ status }) => status === 500).length / inPlace;
      expect(tried).toBeGreaterThanOrEqual(9);
      expect(tried).toBeLessThan(9 + mostLanes);

      sandbox.set({ faults: [] });
      expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 7, rows: 0 } });
      expect(cities(sandbox.leads, ids.slice(0, 3))).toEqual([true, true, true]);
    },
  );

  test('403 for updates: held with the permission named, the rest is carried', async () => {
    const { workspace, ids } = await openEdited();
    await using _workspace = workspace;
    const { sandbox, sheet } = workspace;
    sheet.add({ Company: 'New row GmbH' });
    sandbox.set({ permissions: ['leads:read', 'leads:create'] });
    const report: SyncReport = await workspace.sync();
    expect(report).toMatchObject({
      status: 'partial',
      created: { leads: 1 },
      updated: { leads: 0, rows: 1 },
      held: 3,
    });
    const forbidden = report.problems.filter(({ code }) => code === 'leads.forbidden');
    expect(new Set(forbidden.map(({ leadId }) => leadId))).toEqual(new Set(ids.slice(0, 3)));
    expect(forbidden).toHaveLength(3);
    for (const { message } of forbidden) expect(message).toContain('permission to update leads');
    // One refusal is enough to know.
    expect(sandbox.log.filter(({ method }) => method === 'PATCH')).toHaveLength(1);
    expect(cityInRow(workspace, ids[3] ?? '')).toBe('from the lead');
  });

  test('401 in the middle: failed at once, nothing more is sent, the rest arrives with a good key', async () => {
    const { workspace, ids } = await openEdited();
    await using _workspace = workspace;
    const { sandbox } = workspace;
    const before = sandbox.log.length;
    sandbox.set({ faults: [{ kind: 'revoked', when: { after: 2 }, on: ['update'] }] });
    const report = await workspace.sync({ maxAttempts: 10 });
    expect(report).toMatchObject({ status: 'failed', problems: [{ code: 'leads.unauthenticated' }] });
    expect(report.updated.leads).toBe(1);
    const sent = sandbox.log.slice(before).map(({ method, status }) => `${method} ${status}`);
    expect(sent.slice(0, 3)).toEqual(['GET 200', 'GET 200', 'PATCH 200']);
    const after = sent.slice(sent.indexOf('PATCH 401') + 1);
    expect(sent).toContain('PATCH 401');
    expect(after.length, 'but what was under way').toBeLessThan(mostLanes);
    sandbox.set({ faults: [] });
    expect((await workspace.sync()).status).toBe('succeeded');
    expect(cities(sandbox.leads, ids.slice(0, 3))).toEqual([true, true, true]);
    expect(cityInRow(workspace, ids[3] ?? '')).toBe('from the lead');
  });
});

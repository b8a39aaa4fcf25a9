import { expect, describe, test } from 'vitest';
import type { LeadsPort } from '../../../src/ports/leads-service.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { startBetween } from '../../support/between.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';
import { json, startServer } from '../leads-api/leads-api-server.ts';

const none = { leads: 0, rows: 0 };

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

  test('a restarted scan proves no absence: nothing counts as deleted', async () => {
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

  test('a table that was read meanwhile is not forgotten when the scan of leads begins again', async () => {
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

  /** The `limit` of each request for a page that the sandbox got since its log had n entries; null: none. */
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
    await workspace.database.pool.query(`update services set page_learned_at = now() - interval '31 days'`);
    expect(await limitsSent()).toEqual(['1000', '500', '200', '100']);
    expect(await limitsSent()).toEqual([]);
    workspace.configure({ leads: { pageSize: 50 } });
    expect(await limitsSent()).toEqual(['50']);
  });

  test('a page is as large as the service takes: rejected sizes are not requested again, and smaller pages than requested are accepted', async () => {
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

  test('a page that is too large is requested with half as many leads, also in the next scans', async () => {
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

  test('a page that takes longer than ten seconds is requested with half as many leads, down to a hundred; the scan continues where it was', async () => {
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

import { expect, describe, test } from 'vitest';
import { mostLanes } from '../../../src/leads-api/lanes.ts';
import type { LeadTable } from '../../../src/demo/lead-table.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { startBetween } from '../../support/between.ts';
import { Workspace, type WorkspaceOptions } from '../../support/workspace.ts';

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

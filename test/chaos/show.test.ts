import { describe, expect, test } from 'vitest';
import { createRandom } from '../../src/demo/random.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { BothSides } from '../support/both-sides.ts';
import { services } from '../support/services.ts';
import { until } from '../support/until.ts';
import { Workspace } from '../support/workspace.ts';

const nothing = {
  created: { leads: 0, rows: 0 },
  updated: { leads: 0, rows: 0 },
  deleted: { leads: 0, rows: 0 },
};

async function syncByCommand(workspace: Workspace): Promise<SyncReport> {
  const { code, stdout, stderr } = await workspace.cli('sync', '--json');
  expect(code, stdout + stderr).toBe(0);
  return JSON.parse(stdout) as SyncReport;
}

function writes(workspace: Workspace): number {
  return workspace.sandbox.log.filter(({ method }) => method !== 'GET').length;
}

describe.each(Object.entries(services))('%s', (_, service) => {
  test('1,000 leads arrive, a second sync writes nothing, 20 edits and 3 new ones on each side arrive', async () => {
    await using workspace = await Workspace.open({ sandbox: { ...service, leads: 1000 } });
    const { sandbox, sheet } = workspace;
    const sides = new BothSides(workspace);
    expect(await syncByCommand(workspace)).toMatchObject({
      ...nothing,
      status: 'succeeded',
      pulled: 1000,
      created: { leads: 0, rows: 1000 },
    });
    sides.expectSame();

    const before = { file: sheet.text(), writes: writes(workspace) };
    expect(await syncByCommand(workspace)).toMatchObject({ ...nothing, pulled: 1000, targetRows: 1000 });
    expect({ file: sheet.text(), writes: writes(workspace) }).toEqual(before);

    sides.edit(createRandom(7, 'edits'), 20, 3);
    expect(await syncByCommand(workspace)).toMatchObject({
      created: { leads: 3, rows: 3 },
      updated: { leads: 20, rows: 20 },
      deleted: { leads: 0, rows: 0 },
    });
    sides.expectSame();

    const after = { file: sheet.text(), writes: writes(workspace) };
    expect(await syncByCommand(workspace)).toMatchObject(nothing);
    expect({ file: sheet.text(), writes: writes(workspace) }).toEqual(after);
    expect(sandbox.leads.size).toBe(1006);
  });

  test('a 429 for every 5th request: each wait is kept to, and told', async () => {
    await using workspace = await Workspace.open({
      sandbox: { ...service, leads: 200, maxLimit: 25, defaultLimit: 25 },
    });
    const { sandbox } = workspace;
    const sides = new BothSides(workspace);
    await workspace.sync();
    sides.edit(createRandom(8, 'edits'), 3, 1);
    sandbox.set({
      faults: [{ kind: 'status', status: 429, retryAfter: { seconds: 1 }, when: { every: 5 }, on: [] }],
    });

    const report = await syncByCommand(workspace);

    sides.expectSame();
    const { throttled, early } = sandbox.stats;
    expect(throttled).toBeGreaterThanOrEqual(3);
    expect(early).toBe(0);
    expect(report.waitedMs).toBeGreaterThanOrEqual(throttled * 1000);
    // No wait is cut short, none is drawn out: that would be twice as long.
    expect(report.waitedMs).toBeLessThan(throttled * 1900);
    expect(report.durationMs).toBeGreaterThanOrEqual(report.waitedMs);
  });

  test('kill -9 in the middle of paging: the next sync goes on from the last stored page', async () => {
    await using workspace = await Workspace.open({
      sandbox: {
        ...service,
        leads: 1000,
        faults: [{ kind: 'slow', ms: 60_000, when: { once: 12 }, on: ['list'] }],
      },
    });
    const { sandbox } = workspace;
    const sides = new BothSides(workspace);
    const command = workspace.start(['sync', '--json']);
    const storedPages = async (): Promise<number> => {
      const { rows } = await workspace.database.pool.query<{ pages: number }>('select pages from runs');
      return rows[0]?.pages ?? 0;
    };
    await until('a page is asked for that does not come', () => sandbox.stats.byRoute.list === 12);
    await until('some pages are stored', async () => (await storedPages()) >= 2);
    await command.kill();
    const stored = await storedPages();
    expect(stored).toBeLessThan(12);
    sandbox.set({ faults: [] });
    const asked = sandbox.log
      .filter(({ method, status }) => method === 'GET' && status === 200)
      .map(({ query }) => query);
    const from = sandbox.log.length;

    expect(await syncByCommand(workspace)).toMatchObject({ pulled: 1000, created: { leads: 0, rows: 1000 } });

    sides.expectSame();
    const again = sandbox.log
      .slice(from)
      .filter(({ method, query }) => method === 'GET' && asked.slice(0, stored).includes(query));
    expect(again).toEqual([]);
    expect(await workspace.sync()).toMatchObject(nothing);
  });

  test.each([
    ['PATCH', 'update', 4],
    ['POST', 'create', 2],
  ] as const)(
    'kill -9 in the middle of pushing, at a %s: nothing is lost and nothing is there twice',
    async (_method, route, nth) => {
      await using workspace = await Workspace.open({ sandbox: { ...service, leads: 120 } });
      const { sandbox } = workspace;
      const sides = new BothSides(workspace);
      await workspace.sync();
      sides.edit(createRandom(9, 'edits'), 8, 4);
      // The reply to it is on its way while the process is killed.
      sandbox.set({ faults: [{ kind: 'slow', ms: 60_000, when: { once: nth }, on: [route] }] });
      const before = sandbox.stats.byRoute[route];
      const command = workspace.start(['sync', '--json']);
      await until(`${route} ${nth} is received`, () => sandbox.stats.byRoute[route] >= before + nth);
      await command.kill();

      await syncByCommand(workspace);

      sides.expectSame();
      expect(await workspace.sync()).toMatchObject(nothing);
    },
  );
});

import { expect, test } from 'vitest';
import { describeForecast, type PlanOutput } from '../../../src/cli/plan-output.ts';
import { refused } from '../../../src/leads-api/rate-limiter.ts';
import type { SandboxOptions } from '../../../src/demo/options.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { createThrottle } from '../../../src/store/services.ts';
import { steadyClock } from '../../../src/ports/clock.ts';
import { oneObject } from '../../support/cli.ts';
import { Workspace } from '../../support/workspace.ts';

/** A synced connection in which one row was deleted by hand and one lead in the service, each for one scan already. */
async function openWithDeletions(sandbox: Partial<SandboxOptions>): Promise<Workspace> {
  const workspace = await Workspace.open({
    sandbox: { leads: 120, maxLimit: 50, defaultLimit: 50, ...sandbox },
    connection: { sync: { onRowDeleted: 'delete-lead' } },
  });
  await workspace.sync();
  const [one, other] = workspace.sandbox.leads.list();
  workspace.sheet.remove((row) => row['Lead ID'] === one?.id);
  workspace.sandbox.leads.remove(other?.id ?? '');
  await workspace.sync();
  return workspace;
}

test.each([
  ['that knows limit', {}],
  ['that does not', { rejectLimit: true }],
])(
  'with nobody editing, a sync sends the requests that its plan said: a service %s',
  async (_name, sandbox) => {
    const scan = 3;
    await using workspace = await openWithDeletions(sandbox);
    const { sheet, sandbox: service } = workspace;
    const ids = service.leads.list().map(({ id }) => id);
    for (const id of ids.slice(10, 14)) sheet.edit((row) => row['Lead ID'] === id, { City: `Ulm of ${id}` });
    for (const id of ids.slice(13, 20)) service.leads.edit(id, { stage: 'won' });
    sheet.add({ Company: 'New in the table', City: 'Bonn' });
    sheet.add({ Company: 'Also new', City: 'Kiel' });
    service.leads.add({ companyName: 'New in the service' });

    const planned = await workspace.cli('plan', '--json');
    const { actions, forecast } = oneObject(planned) as unknown as PlanOutput;
    const kinds = actions.map(({ kind }) => kind);
    for (const kind of ['update-lead', 'update-row', 'create-lead', 'create-row', 'delete-lead', 'mark-row'])
      expect(kinds).toContain(kind);
    // 4 updates and 1 deletion of leads, 2 new leads, 1 proof that a lead is gone.
    expect(forecast).toMatchObject({
      leadRequests: scan + 4 * 2 + 3 + 3 + 2 * 2 + 1,
      targetRequests: 0,
      waitMs: 0,
    });
    expect(Date.parse(forecast?.finishAt ?? '')).toBeGreaterThan(Date.now() - 60_000);

    const from = service.stats.requests;
    const { requests } = oneObject(await workspace.cli('sync', '--json')) as unknown as SyncReport;
    expect(requests.leads).toBe(forecast?.leadRequests);
    expect(service.stats.requests - from).toBe(forecast?.leadRequests);
    const { forecast: next } = oneObject(await workspace.cli('plan', '--json')) as unknown as PlanOutput;
    expect(next?.leadRequests).toBe(scan);
  },
);

test('a service that limits requests makes it wait, and the plan says how long', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 60 } });
  const { sandbox, sheet } = workspace;
  await workspace.sync();
  for (const { id } of sandbox.leads.list().slice(0, 10))
    sheet.edit((row) => row['Lead ID'] === id, { City: `Ulm of ${id}` });
  await using app = await workspace.openApp();
  const throttle = createThrottle(app.pool, sandbox.url, sandbox.apiKey, steadyClock);
  const now = steadyClock.now();
  // A request in ten seconds, but the next one at once.
  const pace = {
    ...refused(null, now, 0),
    rate: 0.1,
    step: 1e-9,
    nextAt: 0,
  };
  await throttle.pauseUntil(now, pace);
  const planned = oneObject(await workspace.cli('plan', '--json')) as unknown as PlanOutput;
  const { leadRequests = 0, waitMs = 0, durationMs = 0 } = planned.forecast ?? {};
  expect(leadRequests).toBe(1 + 10 * 2 + 3);
  // 24 gaps, less what each request takes by itself.
  expect(waitMs).toBeLessThanOrEqual(24 * 10_200);
  expect(durationMs).toBeGreaterThan(24 * 9_000);
  const text = planned.forecast && describeForecast(planned.forecast, 'UTC');
  expect(text).toMatch(
    /^24 requests to the Leads service, about [\d.]+ s, [\d.]+ s of it waiting for the service's limit, until 20/,
  );
});

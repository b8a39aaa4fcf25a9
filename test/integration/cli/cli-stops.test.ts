import { expect, test } from 'vitest';
import type { PlanOutput } from '../../../src/cli/plan-output.ts';
import { parseFaults } from '../../../src/demo/faults.ts';
import { startSandbox } from '../../../src/demo/sandbox.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { oneObject } from '../../support/cli.ts';
import { until } from '../../support/until.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const none = { leads: 0, rows: 0 };

test('plan and sync that the guard stops: 4, nothing is written; --allow goes on', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 12 } });
  await workspace.sync();
  for (const lead of workspace.sandbox.leads.list()) workspace.sandbox.leads.edit(lead.id, { city: 'Ulm' });
  const file = workspace.sheet.text();

  const plan = await workspace.cli('plan', '--json');
  expect(plan.code).toBe(4);
  const { guard } = oneObject(plan) as unknown as PlanOutput;
  expect(guard.ok).toBe(false);
  expect(guard.refusals.map(({ code }) => code)).toEqual(['max-changes', 'whole-field']);
  const sync = await workspace.cli('sync', '--json');
  expect(sync.code).toBe(4);
  expect(oneObject(sync)).toMatchObject({ status: 'stopped', updated: none, created: none, deleted: none });
  expect(workspace.sheet.text()).toBe(file);
  // Each refusal is overridden by itself.
  expect((await workspace.cli('sync', '--allow', 'max-changes', '--json')).code).toBe(4);
  const said = await workspace.cli('sync');
  expect(said.stdout).toContain('leadsync sync --connection main --allow max-changes --allow whole-field');
  const both = await workspace.cli('sync', '--allow', 'max-changes', '--allow', 'whole-field', '--json');
  expect(both.code).toBe(0);
  expect(oneObject(both)).toMatchObject({ updated: { leads: 0, rows: 12 } });
});

test('a nightly sync that the guard stops meanwhile does not stand in for one that a person has allowed', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 12 } });
  await workspace.sync();
  for (const lead of workspace.sandbox.leads.list()) workspace.sandbox.leads.edit(lead.id, { city: 'Ulm' });
  await using app = await workspace.openApp();
  const context = app.contexts.get(connectionName);
  if (context === undefined) throw new Error('the connection is not configured');
  // Both in the queue before either is taken.
  const since = Date.now();
  const sync = async (allow: readonly string[]): Promise<string> => {
    const request = { mode: 'sync', since, allow, maxAttempts: 3 } as const;
    const result = await advanceRun(context, request, new AbortController().signal);
    return result.kind === 'finished' ? result.run.status : result.why;
  };
  expect(await sync([])).toBe('stopped');
  expect(await sync(['max-changes', 'whole-field'])).toBe('succeeded');
  expect(await sync([])).toBe('succeeded');
  expect((await workspace.cli('status', '--runs', '--json')).json()).toMatchObject({ runs: { length: 3 } });
});

test('what was remembered of another service: 4, nothing is written, --allow other-service goes on', async () => {
  await using first = await Workspace.open({ sandbox: { leads: 5, seed: 1 } });
  await using second = await Workspace.open({ sandbox: { leads: 5, seed: 2 } });
  await first.sync();
  const file = first.sheet.text();
  first.configure({ leads: { baseUrl: second.sandbox.url } });
  const env = { LEADS_API_KEY: second.sandbox.apiKey };

  const refused = await first.start(['sync', '--json'], { env }).ended;
  expect(refused.code).toBe(4);
  expect(oneObject(refused)).toMatchObject({
    status: 'stopped',
    problems: [{ code: 'guard.other-service', message: expect.stringContaining(first.sandbox.url) }],
  });
  expect(first.sheet.text()).toBe(file);
  expect(second.sandbox.log.filter(({ method }) => method !== 'GET')).toEqual([]);
  // Asking again does not wear it down.
  expect((await first.start(['sync', '--json'], { env }).ended).code).toBe(4);

  const allowed = await first.start(['sync', '--allow', 'other-service', '--json'], { env }).ended;
  expect(oneObject(allowed)).toMatchObject({ created: { leads: 0, rows: 5 } });
  expect([0, 3]).toContain(allowed.code);
  expect(second.sandbox.leads.size).toBe(5);
  // From now on it is the known one.
  const after = await first.start(['sync', '--allow', 'max-deletes', '--json'], { env }).ended;
  expect([0, 3]).toContain(after.code);
});

test('a wrong key (4), a key without permission (1): as a report', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const cases = [
    { env: { LEADS_API_KEY: 'not-the-key' }, code: 'leads.unauthenticated', exit: 4 },
    { before: () => workspace.sandbox.set({ permissions: [] }), code: 'leads.forbidden', exit: 1 },
  ];
  for (const { env = {}, before = () => {}, code, exit } of cases) {
    before();
    const sync = await workspace.start(['sync', '--json'], { env }).ended;
    expect(sync.code).toBe(exit);
    expect(oneObject(sync)).toMatchObject({ status: 'failed', connection: 'main', problems: [{ code }] });
    const plan = await workspace.start(['plan', '--json'], { env }).ended;
    expect(plan.code).toBe(exit);
    // What was not compared may not be carried out.
    const guard = { ok: false, refusals: [] };
    expect(oneObject(plan)).toMatchObject({ actions: [], guard, problems: [{ code }] });
  }
});

test('plan of a connection that has to wait: failed, to the letter of the contract; those after it are made', async () => {
  await using limited = await startSandbox({ faults: parseFaults('429:retryAfter=3600') });
  await using workspace = await Workspace.open({
    sandbox: { leads: 3 },
    connection: { leads: { baseUrl: limited.url, apiKey: limited.apiKey } },
    others: { second: {} },
  });
  const plan = await workspace.cli('plan', '--json');
  expect(plan.code).toBe(1);
  const { plans } = oneObject(plan) as unknown as { plans: PlanOutput[] };
  expect(plans).toEqual([
    {
      planId: '',
      connection: 'main',
      actions: [],
      guard: { ok: false, refusals: [] },
      problems: [{ code: 'run.waiting', message: expect.stringContaining('leadsync resume') }],
    },
    expect.objectContaining({ connection: 'second', guard: { ok: true, refusals: [] } }),
  ]);
  expect(plans[1]?.actions).toHaveLength(3);

  const told = await workspace.cli('plan', '--summary');
  expect(told.code).toBe(1);
  expect(told.stdout).toMatch(
    /^main: the plan failed\n {2}! main waits until .*\n {2}nothing was written\nsecond: /,
  );
});

test('stopped by SIGTERM while the service is down: 1, as a report', async () => {
  await using workspace = await Workspace.open();
  await workspace.sandbox.close();
  const sync = workspace.start(['sync', '--json'], { env: { LOG_LEVEL: 'debug' } });
  await until('it has tried', () => sync.stderr.includes('leads.unreachable'));
  const stopped = await sync.kill('SIGTERM');
  expect(stopped.code).toBe(1);
  expect(oneObject(stopped)).toMatchObject({ status: 'failed', problems: [{ code: 'process.stopped' }] });
});

test('stopped in the first of two connections: the second is not begun', async () => {
  await using workspace = await Workspace.open({
    connection: { leads: { baseUrl: 'http://127.0.0.1:9' } },
    others: { second: {} },
  });
  const sync = workspace.start(['sync', '--json'], { env: { LOG_LEVEL: 'debug' } });
  await until('it has tried', () => sync.stderr.includes('leads.unreachable'));
  const { runs } = oneObject(await sync.kill('SIGINT')) as unknown as { runs: object[] };
  const stopped = { status: 'failed', problems: [{ code: 'process.stopped' }] };
  expect(runs).toMatchObject([
    { connection: 'main', ...stopped },
    { connection: 'second', ...stopped },
  ]);
  const begun = await workspace.database.pool.query('select connection from runs');
  expect(begun.rows).toEqual([{ connection: 'main' }]);
  expect(workspace.sandbox.stats.requests).toBe(0);
});

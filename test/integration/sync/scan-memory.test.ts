import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ByteBudget, memoryBudget } from '../../../src/lib/memory.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { loadBaselines, sizeOfBaselines } from '../../../src/store/load-baselines.ts';
import { type Run, updateRun } from '../../../src/store/runs.ts';
import type { StepContext } from '../../../src/sync/context.ts';
import { openScan } from '../../../src/sync/open-scan.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { ScanMemory } from '../../../src/sync/scan-bounds.ts';
import { fields, type Scene, useScenes } from '../store/store-scene.ts';
import { otherTarget } from '../../support/other-target.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const scene = useScenes();
const acme = { companyName: 'Acme', stage: 'new' };
const won = { companyName: 'Acme', stage: 'won' };

/** What opening a scan needs of a step. */
function stepOf({ pool, connection }: Scene, memory: ScanMemory): StepContext {
  const lease = { assertHeld: () => Promise.resolve() };
  const log = pino({ enabled: false });
  return { pool, lease, connection: { name: connection, fields }, log, memory } as never;
}

/** A scan that was interrupted after its first page: `a` as in the baseline, `b` edited. */
async function interrupted(here: Scene): Promise<Run> {
  const pairs = ['a', 'b', 'c'].map((leadId, nth) => ({ leadId, values: acme, row: nth + 2 }));
  await advanceBaselines(here.pool, here.connection, pairs);
  const run = await here.run();
  const live = await here.live(run);
  await here.seeLeads(run, { a: acme, b: won }, live);
  return updateRun(here.pool, run.id, { cursor: 'next', pages: 1, pulled: 2, moves: live.base.moves });
}

test('an interrupted scan goes on with what it has met', async () => {
  const here = scene();
  const run = await interrupted(here);
  using memory = new ScanMemory();
  const opened = await openScan(stepOf(here, memory), run);
  expect(opened.run).toEqual(run);
  expect(opened.scan.seeLead('b', acme)).toBe(true);
  expect([...opened.scan.absent()].filter(({ lead }) => lead)).toMatchObject([{ leadId: 'c' }]);
  expect((await openScan(stepOf(here, memory), run)).scan).toBe(opened.scan);
});

test.each(['pull', 'read'] as const)(
  'no edit is lost: a scan that was interrupted in `%s` begins again when a pair has moved since',
  async (phase) => {
    const here = scene();
    const run = await updateRun(here.pool, (await interrupted(here)).id, { phase });
    // What `a` showed is its baseline no more.
    await advanceBaselines(here.pool, here.connection, [{ leadId: 'a', values: won }]);
    using memory = new ScanMemory();
    const opened = await openScan(stepOf(here, memory), run);
    expect(opened.run).toMatchObject({ phase: 'pull', cursor: null, pages: 0, pulled: 0 });
    expect([...opened.scan.leads()]).toEqual([]);
    opened.scan.seeLead('a', acme);
    expect(opened.scan.lead('a')).toEqual(acme);
  },
);

test('baselines that do not fit beside those of others wait for these; what does not fit alone is refused with what it takes', async () => {
  const [here, other] = [scene(), scene()];
  const pairs = Array.from({ length: 3_000 }, (_, nth) => ({ leadId: `lead-${nth}`, values: acme }));
  for (const { pool, connection } of [here, other]) await advanceBaselines(pool, connection, pairs);
  const budget = new ByteBudget(201 * 1024 ** 2, 240 * 1024);
  const [left, run] = [budget.left, await here.run()];
  const open = (where: Scene, of: Run) => openScan(stepOf(where, new ScanMemory(budget)), of);
  {
    using memory = new ScanMemory(budget);
    await openScan(stepOf(other, memory), await other.run());
    expect(budget.left).toBeLessThan(left);
    await expect(open(here, run)).rejects.toMatchObject({
      code: 'memory.too-small',
      retry: 'later',
      retryAfterMs: expect.any(Number),
    });
  }
  expect(budget.left).toBe(left);
  expect((await open(here, run)).scan.base.size).toBe(3_000);
  using alone = new ScanMemory(new ByteBudget(201 * 1024 ** 2, 200 * 1024));
  await expect(openScan(stepOf(here, alone), run)).rejects.toMatchObject({
    code: 'memory.too-small',
    retry: 'never',
    message: expect.stringMatching(
      /^what is remembered of 3,000 leads takes 1 MB of memory; this process may use 1 MB of its 201 MB for all/,
    ),
  });
  expect(alone.budget.left).toBe(alone.budget.limit);
});

test('what both sides show instead of the baselines counts too: a scan that finds more than there is room for stops', async () => {
  const here = scene();
  const run = await here.run();
  const budget = new ByteBudget(201 * 1024 ** 2, 600 * 1024);
  const see = async (memory: ScanMemory): Promise<void> => {
    const { scan } = await openScan(stepOf(here, memory), run);
    for (let nth = 0; nth < 5_000; nth++) scan.seeLead(`lead-${nth}`, { companyName: 'x'.repeat(50) });
    for (let nth = 0; nth < 5_000; nth++)
      scan.seeRow(
        { ordinal: nth, row: nth + 2, leadId: null, cells: acme, status: null },
        { isWhole: true, usualStatus: null },
      );
  };
  {
    using memory = new ScanMemory(budget);
    await expect(see(memory)).rejects.toMatchObject({
      code: 'memory.too-small',
      retry: 'never',
      message: expect.stringContaining('what both sides show instead of it'),
    });
  }
  expect(budget.left).toBe(budget.limit);
  using other = new ScanMemory(budget);
  other.take(100 * 1024);
  using memory = new ScanMemory(budget);
  await expect(see(memory)).rejects.toMatchObject({ code: 'memory.too-small', retry: 'later' });
});

test('a table that is read once more takes no more memory than once', async () => {
  const here = scene();
  using memory = new ScanMemory();
  const { scan } = await openScan(stepOf(here, memory), await here.run());
  const taken: number[] = [];
  for (const _ of [1, 2]) {
    scan.forgetRows();
    scan.forgetLeads();
    for (let nth = 0; nth < 3_000; nth++) {
      scan.seeLead(`lead-${nth}`, acme);
      const row = { ordinal: nth, row: nth + 2, leadId: `lead-${nth}`, cells: acme, status: null };
      scan.seeRow(row, { isWhole: true, usualStatus: null });
    }
    taken.push(memory.taken);
  }
  expect(taken[1]).toBe(taken[0]);
});

test('a run waits for memory that others have without a try, and needs none once both sides are read', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  const takenInWrites: number[] = [];
  const target = otherTarget(real.target, {
    write: (...args) => {
      takenInWrites.push(memoryBudget.limit - memoryBudget.left);
      return real.target.write(...args);
    },
  });
  const context = { ...real, log: pino({ enabled: false }), target };
  const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 1 } as const;
  const sync = () => advanceRun(context, request, new AbortController().signal);
  expect(await sync()).toMatchObject({ kind: 'finished', run: { report: { status: 'succeeded' } } });
  workspace.sandbox.leads.add({ companyName: 'Bolt' });
  const others = memoryBudget.left;
  memoryBudget.take(others);
  for (const _ of [1, 2]) expect(await sync()).toMatchObject({ kind: 'again', why: 'busy' });
  memoryBudget.give(others);
  takenInWrites.length = 0;
  expect(await sync()).toMatchObject({
    kind: 'finished',
    run: { report: { status: 'succeeded' }, attempts: 0 },
  });
  expect(takenInWrites).not.toEqual([]);
  expect(takenInWrites.every((taken) => taken === 0)).toBe(true);
});

test('what `check` counts is no less than what a run reserves', async () => {
  const here = scene();
  const long = { companyName: 'x'.repeat(200), stage: 'new' };
  const pairs = Array.from({ length: 5_000 }, (_, nth) => ({ leadId: `lead-${nth}`, values: long }));
  await advanceBaselines(here.pool, here.connection, pairs);
  let reserved = 0;
  await loadBaselines(here.pool, here.connection, fields, (bytes) => (reserved += bytes));
  expect(reserved).toBeGreaterThan(1024 ** 2);
  const { bytes } = await sizeOfBaselines(here.pool, here.connection);
  expect(bytes).toBeGreaterThanOrEqual(reserved);
});

test('a lead that shows a long baseline shows it as before, and one letter of it makes another one', async () => {
  const here = scene();
  const long = { companyName: 'ü'.repeat(1_500), stage: 'new' };
  await advanceBaselines(here.pool, here.connection, [{ leadId: 'a', values: long }]);
  using memory = new ScanMemory();
  const { scan } = await openScan(stepOf(here, memory), await here.run());
  expect(scan.base.length(0)).toBeGreaterThan(3_000);
  expect(scan.base.isShown(0, long)).toBe(true);
  expect(scan.base.isShown(0, { ...long, companyName: `${'ü'.repeat(1_499)}u` })).toBe(false);
});

import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ByteBudget } from '../../../src/lib/byte-budget.ts';
import { advanceBaselines } from '../../../src/store/baselines.ts';
import { type Run, updateRun } from '../../../src/store/runs.ts';
import { type StepContext } from '../../../src/sync/context.ts';
import { openScan } from '../../../src/sync/open-scan.ts';
import { ScanMemory } from '../../../src/sync/scan-memory.ts';
import { fields, type Scene, stagedCounts, useScenes } from '../store/store-scene.ts';

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
  await here.stageLeads(run, { a: acme, b: won }, live);
  return updateRun(here.pool, run.id, { cursor: 'next', pages: 1, pulled: 2, moves: live.base.moves });
}

test('an interrupted scan goes on with what it has met', async () => {
  const here = scene();
  const run = await interrupted(here);
  using memory = new ScanMemory();
  const opened = await openScan(stepOf(here, memory), run);
  expect(opened.run).toEqual(run);
  expect(opened.scan.seeLead('b', acme)).toBe('again');
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
    expect(await stagedCounts(here.pool, run.id)).toEqual({ leads: 0, rows: 0 });
    expect(opened.scan.seeLead('a', acme)).toBe('moved');
  },
);

test('baselines that do not fit are refused with what they take, and those of all connections count', async () => {
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
      retry: 'never',
      message: expect.stringMatching(
        /^what is remembered of 3,000 leads takes 1 MB of memory; this process may use 1 MB of its 201 MB for all/,
      ),
    });
  }
  expect(budget.left).toBe(left);
  expect((await open(here, run)).scan.base.size).toBe(3_000);
});

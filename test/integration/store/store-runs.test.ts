import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { approvalOf } from '../../../src/store/approvals.ts';
import {
  clearScan,
  countRequests,
  finishRun,
  getRun,
  insertRun,
  lastRun,
  nextRound,
  openRun,
  pauseRun,
  resumeRun,
  type Run,
  updateRun,
} from '../../../src/store/runs.ts';
import { logLeads } from '../../../src/store/run-sights.ts';
import { type Scene, useScenes } from './store-scene.ts';

const scene = useScenes();

/** The checkpoint of a page. */
async function logCursor(here: Scene, run: Run): Promise<void> {
  await logLeads(here.pool, run.id, (await here.live(run)).takeLeads(['c']));
  expect((await here.live(run)).useCursors(['c'])).toBe(false);
}
const acme = { companyName: 'Acme', stage: 'new' };

/** The same run, a moment later. */
const at = (run: Run): Run => ({ ...run, idleMs: expect.any(Number) as number });

describe('a run', () => {
  test('begins with everything before it', async () => {
    const here = scene();
    const before = Date.now();
    const run = await insertRun(here.pool, {
      connection: here.connection,
      mode: 'plan',
      baseUrl: 'http://127.0.0.1:1',
      settingsHash: 'h',
      allow: ['x'],
    });
    expect(run).toMatchObject({
      connection: here.connection,
      mode: 'plan',
      status: 'running',
      phase: 'pull',
      round: 1,
      settingsHash: 'h',
      allow: ['x'],
      cursor: null,
      pageSize: null,
      scanIncomplete: false,
      scanRestarted: false,
      pages: 0,
      pulled: 0,
      attempts: 0,
      pausedAt: null,
      waitedMs: 0,
      leadRequests: 0,
      problems: [],
      refusals: [],
      report: null,
      finishedAt: null,
    });
    for (const time of [run.createdAt, run.progressAt, run.scanStartedAt]) {
      expect(Math.abs(time - before)).toBeLessThan(10_000);
    }
    expect(await getRun(here.pool, run.id)).toEqual(at(run));
  });

  test('is the only open one of its connection and mode', async () => {
    const [here, other] = [scene(), scene()];
    const run = await here.run();
    await expect(here.run()).rejects.toMatchObject({ code: '23505' });
    await other.run();
    const plan = await insertRun(here.pool, {
      connection: here.connection,
      mode: 'plan',
      baseUrl: 'http://127.0.0.1:1',
      settingsHash: 'h',
      allow: [],
    });
    expect(await openRun(here.pool, here.connection, 'sync')).toEqual(at(run));
    expect(await openRun(here.pool, here.connection, 'plan')).toEqual(at(plan));
    await finishRun(here.pool, run.id, 'succeeded', null);
    expect(await openRun(here.pool, here.connection, 'sync')).toBeNull();
    await here.run();
  });

  test('takes each step that is set, and nothing else changes', async () => {
    const here = scene();
    const run = await here.run();
    await here.pool.query(`update runs set progress_at = now() - interval '1 hour' where id = $1`, [run.id]);
    const patch = {
      phase: 'push-leads',
      cursor: 'c',
      pageSize: 0,
      scanIncomplete: true,
      scanRestarted: true,
      pages: 3,
      pulled: 250,
      targetRows: 9,
      attempts: 2,
      problems: [{ code: 'p', message: 'm', row: 4 }],
      refusals: [{ code: 'r', message: 'm' }],
      moves: 7,
    } as const;
    const updated = await updateRun(here.pool, run.id, patch);
    expect(updated).toEqual({ ...run, ...patch, progressAt: expect.any(Number), idleMs: 0 });
    expect(Math.abs(updated.progressAt - Date.now())).toBeLessThan(10_000);
    expect(await updateRun(here.pool, run.id, { cursor: null })).toMatchObject({ ...patch, cursor: null });
    expect(await updateRun(here.pool, run.id, {})).toMatchObject({ ...patch, cursor: null });
  });

  test('that is not there is a mistake', async () => {
    const here = scene();
    expect(await getRun(here.pool, 0)).toBeNull();
    await expect(updateRun(here.pool, 0, { pages: 1 })).rejects.toThrow(/not in the database/);
  });

  test('ends with its report, in the order in which it was written, and without what its scan has seen', async () => {
    const here = scene();
    const run = await here.scan({ a: acme }, [['a', acme]]);
    await logCursor(here, run);
    const report = { z: 1, a: { y: 2, b: 3 } };
    const finished = await finishRun(here.pool, run.id, 'partial', report);
    expect(finished).toMatchObject({ status: 'partial', finishedAt: expect.any(Number) });
    expect(JSON.stringify(finished.report)).toBe(JSON.stringify(report));
    expect([...(await here.live(run)).leads()]).toEqual([]);
    expect((await here.live(run)).useCursors(['c'])).toBe(true);
  });

  test('hands its reviewed lines on to the next run of their approval only when it failed', async () => {
    const { pool, connection } = scene();
    const approval = randomUUID();
    const line = { id: '1', kind: 'update-lead', leadId: 'a', row: 2, fingerprint: 'p' } as const;
    const approved = { planId: 1, lines: [line] };
    const wanted = { connection, mode: 'sync', baseUrl: '', settingsHash: '', allow: [], approval } as const;
    const first = await insertRun(pool, { ...wanted, approved });
    expect(await approvalOf(pool, first)).toEqual(approved);
    await finishRun(pool, first.id, 'failed', null);
    const second = await insertRun(pool, wanted);
    expect(await approvalOf(pool, second)).toEqual(approved);
    await finishRun(pool, second.id, 'partial', null);
    expect(await approvalOf(pool, second)).toEqual({ planId: 0, lines: [] });
    expect(await approvalOf(pool, await insertRun(pool, { ...wanted, approval: null }))).toBeNull();
  });

  test('the last one is the newest that has ended, in its mode', async () => {
    const here = scene();
    expect(await lastRun(here.pool, here.connection, 'sync')).toBeNull();
    const first = await here.run();
    await finishRun(here.pool, first.id, 'failed', null);
    const second = await here.run();
    const ended = await finishRun(here.pool, second.id, 'succeeded', { runId: String(second.id) });
    await here.run();
    expect(await lastRun(here.pool, here.connection, 'sync')).toEqual(at(ended));
    expect(await lastRun(here.pool, here.connection, 'plan')).toBeNull();
  });
});

describe('another round', () => {
  test('begins the scan anew and keeps what was counted', async () => {
    const here = scene();
    const run = await here.scan({ a: acme }, [['a', acme]]);
    await logCursor(here, run);
    await here.pool.query(`update runs set scan_started_at = now() - interval '1 hour' where id = $1`, [
      run.id,
    ]);
    await updateRun(here.pool, run.id, {
      phase: 'finish',
      cursor: 'c',
      scanIncomplete: true,
      scanRestarted: true,
      pageSize: 0,
      pages: 3,
    });
    const again = await nextRound(here.pool, run.id);
    expect(again).toMatchObject({
      round: 2,
      phase: 'pull',
      cursor: null,
      scanIncomplete: false,
      scanRestarted: false,
      pageSize: 0,
      pages: 3,
      status: 'running',
    });
    expect(Math.abs(again.scanStartedAt - Date.now())).toBeLessThan(10_000);
    expect([...(await here.live(run)).leads()]).toEqual([]);
    expect((await here.live(run)).useCursors(['c'])).toBe(true);
  });

  test('what the scans of other runs have seen stays', async () => {
    const [here, other] = [scene(), scene()];
    const run = await here.scan({ a: acme }, []);
    const foreign = await other.scan({ a: acme }, []);
    await clearScan(here.pool, run.id);
    expect([...(await here.live(run)).leads()]).toEqual([]);
    expect([...(await other.live(foreign)).leads()]).toEqual(['a']);
  });
});

describe('waiting', () => {
  test('is counted from the first pause to the resumption, and adds up', async () => {
    const here = scene();
    const run = await here.run();
    const back = (seconds: number) =>
      here.pool.query(`update runs set paused_at = paused_at - $2 * interval '1 s' where id = $1`, [
        run.id,
        seconds,
      ]);
    for (const total of [60_000, 120_000]) {
      await pauseRun(here.pool, run.id);
      await back(60);
      const paused = await getRun(here.pool, run.id);
      await pauseRun(here.pool, run.id);
      expect((await getRun(here.pool, run.id))?.pausedAt).toBe(paused?.pausedAt);
      await resumeRun(here.pool, run.id);
      const resumed = await getRun(here.pool, run.id);
      expect(resumed?.pausedAt).toBeNull();
      expect(resumed?.waitedMs).toBeGreaterThanOrEqual(total);
      expect(resumed?.waitedMs).toBeLessThan(total + 10_000);
    }
  });

  test('is nothing without a pause', async () => {
    const here = scene();
    const run = await here.run();
    await resumeRun(here.pool, run.id);
    expect(await getRun(here.pool, run.id)).toMatchObject({ waitedMs: 0, pausedAt: null });
  });
});

test('requests add up', async () => {
  const here = scene();
  const run = await here.run();
  await countRequests(here.pool, run.id, { leads: 3, target: 1 });
  await countRequests(here.pool, run.id, { leads: 4, target: 0 });
  expect(await getRun(here.pool, run.id)).toMatchObject({ leadRequests: 7, targetRequests: 1 });
});

import { describe, expect, test } from 'vitest';
import { LiveScan } from '../../../src/core/merge/live-scan.ts';
import { Baselines } from '../../../src/core/merge/records.ts';
import { insertActions, visibleActions } from '../../../src/store/actions.ts';
import { listDecisions, recordConflicts } from '../../../src/store/conflicts.ts';
import { history, recordHistory } from '../../../src/store/history.ts';
import { beginIntent, changeIntents, openIntents } from '../../../src/store/intents.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { moveBaselines } from '../../../src/store/baselines.ts';
import { knownService } from '../../../src/store/places.ts';
import { prune } from '../../../src/store/retention.ts';
import { listRuns } from '../../../src/store/run-list.ts';
import {
  finishRun,
  insertRun,
  lastRun,
  openRun,
  type RunMode,
  type RunStatus,
} from '../../../src/store/runs.ts';
import { fields, type Scene, useScenes } from './store-scene.ts';
import { field, ids, nothing, pruneOf } from './retention-scene.ts';

const scene = useScenes();

/** A finished run of n days ago with an action and a line of history; returns its id. */
async function finishedRun(
  here: Scene,
  daysAgo: number,
  options: { mode?: RunMode; status?: RunStatus; url?: string; actions?: number } = {},
): Promise<number> {
  const { mode = 'sync', status = 'succeeded', url = 'http://old', actions = 1 } = options;
  const { pool, connection } = here;
  const run = await insertRun(pool, { connection, mode, baseUrl: url, settingsHash: 'h', allow: [] });
  const change = { stage: { from: 'a', to: 'b', rule: 'row-edited' as const } };
  await insertActions(
    pool,
    run,
    Array.from({ length: actions }, (_, index) => ({
      kind: 'update-lead' as const,
      leadId: `lead-${index}`,
      row: 2,
      contentHash: '',
      changes: change,
      expect: {},
      reason: 'row-edited',
    })),
  );
  const [first] = await visibleActions(pool, run);
  await recordHistory(pool, [{ actionId: first?.id ?? 0, leadId: 'lead-0', changes: change }]);
  await finishRun(pool, run.id, status, null);
  await pool.query(
    `update runs set finished_at = now() - $2 * interval '1 day', created_at = now() - $2 * interval '1 day' where id = $1`,
    [run.id, daysAgo],
  );
  await pool.query(`update actions set written_at = now() - $2 * interval '1 day' where run_id = $1`, [
    run.id,
    daysAgo,
  ]);
  return run.id;
}

async function count({ pool, connection }: Scene): Promise<{ history: number; actions: number }> {
  const { rows } = await pool.query<{ history: number; actions: number }>(
    `select (select count(*)::int from ${history} h where connection = $1) as history,
       (select count(*)::int from actions a join runs r on r.id = a.run_id where r.connection = $1) as actions`,
    [connection],
  );
  return rows[0] ?? { history: 0, actions: 0 };
}

describe('pruning by age', () => {
  test('deletes runs with their actions and their history, and only what is older', async () => {
    const here = scene();
    const other = scene();
    await finishedRun(here, 91);
    await finishedRun(here, 90.01);
    const young = [await finishedRun(here, 89.9), await finishedRun(here, 0)];
    const foreign = [await finishedRun(other, 400), await finishedRun(other, 0)];
    expect(await pruneOf(here)).toEqual({ ...nothing, actions: 2, runs: 2 });
    expect(await ids(here, 'runs')).toEqual(young);
    expect(await count(here)).toEqual({ history: 2, actions: 2 });
    expect(await ids(other, 'runs')).toEqual(foreign);
    expect(await pruneOf(here)).toEqual(nothing);
    expect(await pruneOf(here, 30)).toMatchObject({ runs: 1 });
  });

  test('many, in batches that leave nothing over', async () => {
    const here = scene();
    for (let run = 0; run < 3; run += 1) await finishedRun(here, 100, { actions: 7 });
    await finishedRun(here, 1);
    expect(await pruneOf(here, 90, 2)).toEqual({ ...nothing, actions: 21, runs: 3 });
    expect(await pruneOf(here, 90, 2)).toEqual(nothing);
  });

  test('a run goes whole or not at all, however long it took; of an undo or a reviewed plan too', async () => {
    const here = scene();
    const { pool, connection } = here;
    const long = await finishedRun(here, 89);
    await pool.query(`update actions set written_at = now() - interval '91 days' where run_id = $1`, [long]);
    const nightly = await finishedRun(here, 300);
    const applied = await finishedRun(here, 200);
    await pool.query(`update runs set approval = gen_random_uuid(), undo_of = 1 where id = $1`, [applied]);
    await pool.query(`update runs set finished_at = now() - interval '400 days' where id = $1`, [long]);
    expect(await pruneOf(here)).toEqual({ ...nothing, runs: 1, actions: 1 });
    expect(await ids(here, 'runs')).toEqual([nightly, applied]);
    expect((await lastRun(pool, connection, 'sync'))?.id).toBe(nightly);
    await finishedRun(here, 0);
    expect(await pruneOf(here)).toEqual({ ...nothing, runs: 2, actions: 2 });
  });

  test('nothing more once it is to stop', async () => {
    const here = scene();
    await finishedRun(here, 100);
    await finishedRun(here, 1);
    const pruned = await prune(
      here.pool,
      { name: here.connection, retentionDays: 90 },
      field,
      AbortSignal.abort(),
    );
    expect(pruned).toEqual(nothing);
    expect(await count(here)).toEqual({ history: 2, actions: 2 });
  });

  test('two at once delete everything once and do not wait for each other for ever', async () => {
    const here = scene();
    for (let run = 0; run < 4; run += 1) await finishedRun(here, 100, { actions: 50 });
    await finishedRun(here, 1);
    const both = await Promise.all([pruneOf(here), pruneOf(here)]);
    expect(both.reduce((sum, { actions }) => sum + actions, 0)).toBeLessThanOrEqual(200);
    await pruneOf(here);
    expect(await count(here)).toEqual({ history: 1, actions: 1 });
  });

  test('keeps open runs, the newest finished one of each mode, and the sync that names the known service', async () => {
    const here = scene();
    const { pool, connection } = here;
    await finishedRun(here, 500, { url: 'http://before' });
    const carriedOut = await finishedRun(here, 400, { status: 'partial', url: 'http://known' });
    await finishedRun(here, 350, { mode: 'plan' });
    const plan = await finishedRun(here, 300, { mode: 'plan' });
    await finishedRun(here, 250, { status: 'failed', url: 'http://wrong' });
    const failed = await finishedRun(here, 200, { status: 'stopped', url: 'http://wrong' });
    const open = await here.run();
    const [actionId = 0] = await here.actions(open, 1);
    const changes = { x: { from: null, to: 'y' } };
    await recordHistory(pool, [{ actionId, leadId: 'a', changes }]);
    await pool.query(`update runs set created_at = now() - interval '300 days' where id = $1`, [open.id]);
    await pool.query(`update actions set written_at = now() - interval '300 days' where run_id = $1`, [
      open.id,
    ]);

    expect(await pruneOf(here)).toEqual({ ...nothing, actions: 3, runs: 3 });
    expect(await ids(here, 'runs')).toEqual([carriedOut, plan, failed, open.id]);
    expect(await knownService(pool, connection)).toBe('http://known');
    expect((await lastRun(pool, connection, 'sync'))?.id).toBe(failed);
    expect((await lastRun(pool, connection, 'plan'))?.id).toBe(plan);
    expect((await openRun(pool, connection, 'sync'))?.id).toBe(open.id);
    // What is kept is kept whole, so that it can be told and undone.
    expect(await count(here)).toEqual({ history: 4, actions: 4 });
  });

  test('a connection of which nothing was ever carried out', async () => {
    const here = scene();
    await finishedRun(here, 200, { status: 'failed' });
    const last = await finishedRun(here, 150, { status: 'failed' });
    expect(await pruneOf(here)).toMatchObject({ runs: 1 });
    expect(await ids(here, 'runs')).toEqual([last]);
    expect(await pruneOf(scene())).toEqual(nothing);
  });

  test('pairs and what is held are kept, however old', async () => {
    const here = scene();
    const { pool, connection } = here;
    const run = await here.run();
    await advanceBaselines(pool, connection, [{ leadId: 'a', values: { stage: 'new' } }]);
    await moveBaselines(pool, connection, [{ to: 'lead-deleted', leadId: 'a' }]);
    await recordConflicts(pool, run, [
      {
        leadId: 'a',
        contentHash: '',
        field: 'stage',
        row: 2,
        code: 'c',
        message: 'm',
        lead: 'x',
        rowValue: 'y',
      },
    ]);
    await finishRun(pool, run.id, 'partial', null);
    await finishedRun(here, 0);
    await pool.query(`update runs set finished_at = now() - interval '900 days' where id = $1`, [run.id]);
    await pool.query(
      `update pairs set first_seen_at = now() - interval '900 days', lead_deleted_at = now() - interval '900 days'`,
    );
    await pool.query(`update held set since = now() - interval '900 days'`);
    expect(await pruneOf(here)).toEqual({ ...nothing, runs: 1 });
    const left = await pool.query(
      `select (select count(*)::int from pairs where connection = $1) as pairs, (select count(*)::int from held where kind = 'conflict' and connection = $1) as held`,
      [connection],
    );
    expect(left.rows).toEqual([{ pairs: 1, held: 1 }]);
  });

  test('of creates only those that are settled; the others outlive their run', async () => {
    const here = scene();
    const { pool, connection } = here;
    const begun = async (days: number, actions: number): Promise<readonly number[]> => {
      const run = await finishedRun(here, days, { actions });
      const { rows } = await pool.query<{ id: number }>(
        `update actions set kind = 'create-lead' where run_id = $1 returning id`,
        [run],
      );
      for (const { id } of rows) await beginIntent(pool, connection, id);
      return rows.map(({ id }) => id).toSorted((a, b) => a - b);
    };
    const [linked = 0, abandoned = 0, inDoubt = 0, created = 0] = await begun(300, 4);
    const [ofKept = 0] = await begun(200, 1);
    await changeIntents(pool, [
      [linked, { state: 'linked' }],
      [ofKept, { state: 'linked' }],
    ]);
    await changeIntents(pool, [[abandoned, { state: 'abandoned' }]]);
    await changeIntents(pool, [[created, { state: 'created', leadId: 'x' }]]);
    expect(await pruneOf(here)).toMatchObject({ runs: 0, actions: 2 });
    expect(await ids(here, 'actions')).toEqual([inDoubt, created, ofKept]);
    const scan = new LiveScan(new Baselines(fields));
    const open = await openIntents(pool, { id: 0, connection }, scan);
    expect(open.map(({ id }) => id)).toEqual([inDoubt, created]);
    expect(await listRuns(pool, connection, null, 10)).toHaveLength(1);
    // The rest goes once they are settled.
    await changeIntents(pool, [
      [inDoubt, { state: 'linked' }],
      [created, { state: 'linked' }],
    ]);
    expect(await pruneOf(here)).toMatchObject({ runs: 1, actions: 2 });
    expect(await ids(here, 'actions')).toEqual([ofKept]);
  });

  test('of decisions those that were taken before', async () => {
    const here = scene();
    const { pool, connection } = here;
    await pool.query(
      `insert into held (kind, connection, lead_id, field, resolution, decided_by, since)
       select 'decision', $1, 'a', 'city', 'lead', 'anna', now() - days * interval '1 day' from unnest($2::int[]) days`,
      [connection, [89, 91]],
    );
    expect(await pruneOf(here)).toEqual({ ...nothing, held: 1 });
    expect(await listDecisions(pool, connection, 'a', null)).toHaveLength(1);
  });
});

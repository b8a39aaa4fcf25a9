import type pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import type { SyncContext } from '../../../src/sync/context.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { otherTarget } from '../../support/other-target.ts';
import { until } from '../../support/until.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

/**
 * A first sync of three leads, a row at a time. What became of the first row waits to be stored when the second one is
 * written; then `meanwhile` happens in the target, and may throw. `waits`: whether it still waited when the run had ended.
 */
async function syncInBatches(workspace: Workspace, meanwhile: (storing: Storing) => Promise<void>) {
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  const blocker = await app.pool.connect();
  let written = 0;
  let waits = true;
  let released = Promise.resolve();
  const release = async (): Promise<void> => {
    // Time enough for a run that does not wait for it to end.
    for (let query = 0; query < 100; query++) await app.pool.query('select');
    waits = false;
    await blocker.query('rollback');
  };
  const target = otherTarget(real.target, {
    batchSize: 1,
    async write(...args) {
      const outcomes = await real.target.write(...args);
      written += 1;
      if (written === 1) await blocker.query('begin; lock table pairs in share mode');
      if (written === 2) {
        const storing = await storingOf(blocker);
        released = release();
        await meanwhile(storing);
      }
      return outcomes;
    },
  });
  const context: SyncContext = { ...real, log: pino({ level: 'silent' }), target };
  const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 3 } as const;
  const { signal } = new AbortController();
  try {
    const first = { ...(await advanceRun(context, request, signal)), waits };
    const { rows } = await app.pool.query<{ state: string }>(
      'select state from actions where body is not null order by id',
    );
    return {
      first,
      states: rows.map(({ state }) => state),
      last: await advanceRun(context, request, signal),
    };
  } finally {
    await released;
    blocker.release();
  }
}

/** A connection that waits to store the first row's outcome. */
interface Storing {
  kill(): Promise<void>;
}

/** Asked over the connection that keeps it waiting, which is open already. */
async function storingOf(blocker: pg.PoolClient): Promise<Storing> {
  const waiting = `select pid from pg_locks where relation = 'pairs'::regclass and not granted`;
  await until(
    'the first outcome waits to be stored',
    async () => (await blocker.query(waiting)).rowCount === 1,
  );
  return {
    kill: async () => void (await blocker.query(`select pg_terminate_backend(pid) from (${waiting}) w`)),
  };
}

const finished = { kind: 'finished', run: { status: 'succeeded', report: { receipt: { equal: 3 } } } };

test('a batch that the target does not take: what became of the one before is stored before the run ends', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const { first, states, last } = await syncInBatches(workspace, async () => {
    throw new LeadsyncError('target.unavailable', 'the target is away', { retry: 'later' });
  });
  expect(first).toMatchObject({ kind: 'again', why: 'fault', waits: false });
  expect(states).toEqual(['done', 'planned', 'planned']);
  expect(last).toMatchObject(finished);
  expect(workspace.sheet.rows()).toHaveLength(3);
});

test('what became of a batch cannot be stored, and the next one is written already: both are written again, no row twice', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const { first, states, last } = await syncInBatches(workspace, (storing) => storing.kill());
  expect(first).toMatchObject({ kind: 'again', why: 'fault' });
  expect(states).toEqual(['planned', 'planned', 'planned']);
  expect(last).toMatchObject(finished);
  expect(workspace.sheet.rows()).toHaveLength(3);
});

import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { SyncContext } from '../../../src/sync/context.ts';
import { advanceRun, type RunResult } from '../../../src/sync/run.ts';
import type { Target } from '../../../src/ports/target.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 5 } as const;

/** A worker that is overtaken each time it has looked at the table, as one that was paused past its lease. */
async function overtaken(
  workspace: Workspace,
  when: (target: Target, overtake: () => Promise<RunResult>) => Partial<Target>,
): Promise<{ readonly first: RunResult; readonly other: RunResult | null }> {
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  const quiet: SyncContext = { ...real, log: pino({ level: 'silent' }) };
  let other: RunResult | null = null;
  const overtake = async (): Promise<RunResult> => {
    await app.pool.query(`update leases set expires_at = now() - interval '1 s'`);
    other = await advanceRun(quiet, request, new AbortController().signal);
    return other;
  };
  const { target } = real;
  const slow: Target = {
    name: target.name,
    batchSize: target.batchSize,
    requests: 0,
    open: (...args) => target.open(...args),
    write: (...args) => target.write(...args),
    ...when(target, overtake),
  };
  const first = await advanceRun({ ...quiet, target: slow }, request, new AbortController().signal);
  return { first, other };
}

test('a worker that was overtaken while it read the table stages nothing more: the other one finishes the run', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  await workspace.sync();
  const [lead] = workspace.sandbox.leads.list();
  workspace.sandbox.leads.edit(lead?.id ?? '', { stage: 'won' });

  const { first, other } = await overtaken(workspace, (target, overtake) => ({
    open: async (...args) => {
      const snapshot = await target.open(...args);
      return {
        ...snapshot,
        rows: (async function* () {
          await overtake();
          yield* snapshot.rows;
        })(),
      };
    },
  }));

  expect(other).toMatchObject({ kind: 'finished', run: { status: 'succeeded' } });
  expect(first).toMatchObject({ kind: 'again', why: 'busy' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
});

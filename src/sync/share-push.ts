import type pg from 'pg';
import { LeadsyncError } from '../errors.ts';
import { acquireLease, type Lease, leaseToken } from '../store/leases.ts';
import { countRequests, getRun, type Run } from '../store/runs.ts';
import type { StepContext, SyncContext } from './context.ts';
import { leaseName, signalsOf } from './leading.ts';
import { pushShare } from './push-leads.ts';

/** The processes that share the pushes of one run besides its leader; each has a number below this. */
export const helpersOfRun = 3;

/** Whether a run has pushes to share: whoever leads it next asks again. */
export async function isPushing(pool: pg.Pool, runId: number): Promise<boolean> {
  const run = await findPushing(pool, runId);
  return run !== null && (await leaderOf(pool, run)) !== null;
}

/**
 * Carries out a part of what a run that another process leads has to write to the service, until there is nothing left
 * to claim, the leader stops leading, or `stop` aborts. Throws what the Leads client throws (see LeadsPort): what was not
 * settled then is free for the others.
 */
export async function sharePush(
  context: SyncContext,
  { runId, helper }: { readonly runId: number; readonly helper: number },
  stop: AbortSignal,
): Promise<void> {
  const { pool, connection, leads } = context;
  const run = await findPushing(pool, runId);
  if (run === null) return;
  const led = await leaderOf(pool, run);
  await using lease = await acquireLease(pool, `${connection.name}/push-${helper}`);
  if (led === null || lease === null) return;
  const step: StepContext = { ...context, lease: helping(lease, run), ...signalsOf(lease, stop) };
  const before = leads.requests;
  try {
    await pushShare(step, run, { mayClaim: async () => (await leaderOf(pool, run)) === led });
  } finally {
    await countRequests(pool, run.id, { leads: leads.requests - before, target: 0 });
  }
}

/** The lease of whoever leads the run now, or null. */
function leaderOf(pool: pg.Pool, { connection, mode }: Run): Promise<string | null> {
  return leaseToken(pool, leaseName(connection, mode));
}

async function findPushing(pool: pg.Pool, runId: number): Promise<Run | null> {
  const run = await getRun(pool, runId);
  return run !== null && run.phase === 'push-leads' && run.finishedAt === null ? run : null;
}

/**
 * What a helper has claimed it may settle as long as its own lease holds and the run has not gone on without it, also
 * when the leader is another one now, who waits for that.
 */
function helping(lease: Lease, run: Run): StepContext['lease'] {
  return {
    token: lease.token,
    async assertHeld(db) {
      await lease.assertHeld(db);
      const { rowCount } = await db.query(
        `select from runs where id = $1 and round = $2 and phase = 'push-leads' and finished_at is null for update`,
        [run.id, run.round],
      );
      if (rowCount === 0)
        throw new LeadsyncError('run.lease-lost', 'the run went on without this process', { retry: 'later' });
    },
  };
}

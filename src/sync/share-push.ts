import type pg from 'pg';
import { LeadsyncError } from '../errors.ts';
import { acquireLease, type Lease, leaseToken } from '../store/leases.ts';
import { countRequests, getRun, type Run } from '../store/runs.ts';
import type { StepContext, SyncContext } from './context.ts';
import { leaseName, signalsOf } from './leading.ts';
import { pushShare } from './push-leads.ts';

/** The processes that share the pushes of one run besides its leader; each has a number below this. */
export const helpersOfRun = 3;

/** Whether a run that another process leads has pushes to share. */
export async function isPushing(pool: pg.Pool, runId: number): Promise<boolean> {
  return (await findPushing(pool, runId)) !== null;
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
  const leader = (): Promise<string | null> => leaseToken(pool, leaseName(connection.name, run.mode));
  const led = await leader();
  await using lease = await acquireLease(pool, `${connection.name}/push-${helper}`);
  if (led === null || lease === null) return;
  const step: StepContext = { ...context, lease: helping(lease, run), ...signalsOf(lease, stop) };
  const before = leads.requests;
  try {
    await pushShare(step, run, { mayClaim: async () => (await leader()) === led });
  } finally {
    await countRequests(pool, run.id, leads.requests - before, 0);
  }
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

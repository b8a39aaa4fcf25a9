import type { App } from '../app.ts';
import type { JobResult } from '../queue/work.ts';
import { pausedSince } from '../store/connections.ts';
import { type AgainReason, advanceRun, type RunRequest } from '../sync/run.ts';
import { haveEdits } from '../store/requested-edits.ts';
import { planEdited, planSynced } from './plan-mails.ts';

/**
 * The id of a finished run. Null: none finished. Either a person paused the connection, or the run has to wait for longer than
 * `mostWaitMs`: `until` (epoch ms), and why.
 */
export interface RunSummary {
  readonly runId: number | null;
  readonly waits?: { readonly until: number; readonly why: AgainReason };
}

/** `mostWaitMs`: of a run that somebody waits for; absent: it is unattended. */
export type Request = Omit<RunRequest, 'isUnattended'> & {
  readonly connection: string;
  readonly mostWaitMs?: number;
};

/** A waiting run checks this often (ms) whether it still has to wait: a person may end the wait. */
const checkAgainMs = 300_000;

const longWaits: ReadonlySet<AgainReason> = new Set(['throttled', 'target-throttled', 'fault']);

/**
 * Takes a run as far as it can go, when it is its turn, and tells the queue how to go on. After a sync or an edit its reminders
 * are planned. Throws when the connection left the configuration after the job was queued.
 */
export async function runSync(app: App, request: Request, stop: AbortSignal): Promise<JobResult<RunSummary>> {
  const result = await advance(app, request, stop);
  if ('done' in result && request.mode === 'sync') await planSynced(app, request.connection);
  if ('done' in result && request.mode === 'edit') await planEdited(app, request.connection);
  return result;
}

/** As `runSync`, without the reminders. */
export async function advance(
  app: App,
  { connection, mostWaitMs, ...request }: Request,
  stop: AbortSignal,
): Promise<JobResult<RunSummary>> {
  const context = app.contexts.get(connection);
  if (context === undefined) throw new Error(`connection ${connection} is not configured any more`);
  if (request.mode === 'edit' && !(await haveEdits(app.pool, connection))) return { done: { runId: null } };
  if (request.mode !== 'plan' && (await pausedSince(app.pool, connection)) !== null) {
    app.log.info({ connection }, 'the connection is paused; leadsync resume ends the pause');
    return { done: { runId: null } };
  }
  using _slot = await app.runs.acquire();
  const { onRun } = app;
  const result = await advanceRun(
    { ...context, ...(onRun && { onRun }) },
    { ...request, isUnattended: mostWaitMs === undefined },
    stop,
  );
  if (result.kind === 'finished') return { done: { runId: result.run.id } };
  app.activity.waited(connection, result.why, result.afterMs);
  // Other runs of the connection find the wait in the database, whose clock counts.
  if (mostWaitMs !== undefined && result.afterMs > mostWaitMs && longWaits.has(result.why))
    return { done: { runId: null, waits: { until: Date.now() + result.afterMs, why: result.why } } };
  return { againAfterMs: Math.min(result.afterMs, checkAgainMs) };
}

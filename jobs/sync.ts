import { z } from 'zod';
import type { App } from '../src/app.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';
import { pausedSince } from '../src/store/pauses.ts';
import { type AgainReason, advanceRun, type RunRequest } from '../src/sync/run.ts';
import { planSynced } from './plan-reminders.ts';

const payloadSchema = z.object({
  connection: z.string(),
  allow: z.array(z.string()),
  patience: z.number(),
  mostWaitMs: z.number().optional(),
});

/** The queue of a connection's runs. */
export const syncQueue = (connection: string): string => `sync-${connection}`;

/** Tries before a run that nobody waits for gives up: about three hours of a service that is away, or of a file that is open. */
const longPatience = 45;

/** What a sync is asked for that nobody waits for: the nightly one, and that of the status page. */
export function unattended(connection: string) {
  return { connection, allow: [] as readonly string[], patience: longPatience };
}

/** The schedule of the nightly sync, in that queue. */
export const schedulerName = 'nightly';

/**
 * A run's id: all that a job hands on. Null: no run was finished, because a person has paused the connection, or somebody
 * waits for the job and it would have to wait until then (epoch ms), and why.
 */
export interface RunSummary {
  readonly runId: number | null;
  readonly waits?: { readonly until: number; readonly why: AgainReason };
}

/** A job that has to wait looks so often (ms) whether it still has to: a person may end the wait. */
const lookAgainMs = 300_000;

/** Syncs one connection, or goes on with the run that was interrupted. */
export async function sync(
  app: App,
  payload: unknown,
  job: JobHandle,
  stop: AbortSignal,
): Promise<JobResult<RunSummary>> {
  const request = payloadSchema.parse(payload);
  const result = await advance(app, { ...request, mode: 'sync', since: job.requestedAt }, stop);
  if ('done' in result) await planSynced(app, request.connection);
  return result;
}

/** Who waits in the foreground is not kept waiting long for these. */
const longWaits: ReadonlySet<AgainReason> = new Set(['throttled', 'target-throttled', 'fault']);

/**
 * Takes a run as far as it can go, when it is its turn, and tells the queue how to go on. Throws when the connection was
 * taken out of the configuration after the job was queued.
 */
export async function advance(
  app: App,
  {
    connection,
    mostWaitMs = Number.POSITIVE_INFINITY,
    ...request
  }: RunRequest & { readonly connection: string; readonly mostWaitMs?: number | undefined },
  stop: AbortSignal,
): Promise<JobResult<RunSummary>> {
  const context = app.contexts.get(connection);
  if (context === undefined) throw new Error(`connection ${connection} is not configured any more`);
  if (request.mode === 'sync' && (await pausedSince(app.pool, connection)) !== null) {
    app.log.info({ connection }, 'the connection is paused; leadsync resume lets it go on');
    return { done: { runId: null } };
  }
  using _slot = await app.runs.acquire();
  const { onRun } = app;
  const result = await advanceRun({ ...context, ...(onRun && { onRun }) }, request, stop);
  if (result.kind === 'finished') return { done: { runId: result.run.id } };
  app.activity.waited(connection, result.why, result.afterMs);
  // Other jobs of the connection find the pause in the database, which does not go by the clock of this machine.
  const isLong = result.afterMs > mostWaitMs && longWaits.has(result.why);
  if (isLong)
    return { done: { runId: null, waits: { until: Date.now() + result.afterMs, why: result.why } } };
  return { againAfterMs: Math.min(result.afterMs, lookAgainMs), wholeQueue: false };
}

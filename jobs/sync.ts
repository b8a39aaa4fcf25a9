import { z } from 'zod';
import type { App } from '../src/app.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';
import type { Run } from '../src/store/runs.ts';
import { advanceRun, type RunRequest } from '../src/sync/run.ts';
import { planSynced } from './plan-reminders.ts';
import { askForHelp, engage } from './push.ts';

const payloadSchema = z.object({ connection: z.string(), allow: z.array(z.string()), patience: z.number() });

/** The queue of a connection's runs. */
export const syncQueue = (connection: string): string => `sync-${connection}`;

/** The schedule of the nightly sync, in that queue. */
export const schedulerName = 'nightly';

/** A run's id: all that a job hands on. */
export interface RunSummary {
  readonly runId: number;
}

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

/**
 * Takes a run as far as it can go, when it is its turn, and tells the queue how to go on. Throws when the connection was
 * taken out of the configuration after the job was queued.
 */
export async function advance(
  app: App,
  { connection, ...request }: RunRequest & { readonly connection: string },
  stop: AbortSignal,
): Promise<JobResult<RunSummary>> {
  const context = app.contexts.get(connection);
  if (context === undefined) throw new Error(`connection ${connection} is not configured any more`);
  using _place = await app.runs.take();
  using _engaged = engage(app, connection);
  const ask = (run: Run): Promise<void> => askForHelp(app, connection, run);
  const result = await advanceRun({ ...context, askForHelp: ask }, request, stop);
  if (result.kind === 'finished') return { done: { runId: result.run.id } };
  app.activity.waited(connection, result.why, result.afterMs);
  // Other jobs of the connection find the pause in the database, which does not go by the clock of this machine.
  return { againAfterMs: result.afterMs, wholeQueue: false };
}

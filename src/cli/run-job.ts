import { type App } from '../app.ts';
import { plan as planJob } from '../../jobs/plan.ts';
import { type RunSummary, sync as syncJob } from '../../jobs/sync.ts';
import { LeadsyncError } from '../errors.ts';
import { getRun, openRun, type Run, type RunMode } from '../store/runs.ts';
import { Progress } from './progress.ts';

/** Tries before a run that somebody waits for gives up: about half a minute of a service that is away. */
const foregroundPatience = 7;

/** The queue of a connection. */
export const queueName = (connection: string): string => `sync-${connection}`;

/**
 * Asks for a run of a connection and waits for its end. The run takes the same path as every night: a job in the
 * connection's queue, which this process, or a worker that is faster, carries out.
 */
export async function runJob(
  app: App,
  connection: string,
  mode: RunMode,
  allow: readonly string[],
  stop: AbortSignal,
): Promise<Run> {
  const queue = app.queues.queue(queueName(connection));
  await using _worker = queue.work({
    sync: (payload, job, signal) => syncJob(app, payload, job, signal),
    plan: (payload, job, signal) => planJob(app, payload, job, signal),
  });
  const job = await queue.add(mode, { connection, allow, patience: foregroundPatience });
  await using progress = new Progress(connection, () => openRun(app.pool, connection, mode));
  const summary = (await job.finished(stop)) as RunSummary;
  await progress[Symbol.asyncDispose]();
  const run = await getRun(app.pool, summary.runId);
  if (run === null) throw new LeadsyncError('run.lost', `run ${summary.runId} is not in the database`);
  return run;
}

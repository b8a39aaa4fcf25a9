import { type App } from '../app.ts';
import { apply as applyJob } from '../../jobs/apply.ts';
import { plan as planJob } from '../../jobs/plan.ts';
import { type RunSummary, sync as syncJob, syncQueue } from '../../jobs/sync.ts';
import { LeadsyncError } from '../errors.ts';
import { isDatabaseOutage } from '../database-outage.ts';
import { getRun, openRun, type Run } from '../store/runs.ts';
import { Progress } from './progress.ts';

/** Tries before a run that somebody waits for gives up: about half a minute of a service that is away. */
const foregroundPatience = 7;

/** What is asked for. `undoOf` (of a plan or an apply): the run to put back; `approval`: the batch of reviewed lines. */
export type JobRequest =
  | { readonly job: 'plan'; readonly undoOf?: number }
  | { readonly job: 'sync'; readonly allow: readonly string[] }
  | {
      readonly job: 'apply';
      readonly allow: readonly string[];
      readonly approval: string;
      readonly undoOf?: number;
    };

/**
 * Asks for a run of a connection and waits for its end. The run takes the same path as every night: a job in the
 * connection's queue, which this process, or a worker that is faster, carries out.
 */
export async function runJob(
  app: App,
  connection: string,
  { job: name, ...request }: JobRequest,
  stop: AbortSignal,
): Promise<Run> {
  const queue = app.queues.queue(syncQueue(connection));
  await using _worker = queue.work(runHandlers(app));
  const job = await queue.add(name, { ...request, connection, patience: foregroundPatience });
  const mode = name === 'plan' ? 'plan' : 'sync';
  await using progress = new Progress(connection, () => openRun(app.pool, connection, mode));
  const summary = (await job.finished(stop)) as RunSummary;
  await progress[Symbol.asyncDispose]();
  const run = await getRun(app.pool, summary.runId);
  if (run === null) throw new LeadsyncError('run.lost', `run ${summary.runId} is not in the database`);
  return run;
}

/** The handlers of a connection's queue: whoever takes its jobs takes all kinds. */
export function runHandlers(app: App): Handlers {
  return {
    sync: whenDatabaseIsThere(app, syncJob),
    plan: whenDatabaseIsThere(app, planJob),
    apply: whenDatabaseIsThere(app, applyJob),
  };
}

type Handlers = Parameters<ReturnType<App['queues']['queue']>['work']>[0];
type Handler = Handlers[string];

/** Ms after which a job is taken up again that found no database. */
const outageMs = 1_000;

/** A job that failed would not come back, and a night be left out for a database that was away for a second. */
export function whenDatabaseIsThere(
  app: App,
  run: (app: App, ...args: Parameters<Handler>) => ReturnType<Handler>,
): Handler {
  return async (payload, job, stop) => {
    try {
      return await run(app, payload, job, stop);
    } catch (error) {
      const isUnreachable = error instanceof LeadsyncError && error.code === 'database.unreachable';
      if (!isUnreachable && !isDatabaseOutage(error)) throw error;
      app.log.warn({ err: error }, 'the database broke off; the job is taken up again');
      return { againAfterMs: outageMs, wholeQueue: false };
    }
  };
}

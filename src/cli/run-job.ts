import type { App } from '../app.ts';
import { runHandlers, syncQueue } from '../../jobs/runs.ts';
import { LeadsyncError } from '../errors.ts';
import { pausedSince } from '../store/connections.ts';
import { openSyncs } from '../store/run-list.ts';
import { getRun, type Run } from '../store/runs.ts';
import { describeProgress } from '../ops/describe-progress.ts';
import type { RunSummary } from '../worker/run-sync.ts';
import { showProgress } from './progress.ts';

/** Attempts of a run that somebody waits for: about half a minute of outage. */
const foregroundPatience = 7;

/** Longer waits for a service (ms) end the command. */
const longestWaitMs = 60_000;

/** `undoOf` (of a plan or an apply): the run to undo; `approval`: the batch of reviewed lines. */
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
 * Requests a run of a connection and waits for its end. As with scheduled runs: a job in the connection's queue, carried
 * out by this process or a faster worker.
 */
export async function runJob(
  app: App,
  connection: string,
  { job: name, ...request }: JobRequest,
  stop: AbortSignal,
): Promise<Run> {
  if (name !== 'plan' && (await pausedSince(app.pool, connection)) !== null) throw paused(connection);
  const queue = app.queues.queue(syncQueue(connection));
  await using _worker = queue.work(runHandlers(app));
  const job = await queue.add(name, {
    ...request,
    connection,
    maxAttempts: foregroundPatience,
    mostWaitMs: longestWaitMs,
  });
  const mode = name === 'plan' ? 'plan' : 'sync';
  // From the database: any process may do the work.
  await using progress = await showProgress(connection, async () => {
    const [open] = await openSyncs(app.pool, [connection], mode);
    return open === undefined ? null : describeProgress(open);
  });
  const summary = (await job.finished(stop)) as RunSummary;
  await progress[Symbol.asyncDispose]();
  if (summary.waits !== undefined) throw waits(app, connection, summary.waits);
  if (summary.runId === null) throw paused(connection);
  const run = await getRun(app.pool, summary.runId);
  if (run === null) throw new LeadsyncError('run.lost', `run ${summary.runId} is not in the database`);
  return run;
}

function paused(connection: string): LeadsyncError {
  return new LeadsyncError('connection.paused', `${connection} is paused: nothing was started or written`, {
    help: `leadsync resume --connection ${connection} continues it.`,
  });
}

/** All processes know of a wait for the Leads service; of other waits only the one concerned. */
function waits(
  app: App,
  connection: string,
  { until, why }: NonNullable<RunSummary['waits']>,
): LeadsyncError {
  const reason =
    why === 'throttled'
      ? 'the Leads service asked to wait'
      : why === 'target-throttled'
        ? `${app.contexts.get(connection)?.target.name} asked to wait, or its limit is used up`
        : 'the last attempt failed';
  const ends =
    why === 'throttled'
      ? `leadsync resume --connection ${connection} ends the wait.`
      : 'leadsync sync tries again at once; a waiting worker does so when restarted.';
  const message = `${connection} waits until ${new Date(until).toISOString()}, because ${reason}: nothing more is sent before`;
  return new LeadsyncError('run.waiting', message, {
    retry: 'later',
    help: `What was done is kept, and the next sync continues from there. ${ends}`,
  });
}

import { z } from 'zod';
import type { App } from '../src/app.ts';
import { LeadsyncError } from '../src/errors.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';
import type { Run } from '../src/store/runs.ts';
import { helpersOfRun, isPushing, sharePush } from '../src/sync/share-push.ts';

const payloadSchema = z.object({ connection: z.string(), runId: z.number(), helper: z.number() });

/** One for all connections: whoever has nothing else to do helps whoever asks first. */
export const pushQueue = 'pushes';

/** How soon (ms) a job comes back that is for another process, or whose service did not answer. */
const askAgainMs = 1_000;

/** Asks other processes to share what a run has to write. Nothing depends on it: a fault is logged and no more. */
export async function askForHelp({ queues, contexts }: App, connection: string, run: Run): Promise<void> {
  const jobs = Array.from({ length: helpersOfRun }, (_, helper) => ({
    payload: { connection, runId: run.id, helper },
    id: `push-${run.id}-${run.round}-${helper}`,
    delayMs: 0,
  }));
  try {
    await queues.queue(pushQueue).addAll('push', jobs);
  } catch (error) {
    contexts.get(connection)?.log.warn({ err: error, run: run.id }, 'nobody could be asked to help');
  }
}

/** Shares the pushes of a run that another process leads. */
export async function push(
  app: App,
  payload: unknown,
  _job: JobHandle,
  stop: AbortSignal,
): Promise<JobResult<object>> {
  const { connection, runId, helper } = payloadSchema.parse(payload);
  if (!(await isPushing(app.pool, runId))) return { done: {} };
  const context = app.contexts.get(connection);
  // A request at a time leaves this process for each connection: who leads or helps already is no further help.
  if (context === undefined || app.engaged.has(connection)) return again(askAgainMs);
  using _engaged = engage(app, connection);
  try {
    await sharePush(context, { runId, helper }, stop);
    return { done: {} };
  } catch (error) {
    if (stop.aborted) return again(0);
    if (!(error instanceof LeadsyncError)) throw error;
    if (error.code === 'run.lease-lost') return { done: {} };
    context.log.info({ run: runId, code: error.code }, 'could not go on helping');
    // A key that is refused is refused again: the service is not to be asked without end.
    return error.retry === 'never' ? { done: {} } : again(error.retryAfterMs ?? askAgainMs);
  }
}

/** Until it is disposed, this process takes no further part in runs of the connection. */
export function engage({ engaged }: App, connection: string): Disposable {
  engaged.add(connection);
  return { [Symbol.dispose]: () => engaged.delete(connection) };
}

function again(afterMs: number): JobResult<never> {
  return { againAfterMs: afterMs, wholeQueue: false };
}

import { DelayedError, type Job, type AdvancedOptions, ErrorCode } from 'bullmq';
import pRetry from 'p-retry';
import { isDatabaseOutage } from '../postgres/database-outage.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { type Backend, type BackendOptions, type BullQueue, isQueueOutage } from './backend.ts';
import { nextRun } from './due-times.ts';

/** The result of a job handler: done with a small summary, or a retry later from its checkpoint. */
export type JobResult<Summary> = { readonly done: Summary } | { readonly againAfterMs: number };

export interface JobHandle {
  /** Epoch ms of the request: of a delayed or scheduled job, when it first fell due. */
  readonly requestedAt: number;
}

export type JobHandler = (payload: unknown, job: JobHandle, stop: AbortSignal) => Promise<JobResult<unknown>>;

/** Ms after which a job that met an outage is retried. */
const retryMs = 1_000;

/** Ms between attempts to put a job back into a queue that is away. */
const insistMs = 250;

/** Takes jobs until it is disposed: then it stops those under way and returns them to the queue. */
export function startWorker(
  name: string,
  backend: Backend,
  ask: <T>(operation: (queue: BullQueue) => Promise<T>) => Promise<T>,
  {
    lockMs,
    concurrency,
    warn,
  }: {
    readonly lockMs: number;
    readonly concurrency: number;
  } & Pick<BackendOptions, 'warn'>,
  handlers: Readonly<Record<string, JobHandler>>,
): AsyncDisposable {
  const stop = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const handle = async (job: Job): Promise<JobResult<unknown>> => {
    const handler = Object.hasOwn(handlers, job.name) ? handlers[job.name] : undefined;
    if (handler === undefined) throw new LeadsyncError('queue.unknown-job', `no handler for job ${job.name}`);
    try {
      return await handler(job.data, { requestedAt: dueAt(job) }, stop.signal);
    } catch (error) {
      // A failed job does not come back: one second of an outage would cost a whole night.
      if (!isOutage(error)) {
        warn(error, `job ${job.name} of queue ${name} failed`);
        throw error;
      }
      warn(error, `job ${job.name} of queue ${name} met an outage; leadsync retries it`);
      return { againAfterMs: retryMs };
    }
  };
  const process = async (job: Job, token?: string): Promise<unknown> => {
    const handling = handle(job);
    underWay.add(handling);
    const result = await handling.finally(() => underWay.delete(handling));
    if ('done' in result) return result.done;
    const againAfterMs = Math.ceil(result.againAfterMs);
    await insist(async () => job.moveToDelayed(Date.now() + againAfterMs, token));
    throw new DelayedError();
  };
  /** Retries without end: a job that failed because the queue was away would not come back. */
  const insist = (operation: (queue: BullQueue) => Promise<void>): Promise<void> =>
    pRetry(() => ask(operation), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: insistMs,
      factor: 1,
      shouldRetry: ({ error }) => isQueueOutage(error) && !stop.signal.aborted,
    });
  const worker = backend.openWorker(name, process, {
    concurrency,
    lockDuration: lockMs,
    stalledInterval: lockMs / 2,
    maxStalledCount: 1_000,
  });
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new LeadsyncError('process.stopping', 'the process is stopping', { retry: 'later' }));
      await Promise.allSettled(underWay);
      await worker.close();
    },
  };
}

/**
 * A schedule puts its next job into the queue when the one before begins, so its timestamp lies a night back; BullMQ
 * keeps the moment at which it is due in `prevMillis`, for the job after it.
 */
function dueAt(job: Job): number {
  return job.opts.prevMillis ?? job.timestamp + (job.opts.delay ?? 0);
}

function isOutage(error: unknown): boolean {
  return isQueueOutage(error) || isDatabaseOutage(error);
}

/** Replaces BullMQ's own strategy, which is cron-parser's alone. */
export const scheduleSettings: Pick<AdvancedOptions, 'repeatStrategy'> = {
  repeatStrategy: (now, { pattern, tz }) =>
    pattern === undefined ? undefined : nextRun(pattern, tz ?? 'UTC', now),
};

/** The second one is deadlock_detected of Postgres. */
const concurrent: ReadonlySet<unknown> = new Set([ErrorCode.SchedulerJobIdCollision, '40P01']);

/**
 * Of processes that set one schedule at once, BullMQ lets one through; the others collide with its job, or deadlock. A job that
 * stays has run already, and the clock was set back: then the schedule is as it should be.
 */
export async function upsertSchedule(
  queue: BullQueue,
  ...args: Parameters<BullQueue['upsertJobScheduler']>
): Promise<void> {
  const codeOf = (error: unknown): unknown =>
    error instanceof Error && 'code' in error ? error.code : undefined;
  try {
    await pRetry(() => queue.upsertJobScheduler(...args), {
      retries: 5,
      minTimeout: 10,
      randomize: true,
      shouldRetry: ({ error }) => concurrent.has(codeOf(error)),
    });
  } catch (error) {
    if (codeOf(error) !== ErrorCode.SchedulerJobIdCollision) throw error;
    if (await removeStray(queue, args[0])) await queue.upsertJobScheduler(...args);
  }
}

/** Removes the next job of a schedule when it is in no list: Redis has lost that part of it (an eviction). */
async function removeStray(queue: BullQueue, schedule: string): Promise<boolean> {
  const next = (await queue.getJobScheduler(schedule))?.next;
  const job = next === undefined ? undefined : await queue.getJob(`repeat:${schedule}:${next}`);
  if (job === undefined || (await job.getState()) !== 'unknown') return false;
  // A job of a schedule cannot be removed.
  await queue.removeJobScheduler(schedule);
  await job.remove();
  return true;
}

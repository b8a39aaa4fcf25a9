import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, ErrorCode, type Job, RateLimitError, type Telemetry } from 'bullmq';
import { CronExpressionParser } from 'cron-parser';
import type { Logger } from 'pino';
import type { RedisAddress } from '../config/redis-address.ts';
import { LeadsyncError } from '../errors.ts';
import type { Backend, BullQueue } from './backend.ts';
import { openPostgresBackend } from './postgres-backend.ts';
import { openRedisBackend } from './redis-backend.ts';

/**
 * The only place that knows BullMQ. Jobs carry ids and names, never data of leads or secrets.
 */

/** What a job handler says at its end: done with a small summary, or to be taken up again later from its checkpoint. */
export type JobResult<Summary> =
  | { readonly done: Summary }
  | {
      readonly againAfterMs: number /** All jobs of the queue wait, not just this one. */;
      readonly wholeQueue: boolean;
    };

export interface JobHandle {
  /** Epoch ms for which the job was asked: of a delayed or scheduled one, when it first fell due. */
  readonly requestedAt: number;
}

type JobHandler = (payload: unknown, job: JobHandle, stop: AbortSignal) => Promise<JobResult<unknown>>;

export interface JobQueue {
  /**
   * Adds a job that is due at once or after `delayMs`. The same `id` is added only once while it is known. `requestedAt`
   * (epoch ms): when an earlier job asked for the same. All that ask a Redis that is away throw `queue.unavailable`.
   */
  add(
    name: string,
    payload: object,
    options?: { readonly id?: string; readonly delayMs?: number; readonly requestedAt?: number },
  ): Promise<AddedJob>;
  /** Adds many jobs at once, in their order. An id is known only until its job is finished: nobody waits for these. */
  addAll(
    name: string,
    jobs: readonly { readonly payload: object; readonly id: string; readonly delayMs: number }[],
  ): Promise<void>;
  /**
   * Takes jobs, `concurrency` at a time (default 1) and in their order, until the returned object is disposed: then the
   * jobs under way are stopped and go back.
   */
  work(handlers: Readonly<Record<string, JobHandler>>, concurrency?: number): AsyncDisposable;
  /** Keeps exactly one schedule of that name: a cron pattern in a time zone. */
  schedule(name: string, pattern: string, timeZone: string, job: string, payload: object): Promise<void>;
  /** The next time a schedule is due, epoch ms; null when there is none. */
  nextRun(name: string): Promise<number | null>;
  counts(): Promise<JobCounts>;
}

export interface JobCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly failed: number;
}

interface AddedJob {
  readonly id: string;
  /** Waits until some worker has finished the job and returns its summary; rejects when the job failed. */
  finished(signal: AbortSignal): Promise<unknown>;
}

export interface Queues extends AsyncDisposable {
  queue(name: string): JobQueue;
  /** Of the queues that were asked for so far. */
  names(): readonly string[];
  /** Throws when the queues' server does not answer within 2 s. */
  ping(): Promise<void>;
}

/** A job's lock lasts this long (ms) unless its worker renews it; then another worker takes the job up. */
const defaultLockMs = 30_000;

/** How many finished jobs are kept to look at. */
const keepJobs = { count: 200, age: 7 * 24 * 3600 };

/** Ms after which a job is tried again whose handler found no queue to add its own jobs to. */
const retryMs = 1_000;

/** Ms without an answer after which waiting for a job is given up. */
const waitingPatienceMs = 60_000;

/** On the Postgres that also holds the state, or in Redis, under keys that begin with `prefix`. */
export type QueueBackend =
  | { readonly kind: 'postgres'; readonly connectionString: string }
  | { readonly kind: 'redis'; readonly address: RedisAddress; readonly prefix: string };

interface QueueOptions {
  readonly lockMs?: number;
  readonly telemetry?: Telemetry;
}

/** Opens the queues. `workers`: how many may be started at once. Throws LeadsyncErrors of code `queue.*` for Redis. */
export async function openQueues(
  where: QueueBackend,
  log: Logger,
  workers: number,
  { lockMs = defaultLockMs, telemetry }: QueueOptions = {},
): Promise<Queues> {
  let closing = false;
  const warn = (error: Error, message: string): void => {
    if (!closing) log.warn({ err: error }, message);
  };
  const options = { warn, ...(telemetry && { telemetry }) };
  const backend =
    where.kind === 'postgres'
      ? await openPostgresBackend(where.connectionString, workers, options)
      : await openRedisBackend(where.address, where.prefix, options);
  const open = new Map<string, BullQueue>();
  const queueOf = (name: string): BullQueue => {
    const queue = open.get(name) ?? backend.openQueue(name);
    open.set(name, queue);
    return queue;
  };
  return {
    queue: (name) => jobQueue(queueOf(name), backend, lockMs),
    names: () => [...open.keys()],
    ping: () => backend.ping(),
    async [Symbol.asyncDispose]() {
      closing = true;
      await Promise.all([...open.values()].map((queue) => queue.close()));
      await backend[Symbol.asyncDispose]();
    },
  };
}

function jobQueue(queue: BullQueue, backend: Backend, lockMs: number): JobQueue {
  return {
    async add(name, payload, { id = randomUUID(), delayMs, requestedAt = Date.now() } = {}) {
      const delay = delayMs === undefined ? {} : { delay: Math.ceil(delayMs) };
      const options = {
        jobId: id,
        timestamp: requestedAt,
        ...delay,
        removeOnComplete: keepJobs,
        removeOnFail: keepJobs,
      };
      const put = async (): Promise<void> =>
        void (await backend.ask(() => queue.add(name, payload, options)));
      await put();
      return { id, finished: (signal) => finished(queue, backend, id, put, signal) };
    },
    async addAll(name, jobs) {
      const all = jobs.map(({ payload, id, delayMs }) => ({
        name,
        data: payload,
        opts: { jobId: id, delay: Math.ceil(delayMs), removeOnComplete: true, removeOnFail: true },
      }));
      await backend.ask(() => queue.addBulk(all));
    },
    work: (handlers, concurrency = 1) => startWorker(queue, backend, { lockMs, concurrency }, handlers),
    async schedule(name, pattern, timeZone, job, payload) {
      const template = {
        name: job,
        data: payload,
        // Each night is a trace of its own: with the context handed on they would all be one.
        opts: { removeOnComplete: keepJobs, removeOnFail: keepJobs, telemetry: { omitContext: true } },
      };
      await backend.ask(() => upsert(queue, name, { pattern, tz: timeZone }, template));
    },
    async nextRun(name) {
      const scheduler = await backend.ask(() => queue.getJobScheduler(name));
      return scheduler?.next ?? null;
    },
    async counts() {
      const counts = await backend.ask(() => queue.getJobCounts('waiting', 'active', 'delayed', 'failed'));
      const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
      return { waiting, active, delayed, failed };
    },
  };
}

function startWorker(
  queue: BullQueue,
  backend: Backend,
  { lockMs, concurrency }: { readonly lockMs: number; readonly concurrency: number },
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
      if (!isUnavailable(error)) throw error;
      return { againAfterMs: retryMs, wholeQueue: false };
    }
  };
  const process = async (job: Job, token?: string): Promise<unknown> => {
    const handling = handle(job);
    underWay.add(handling);
    const result = await handling.finally(() => underWay.delete(handling));
    if ('done' in result) return result.done;
    const againAfterMs = Math.ceil(result.againAfterMs);
    if (result.wholeQueue) {
      await limit(againAfterMs);
      throw new RateLimitError();
    }
    await job.moveToDelayed(Date.now() + againAfterMs, token);
    throw new DelayedError();
  };
  /** A job that failed for want of the queue would not come back. */
  const limit = async (ms: number): Promise<void> => {
    const until = Date.now() + ms;
    for (;;) {
      try {
        return await backend.ask(() => queue.rateLimit(Math.max(1, until - Date.now())));
      } catch (error) {
        if (!isUnavailable(error) || stop.signal.aborted) throw error;
      }
    }
  };
  const worker = backend.openWorker(queue.name, process, {
    concurrency,
    lockDuration: lockMs,
    stalledInterval: lockMs / 2,
    maxStalledCount: 1_000,
    // A queue is only looked at for a rate limit when its workers have one of their own; this one never limits.
    limiter: { max: 1_000_000, duration: 1 },
  });
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new LeadsyncError('process.stopping', 'the process is stopping', { retry: 'later' }));
      await Promise.allSettled(underWay);
      await worker.close();
    },
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof LeadsyncError && error.code === 'queue.unavailable';
}

/** How often a schedule is set again that another process is setting at the same moment. */
const collisionsBorne = 5;

/** Of processes that set one schedule at once, BullMQ lets one through; the others find its job in their way. */
async function upsert(queue: BullQueue, ...args: Parameters<BullQueue['upsertJobScheduler']>): Promise<void> {
  for (let collisions = 0; ; collisions++) {
    try {
      await queue.upsertJobScheduler(...args);
      return;
    } catch (error) {
      const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
      const collided = code === ErrorCode.SchedulerJobIdCollision || code === ErrorCode.SchedulerJobSlotsBusy;
      if (!collided || collisions === collisionsBorne) throw error;
      await sleep(20 * Math.random());
    }
  }
}

/**
 * A schedule puts its next job into the queue when the one before begins, so its timestamp lies a night back; BullMQ
 * keeps the moment at which it is due in `prevMillis`, for the job after it.
 */
function dueAt(job: Job): number {
  return job.opts.prevMillis ?? job.timestamp + (job.opts.delay ?? 0);
}

/**
 * Polls: the state of a job is read quickly, and a poll survives any broken connection. A job that is gone was in a Redis
 * that lost its memory: `put` adds it again.
 */
async function finished(
  queue: BullQueue,
  backend: Backend,
  id: string,
  put: () => Promise<void>,
  signal: AbortSignal,
): Promise<unknown> {
  let answeredAt = Date.now();
  for (;;) {
    signal.throwIfAborted();
    try {
      const job = await backend.ask(() => queue.getJob(id));
      answeredAt = Date.now();
      if (job === undefined) await put();
      else if (job.finishedOn !== undefined && job.failedReason) {
        throw new LeadsyncError('queue.job-failed', `the job failed: ${job.failedReason}`, {
          retry: 'later',
        });
      } else if (job.finishedOn !== undefined) return job.returnvalue;
    } catch (error) {
      if (!isUnavailable(error) || Date.now() - answeredAt > waitingPatienceMs) throw error;
    }
    await sleep(50);
  }
}

const hourMs = 3_600_000;

/**
 * The last time before `now` (epoch ms) at which a cron pattern, which must be one that comes, was due. Found by going
 * forward, as BullMQ does: where clocks change, cron-parser's way back misses nights, doubles them, or throws.
 */
export function previousRun(pattern: string, timeZone: string, now: number): number {
  for (let reachMs = hourMs; ; reachMs *= 6) {
    const dates = CronExpressionParser.parse(pattern, {
      tz: timeZone,
      currentDate: new Date(now - reachMs),
    });
    let last: number | null = null;
    for (let next = dates.next().getTime(); next < now; next = dates.next().getTime()) last = next;
    if (last !== null) return last;
  }
}

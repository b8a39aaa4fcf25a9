import {
  createPostgresBackend,
  DelayedError,
  isPgPool,
  type Job,
  type PgPool,
  RateLimitError,
  type Telemetry,
  runMigrations,
  withBackend,
} from 'bullmq';
import { CronExpressionParser } from 'cron-parser';
import pg from 'pg';
import type { Logger } from 'pino';
import { LeadsyncError } from '../errors.ts';

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
  /** Adds a job that is due at once or after `delayMs`. The same `id` is added only once while it is known. */
  add(
    name: string,
    payload: object,
    options?: { readonly id?: string; readonly delayMs?: number },
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
  /** Jobs by state, at this moment. */
  counts(): Promise<{ waiting: number; active: number; delayed: number; failed: number }>;
  /** The next time a schedule is due, epoch ms; null when there is none. */
  nextRun(name: string): Promise<number | null>;
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
}

/** A job's lock lasts this long (ms) unless its worker renews it; then another worker takes the job up. */
const defaultLockMs = 30_000;

/** How many finished jobs are kept to look at. */
const keepJobs = { count: 200, age: 7 * 24 * 3600 };

const { Queue: PostgresQueue, Worker: PostgresWorker } = withBackend(createPostgresBackend);
type PgQueue = InstanceType<typeof PostgresQueue>;
interface WorkerSettings {
  readonly lockMs: number;
  readonly telemetry?: Telemetry;
}
type Warn = (error: Error, message: string) => void;

/** Database connections besides those with which workers wait for jobs. */
const spareConnections = 8;

/**
 * Opens the queues on the Postgres that also holds the state, in a schema of their own. `workers`: how many may be
 * started at once; each keeps one database connection to itself.
 */
export async function openQueues(
  connectionString: string,
  log: Logger,
  workers: number,
  { lockMs = defaultLockMs, telemetry }: { readonly lockMs?: number; readonly telemetry?: Telemetry } = {},
): Promise<Queues> {
  // BullMQ expects its schema in the search path of a pool that it did not make itself.
  const pool = new pg.Pool({
    connectionString,
    max: workers + spareConnections,
    options: '-c search_path=bullmq',
    application_name: 'leadsync-queue',
  });
  // BullMQ listens once for each queue and worker.
  pool.setMaxListeners(0);
  let closing = false;
  const warn = (error: Error, message: string): void => {
    if (!closing) log.warn({ err: error }, message);
  };
  pool.on('error', (error) => warn(error, 'the connection to the queue broke'));
  const client = await pool.connect();
  try {
    await runMigrations(client);
  } finally {
    client.release();
  }
  const open = new Map<string, PgQueue>();
  const queueOf = (name: string): PgQueue => {
    const known = open.get(name);
    if (known !== undefined) return known;
    const queue = new PostgresQueue(name, { connection: backendPool(pool), ...(telemetry && { telemetry }) });
    queue.on('error', (error) => warn(error, `queue ${name}`));
    open.set(name, queue);
    return queue;
  };
  return {
    queue: (name) => jobQueue(queueOf(name), pool, { lockMs, ...(telemetry && { telemetry }) }, warn),
    names: () => [...open.keys()],
    async [Symbol.asyncDispose]() {
      closing = true;
      await Promise.all([...open.values()].map((queue) => queue.close()));
      await pool.end();
    },
  };
}

function jobQueue(queue: PgQueue, pool: pg.Pool, shared: WorkerSettings, warn: Warn): JobQueue {
  return {
    async add(name, payload, options = {}) {
      const job = await queue.add(name, payload, {
        ...(options.id !== undefined && { jobId: options.id }),
        ...(options.delayMs !== undefined && { delay: Math.ceil(options.delayMs) }),
        removeOnComplete: keepJobs,
        removeOnFail: keepJobs,
      });
      return { id: job.id ?? '', finished: (signal) => finished(queue, job.id ?? '', signal) };
    },
    async addAll(name, jobs) {
      await queue.addBulk(
        jobs.map(({ payload, id, delayMs }) => ({
          name,
          data: payload,
          opts: { jobId: id, delay: Math.ceil(delayMs), removeOnComplete: true, removeOnFail: true },
        })),
      );
    },
    work: (handlers, concurrency = 1) => startWorker(queue, pool, { ...shared, concurrency }, handlers, warn),
    async schedule(name, pattern, timeZone, job, payload) {
      await queue.upsertJobScheduler(
        name,
        { pattern, tz: timeZone },
        {
          name: job,
          data: payload,
          opts: {
            removeOnComplete: keepJobs,
            removeOnFail: keepJobs,
            // Each night is a trace of its own: with a context handed on they would all be one.
            telemetry: { omitContext: true },
          },
        },
      );
    },
    async counts() {
      const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
      const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
      return { waiting, active, delayed, failed };
    },
    async nextRun(name) {
      const scheduler = await queue.getJobScheduler(name);
      return scheduler?.next ?? null;
    },
  };
}

function startWorker(
  queue: PgQueue,
  pool: pg.Pool,
  { lockMs, concurrency, telemetry }: WorkerSettings & { readonly concurrency: number },
  handlers: Readonly<Record<string, JobHandler>>,
  warn: Warn,
): AsyncDisposable {
  const stop = new AbortController();
  const process = async (job: Job, token?: string): Promise<unknown> => {
    const handler = handlers[job.name];
    if (handler === undefined) throw new LeadsyncError('queue.unknown-job', `no handler for job ${job.name}`);
    const result = await handler(job.data, { requestedAt: dueAt(job) }, stop.signal);
    if ('done' in result) return result.done;
    if (result.wholeQueue) {
      await queue.rateLimit(Math.ceil(result.againAfterMs));
      throw new RateLimitError();
    }
    await job.moveToDelayed(Date.now() + Math.ceil(result.againAfterMs), token);
    throw new DelayedError();
  };
  const worker = new PostgresWorker(queue.name, process, {
    connection: backendPool(pool),
    ...(telemetry && { telemetry }),
    concurrency,
    lockDuration: lockMs,
    stalledInterval: lockMs / 2,
    maxStalledCount: 1_000,
    // A queue is only looked at for a rate limit when its workers have one of their own; this one never limits.
    limiter: { max: 1_000_000, duration: 1 },
  });
  worker.on('error', (error) => warn(error, `worker of queue ${queue.name}`));
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new LeadsyncError('process.stopping', 'the process is stopping', { retry: 'later' }));
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

/** Polls: the state of a job is one indexed row, and a poll survives any broken connection. */
async function finished(queue: PgQueue, id: string, signal: AbortSignal): Promise<unknown> {
  for (;;) {
    signal.throwIfAborted();
    const job = await queue.getJob(id);
    if (job === undefined)
      throw new LeadsyncError('queue.job-lost', `job ${id} is not in the queue any more`, { retry: 'later' });
    if (job.finishedOn !== undefined && job.failedReason) {
      throw new LeadsyncError('queue.job-failed', `the job failed: ${job.failedReason}`, { retry: 'later' });
    }
    if (job.finishedOn !== undefined) return job.returnvalue;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** BullMQ declares a pool of its own shape, which pg's types do not quite match; it has a test for the real thing. */
function backendPool(pool: unknown): PgPool {
  if (!isPgPool(pool)) throw new TypeError('not a pool of pg');
  return pool;
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

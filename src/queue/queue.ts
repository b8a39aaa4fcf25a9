import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ErrorCode, type Telemetry } from 'bullmq';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import type { RedisAddress } from '../config/redis-address.ts';
import { LeadsyncError } from '../errors.ts';
import type { Backend, BackendOptions, BullQueue, Finding } from './backend.ts';
import type { Board } from './board.ts';
import { openPostgresBackend } from './postgres-backend.ts';
import { upsertSchedule } from './upsert-schedule.ts';
import { isUnavailable, type JobHandler, startWorker } from './work.ts';

export type { JobHandle, JobResult } from './work.ts';

/**
 * The only place that knows BullMQ. Jobs carry ids and names, never data of leads or secrets.
 */

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
  /** Deletes the queue with its jobs and schedules. */
  forget(): Promise<void>;
  /** Ends the pause in which all jobs wait (see `wholeQueue`), and lets these jobs begin that wait for their next try. */
  endPause(ids: readonly string[], stop: AbortSignal): Promise<void>;
}

interface JobCounts {
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
  /** Asks the server of the queues for its time (epoch ms); null: it is the database. */
  readonly clock: (() => Promise<number>) | null;
  /** How the server of the queues is set up, and what of it has to be put right; nothing when it is the database. */
  examine(): Promise<readonly Finding[]>;
  /** BullMQ's board over all queues that are or will be opened here, to be mounted at `path`, under `boardPolicy`. */
  board(path: string): Promise<Hono>;
}

/** A job's lock lasts this long (ms) unless its worker renews it; then another worker takes the job up. */
const defaultLockMs = 30_000;

const lostJobCodes: ReadonlySet<unknown> = new Set([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
]);

/** How many finished jobs are kept to look at. */
const keepJobs = { count: 200, age: 7 * 24 * 3600 };

/** Ms between two looks at a job that is waited for. */
const [shortestPollMs, longestPollMs] = [10, 250];

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

/** Loaded only where it is used: each command is that much faster. */
async function openInRedis(
  { address, prefix }: Extract<QueueBackend, { kind: 'redis' }>,
  options: BackendOptions,
): Promise<Backend> {
  const { openRedisBackend } = await import('./redis-backend.ts');
  return openRedisBackend(address, prefix, options);
}

/** Opens the queues. `workers`: how many may be started at once. Throws LeadsyncErrors of code `queue.*` for Redis. */
export async function openQueues(
  where: QueueBackend,
  log: Logger,
  workers: number,
  { lockMs = defaultLockMs, telemetry }: QueueOptions = {},
): Promise<Queues> {
  let closing = false;
  const warn = (error: unknown, message: string): void => {
    if (!closing) log[hasLostJob(error) ? 'debug' : 'warn']({ err: error }, message);
  };
  const options = { warn, ...(telemetry && { telemetry }) };
  const backend =
    where.kind === 'postgres'
      ? await openPostgresBackend(where.connectionString, workers, options)
      : await openInRedis(where, options);
  const open = new Map<string, BullQueue>();
  const boards: Board[] = [];
  const queueOf = (name: string): BullQueue => {
    const known = open.get(name);
    if (known !== undefined) return known;
    const queue = backend.openQueue(name);
    open.set(name, queue);
    for (const board of boards) board.addQueue(queue);
    return queue;
  };
  /** BullMQ keeps the outcome of a queue's first use, also when it was a fault: such a queue is made anew. */
  const usable = async (name: string): Promise<BullQueue> => {
    const queue = queueOf(name);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      if (open.get(name) === queue) open.delete(name);
      void queue.close().catch(() => {});
      throw error;
    }
  };
  return {
    queue: (name) => {
      queueOf(name);
      return jobQueue(name, backend, { lockMs, warn }, (operation) =>
        backend.ask(async () => operation(await usable(name))),
      );
    },
    names: () => [...open.keys()],
    ping: () => backend.ping(),
    clock: backend.clock,
    examine: () => backend.ask(() => backend.examine()),
    async board(path) {
      // Needed by the worker alone, and large.
      const { createBoard } = await import('./board.ts');
      const board = createBoard(path, open.values());
      boards.push(board);
      return board.app;
    },
    async [Symbol.asyncDispose]() {
      closing = true;
      await Promise.all([...open.values()].map((queue) => queue.close()));
      await backend[Symbol.asyncDispose]();
    },
  };
}

/** A job went on elsewhere while its server, or this process, was away: whoever has it now tells of it. */
function hasLostJob(error: unknown): boolean {
  return error instanceof Error && 'code' in error && lostJobCodes.has(error.code);
}

/** Does something with the queue; see `Backend.ask`. */
type Ask = <T>(operation: (queue: BullQueue) => Promise<T>) => Promise<T>;

function jobQueue(
  name: string,
  backend: Backend,
  settings: { readonly lockMs: number } & Pick<BackendOptions, 'warn'>,
  ask: Ask,
): JobQueue {
  const handlers = new EventEmitter().setMaxListeners(0);
  return {
    async add(job, payload, { id = randomUUID(), delayMs, requestedAt } = {}) {
      const delay = delayMs === undefined ? {} : { delay: Math.ceil(delayMs) };
      const options = {
        jobId: id,
        // Also of one that is added again, which is the same request.
        timestamp: requestedAt ?? Date.now(),
        ...delay,
        removeOnComplete: keepJobs,
        removeOnFail: keepJobs,
      };
      const put = async (): Promise<void> => void (await ask((queue) => queue.add(job, payload, options)));
      await put();
      return { id, finished: (signal) => finished(ask, id, put, handlers, signal) };
    },
    async addAll(job, jobs) {
      const all = jobs.map(({ payload, id, delayMs }) => ({
        name: job,
        data: payload,
        opts: { jobId: id, delay: Math.ceil(delayMs), removeOnComplete: true, removeOnFail: true },
      }));
      await ask((queue) => queue.addBulk(all));
    },
    work: (ours, concurrency = 1) => {
      const onEnd = (): void => void handlers.emit('end');
      return startWorker(name, backend, ask, { ...settings, concurrency, onEnd }, ours);
    },
    async schedule(schedule, pattern, timeZone, job, payload) {
      const template = {
        name: job,
        data: payload,
        // Each night is a trace of its own: with the context handed on they would all be one.
        opts: { removeOnComplete: keepJobs, removeOnFail: keepJobs, telemetry: { omitContext: true } },
      };
      await ask((queue) => upsertSchedule(queue, schedule, { pattern, tz: timeZone }, template));
    },
    async nextRun(schedule) {
      const scheduler = await ask((queue) => queue.getJobScheduler(schedule));
      return scheduler?.next ?? null;
    },
    async counts() {
      const counts = await ask((queue) => queue.getJobCounts('waiting', 'active', 'delayed', 'failed'));
      const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
      return { waiting, active, delayed, failed };
    },
    async forget() {
      await ask((queue) => queue.obliterate({ force: true }));
    },
    async endPause(ids, stop) {
      await ask((queue) => queue.removeRateLimitKey());
      for (const id of ids) {
        if (stop.aborted) return;
        const job = await ask((queue) => queue.getJob(id));
        // It may have begun meanwhile.
        if (await job?.isDelayed()) await job?.promote().catch(() => {});
      }
    },
  };
}

/**
 * Polls: the state of a job is read quickly, and a poll survives any broken connection. A job that is gone was in a Redis
 * that lost its memory: `put` adds it again. `handlers`: those of this process, which tell of each end.
 */
async function finished(
  ask: Ask,
  id: string,
  put: () => Promise<void>,
  handlers: EventEmitter,
  signal: AbortSignal,
): Promise<unknown> {
  let since = performance.now();
  let answeredAt = Date.now();
  for (;;) {
    signal.throwIfAborted();
    try {
      const job = await ask((queue) => queue.getJob(id));
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
    // So that waiting adds one part in sixty, on average, to what another process does; a job of this one is about to end.
    const part = (performance.now() - since) / 30;
    if (await isToldWithin(Math.min(longestPollMs, Math.max(shortestPollMs, part)), handlers))
      since = performance.now();
  }
}

/** Whether a handler of this process ends within so many ms; returns as soon as it does. */
async function isToldWithin(ms: number, handlers: EventEmitter): Promise<boolean> {
  const over = new AbortController();
  const { signal } = over;
  try {
    const told = once(handlers, 'end', { signal }).then(() => true);
    return await Promise.race([sleep(ms, false, { signal }), told]);
  } finally {
    over.abort();
  }
}

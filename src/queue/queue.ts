import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ErrorCode, type Telemetry } from 'bullmq';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import type { RedisAddress } from '../config/redis-address.ts';
import { codeOf, LeadsyncError } from '../lib/errors.ts';
import type { PostgresUrl } from '../postgres/postgres-client.ts';
import type { Backend, BackendOptions, BullQueue } from './backend.ts';
import type { Board } from './board.ts';
import { openPostgresBackend } from './postgres-backend.ts';
import { upsertSchedule, type JobHandler, startWorker } from './work.ts';

/**
 * Only this room knows BullMQ. Jobs carry ids and names, never data of leads or secrets.
 */

/** One queue. During an outage of Redis every method throws `queue.unavailable`. */
export type JobQueue = ReturnType<typeof jobQueue>;

export type JobCounts = Readonly<Record<'waiting' | 'active' | 'delayed' | 'failed', number>>;

export const noJobs: JobCounts = { waiting: 0, active: 0, delayed: 0, failed: 0 };

export interface Queues
  extends AsyncDisposable,
    Pick<Backend, 'ping' | 'connections' | 'clock' | 'claim' | 'examine'> {
  queue(name: string): JobQueue;
  names(): readonly string[];
  /** BullMQ's board over all queues that are or will be opened here, to be mounted at `path`, under `boardPolicy`. */
  board(path: string): Promise<Hono>;
}

/** Ms after which another worker takes a job over whose worker does not renew its lock. */
const defaultLockMs = 30_000;

const lostJobCodes: ReadonlySet<unknown> = new Set([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
]);

/** Finished jobs that the board still shows. */
const keepJobs = { count: 200, age: 7 * 24 * 3600 };

/** Ms between two polls of a job. */
const pollMs = 25;

/** On the Postgres that also holds the state, or in Redis. */
export type QueueBackend =
  | { readonly kind: 'postgres'; readonly connectionString: PostgresUrl }
  | { readonly kind: 'redis'; readonly address: RedisAddress };

/** Opens the queues. `workers`: how many may run at once. Throws LeadsyncErrors of code `queue.*` for Redis. */
export async function openQueues(
  where: QueueBackend,
  log: Logger,
  workers: number,
  { lockMs = defaultLockMs, telemetry }: { readonly lockMs?: number; readonly telemetry?: Telemetry } = {},
): Promise<Queues> {
  let closing = false;
  const warn = (error: unknown, message: string): void => {
    if (!closing) log[hasLostJob(error) ? 'debug' : 'warn']({ err: error }, message);
  };
  const options = { warn, ...(telemetry && { telemetry }) };
  const backend =
    where.kind === 'postgres'
      ? await openPostgresBackend(where.connectionString, workers, options)
      : // Loaded only where it is used: a command without Redis starts faster.
        await (await import('./redis-backend.ts')).openRedisBackend(where.address, options);
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
  /** BullMQ keeps the outcome of a queue's first use, also a fault: such a queue is replaced. */
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
    connections: () => backend.connections(),
    clock: backend.clock,
    claim: backend.claim,
    examine: () => backend.ask(() => backend.examine()),
    async board(path) {
      // Only the worker needs it, and it is large.
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

/** Another worker took the job over while its server, or this process, was away: that one reports it. */
function hasLostJob(error: unknown): boolean {
  return error instanceof Error && 'code' in error && lostJobCodes.has(error.code);
}

/** Runs an operation on the queue; see `Backend.ask`. */
type Ask = <T>(operation: (queue: BullQueue) => Promise<T>) => Promise<T>;

function jobQueue(
  name: string,
  backend: Backend,
  settings: { readonly lockMs: number } & Pick<BackendOptions, 'warn'>,
  ask: Ask,
) {
  return {
    /**
     * Adds a job that is due at once or after `delayMs`. The queue ignores an `id` that it knows. `requestedAt` (epoch ms): when an earlier job
     * made the same request. Unless `isKept`, a job that has finished, and its id, are forgotten at once.
     */
    async add(
      job: string,
      payload: object,
      {
        id = randomUUID(),
        delayMs,
        requestedAt,
        isKept = true,
      }: Partial<Readonly<{ id: string; delayMs: number; requestedAt: number; isKept: boolean }>> = {},
    ) {
      const kept = isKept ? keepJobs : true;
      const delay = delayMs === undefined ? {} : { delay: Math.ceil(delayMs) };
      const options = {
        jobId: id,
        // A job that is added again is the same request.
        timestamp: requestedAt ?? Date.now(),
        ...delay,
        removeOnComplete: kept,
        removeOnFail: kept,
      };
      await ask((queue) => queue.add(job, payload, options));
      /** Waits until some worker has finished the job, and returns its summary; rejects when the job failed. */
      return { finished: (signal: AbortSignal) => finished(ask, id, signal) };
    },
    /**
     * Takes jobs, `concurrency` at a time and in their order, until the returned object is disposed: that stops the jobs under way and returns
     * them to the queue.
     */
    work: (handlers: Readonly<Record<string, JobHandler>>, concurrency = 1) =>
      startWorker(name, backend, ask, { ...settings, concurrency }, handlers),
    /** Keeps exactly one schedule of that name: a cron pattern in a time zone. */
    async schedule(schedule: string, pattern: string, timeZone: string, job: string, payload: object) {
      const template = {
        name: job,
        data: payload,
        // Each night is a trace of its own: a shared context would join them all.
        opts: { removeOnComplete: keepJobs, removeOnFail: keepJobs, telemetry: { omitContext: true } },
      };
      await ask((queue) => upsertSchedule(queue, schedule, { pattern, tz: timeZone }, template));
    },
    /** How many schedules there are, by one command; also those that have lost what they say. */
    countSchedules: () => ask((queue) => queue.getJobSchedulersCount()),
    /** The schedules that are whole, by their names, and when each is next due (epoch ms). */
    async schedules() {
      const found = await ask((queue) => queue.getJobSchedulers());
      return new Map(
        found.flatMap(({ key, pattern = '', tz = '', next }) =>
          next === undefined ? [] : [[key, { pattern, timeZone: tz, nextRunAt: next }]],
        ),
      );
    },
    async unschedule(schedule: string) {
      await ask((queue) => queue.removeJobScheduler(schedule));
    },
    async counts(): Promise<JobCounts> {
      const counts = await ask((queue) => queue.getJobCounts('waiting', 'active', 'delayed', 'failed'));
      const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
      return { waiting, active, delayed, failed };
    },
    /** By the `connection` of their payloads; reads every job that waits, is under way or is delayed. */
    async countsOfConnections(): Promise<ReadonlyMap<string, JobCounts>> {
      const counts = new Map<string, JobCounts>();
      for (const state of ['waiting', 'active', 'delayed'] as const) {
        for (const { data } of await ask((queue) => queue.getJobs([state]))) {
          const of = connectionOf(data);
          const known = counts.get(of) ?? noJobs;
          counts.set(of, { ...known, [state]: known[state] + 1 });
        }
      }
      return counts;
    },
    /** Deletes the queue with its jobs and schedules; of a connection, those of its jobs that are not under way. */
    async forget(connection?: string): Promise<void> {
      if (connection === undefined) return ask((queue) => queue.obliterate({ force: true }));
      await ask((queue) => queue.removeJobScheduler(connection));
      for (const { id = '', data } of await ask((queue) => queue.getJobs()))
        if (connectionOf(data) === connection) await ask((queue) => queue.remove(id)).catch(unlessScheduled);
    },
  };
}

/** Empty: the job is of none. */
function connectionOf(payload: unknown): string {
  const isOf = typeof payload === 'object' && payload !== null && 'connection' in payload;
  return isOf && typeof payload.connection === 'string' ? payload.connection : '';
}

/** Polls, since a poll survives any broken connection. */
async function finished(ask: Ask, id: string, signal: AbortSignal): Promise<unknown> {
  for (;;) {
    const job = await ask((queue) => queue.getJob(id)).catch(unlessUnavailable);
    if (job?.finishedOn !== undefined && !job.failedReason) return job.returnvalue;
    if (job?.finishedOn !== undefined) {
      const reason = `the job failed: ${job.failedReason}`;
      throw new LeadsyncError('queue.job-failed', reason, { retry: 'later' });
    }
    await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** In Postgres what a schedule has put into its queue stays: finished, or for a worker that leaves it out (`leftToOthers`). */
function unlessScheduled(error: unknown): void {
  const isScheduled =
    error instanceof Error && 'code' in error && error.code === ErrorCode.JobBelongsToJobScheduler;
  if (!isScheduled) throw error;
}

function unlessUnavailable(error: unknown): undefined {
  if (codeOf(error) !== 'queue.unavailable') throw error;
}

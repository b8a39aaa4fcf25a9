import type { EventEmitter } from 'node:events';
import type { Processor, Queue, Telemetry, WorkerOptions } from 'bullmq';
import { LeadsyncError } from '../lib/errors.ts';

/** What leadsync uses of a BullMQ queue. */
export type BullQueue = Pick<
  Queue<unknown, unknown>,
  | 'name'
  | 'add'
  | 'close'
  | 'getJob'
  | 'getJobCounts'
  | 'getJobScheduler'
  | 'getJobSchedulers'
  | 'getJobSchedulersCount'
  | 'getJobs'
  | 'obliterate'
  | 'remove'
  | 'removeJobScheduler'
  | 'upsertJobScheduler'
  | 'waitUntilReady'
>;

type WorkerSettings = Omit<WorkerOptions<never>, 'connection' | 'prefix' | 'telemetry'>;

/** Where the queues are kept: what differs between Postgres and Redis. */
export interface Backend extends AsyncDisposable {
  openQueue(name: string): BullQueue;
  openWorker(name: string, process: Processor<unknown, unknown>, settings: WorkerSettings): BullWorker;
  /** Runs an operation that a caller waits for. Throws `queue.unavailable` during an outage: of Redis, within seconds. */
  ask<T>(operation: () => Promise<T>): Promise<T>;
  /**
   * Asks the queues' server with a write. Throws `queue.unavailable` when it does not answer within 2 s, and `queue.read-only`
   * when it refuses: a replica, a full one.
   */
  ping(): Promise<void>;
  /** How often a connection to a server that may have lost jobs meanwhile was made. */
  connections(): number;
  /** The time of the queues' server (epoch ms); null: it is the database. */
  readonly clock: (() => Promise<number>) | null;
  /** Claims the queues for one installation; null: they are in its database. */
  readonly claim: QueueClaim | null;
  /** How the queues' server is set up, and what must be corrected; nothing when it is the database. */
  examine(): Promise<readonly Finding[]>;
}

export interface Finding {
  readonly name: string;
  readonly message: string;
  /** What must be corrected, by its stable code. */
  readonly fault?: { readonly code: string; readonly help: string };
}

export interface QueueOwner {
  readonly owner: string;
  /** For people: the machine of the worker, and where its database is. */
  readonly machine: string;
  readonly database: string;
}

export interface QueueClaim {
  /** The server, and where in it. */
  readonly place: string;
  /** Whether the queues are the owner's; false: nobody's. Throws `queue.taken` when they are another's. */
  isOf(owner: string): Promise<boolean>;
  /** Claims the queues for `forMs`. `known`: they were the owner's already. Throws `queue.taken` when they are another's. */
  renew(by: QueueOwner, forMs: number): Promise<'new' | 'known'>;
  release(owner: string): Promise<void>;
}

interface BullWorker {
  /** Stops taking jobs, when its handlers have ended; within a few seconds in any case. */
  close(): Promise<void>;
}

export interface BackendOptions {
  readonly telemetry?: Telemetry;
  /** Called with faults of the connection, and of BullMQ itself. */
  readonly warn: (error: unknown, message: string) => void;
}

/**
 * Reports the errors of a worker, except for lost locks: BullMQ raises an error without a code for each, and the worker that
 * has the job now reports that.
 */
export function onWorkerError(worker: EventEmitter, report: (error: Error) => void): void {
  let lost = 0;
  worker.on('lockRenewalFailed', (jobs: readonly string[]) => {
    lost += jobs.length;
  });
  worker.on('error', (error: Error) => {
    if (lost > 0) lost -= 1;
    else report(error);
  });
}

/** Faults of a queue's server that a person or time puts right: the same operation may succeed later. */
const outageCodes: ReadonlySet<string> = new Set([
  'queue.unavailable',
  'queue.read-only',
  'queue.login-failed',
  'queue.forbidden',
  'queue.protected',
  'queue.unknown-host',
  'queue.unknown-master',
  'queue.certificate',
  'queue.no-such-database',
]);

/** Whether the queue was away, or took no jobs: a worker, once it has started, waits for it. */
export function isQueueOutage(error: unknown): boolean {
  return error instanceof LeadsyncError && outageCodes.has(error.code);
}

import type { EventEmitter } from 'node:events';
import type { Processor, Queue, Telemetry, WorkerOptions } from 'bullmq';

/** What we use of a queue of BullMQ, wherever it is kept. */
export type BullQueue = Pick<
  Queue<unknown, unknown>,
  | 'name'
  | 'add'
  | 'addBulk'
  | 'close'
  | 'getJob'
  | 'getJobCounts'
  | 'getJobScheduler'
  | 'obliterate'
  | 'rateLimit'
  | 'removeRateLimitKey'
  | 'upsertJobScheduler'
  | 'waitUntilReady'
>;

type WorkerSettings = Omit<WorkerOptions<never>, 'connection' | 'prefix' | 'telemetry'>;

/** Where the queues are kept: what differs between Postgres and Redis. */
export interface Backend extends AsyncDisposable {
  openQueue(name: string): BullQueue;
  openWorker(name: string, process: Processor<unknown, unknown>, settings: WorkerSettings): BullWorker;
  /** Does what somebody waits for. Throws `queue.unavailable` when the server is away: within seconds when it is Redis. */
  ask<T>(operation: () => Promise<T>): Promise<T>;
  /** Throws when the server does not answer within 2 s. */
  ping(): Promise<void>;
  /** Asks a server of its own for its time (epoch ms); null: it is the database. */
  readonly clock: (() => Promise<number>) | null;
  examine(): Promise<readonly Finding[]>;
}

/** What was looked at, as `leadsync check` tells it. */
export interface Finding {
  readonly name: string;
  readonly message: string;
  /** What has to be put right, by its stable code. */
  readonly fault?: { readonly code: string; readonly help: string };
}

interface BullWorker {
  /** Stops taking jobs, when its handlers have ended. Ends within a few seconds, come what may. */
  close(): Promise<void>;
}

export interface BackendOptions {
  readonly telemetry?: Telemetry;
  /** Is told of faults of the connection, and of BullMQ itself. */
  readonly warn: (error: unknown, message: string) => void;
}

/**
 * Passes on what goes wrong in a worker, but for locks that it has lost: BullMQ tells of each by an error without a code, and
 * whoever has the job now tells of that.
 */
export function onWorkerError(worker: EventEmitter, tell: (error: Error) => void): void {
  let lost = 0;
  worker.on('lockRenewalFailed', (jobs: readonly string[]) => {
    lost += jobs.length;
  });
  worker.on('error', (error: Error) => {
    if (lost > 0) lost -= 1;
    else tell(error);
  });
}

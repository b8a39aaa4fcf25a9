import { setTimeout as sleep } from 'node:timers/promises';
import { createRedisBackend, withBackend } from 'bullmq';
import type { RedisAddress } from '../config/redis-address.ts';
import { type Backend, type BackendOptions, onWorkerError } from './backend.ts';
import { examineRedis } from './examine-redis.ts';
import { scheduleSettings } from './run-times.ts';
import {
  askingOptions,
  createRedisClient,
  isReadyWithin,
  type RedisClient,
  workingOptions,
} from './redis-client.ts';
import { sentinelFault } from './sentinel-fault.ts';
import { isOfConnection, lastingFault, unavailable } from './redis-fault.ts';

const { Queue, Worker } = withBackend(createRedisBackend);

/** Ms for which a server that is away is waited for: at the start, and by who adds a job or asks. */
const patienceMs = 3_000;

/** Ms in which a worker has to be off a server that answers. */
const closeMs = 2_000;

const pingMs = 2_000;

/** Nobody reads BullMQ's events. */
const keptEvents = 100;

/**
 * The queues in Redis, on one connection for adding and asking, one for what workers store, and one for each worker that
 * waits for jobs. Throws `queue.unavailable`, or what has to be corrected.
 */
export async function openRedisBackend(
  address: RedisAddress,
  prefix: string,
  { telemetry, warn }: BackendOptions,
): Promise<Backend> {
  const refusal = await sentinelFault(address);
  if (refusal !== null) throw refusal;
  await using stack = new AsyncDisposableStack();
  let fault: unknown = null;
  const told = new Set<string>();
  /** An outage makes every queue and worker complain at every try: each complaint is passed on once until it is over. */
  const warnOnce = (error: Error, message: string): void => {
    fault = error;
    const isOutage = isOfConnection(error);
    const complaint = isOutage ? '' : error.message;
    if (told.has(complaint)) return;
    told.add(complaint);
    // As what it is: a raw error of the system could be one of the database.
    if (isOutage) warn(unavailable(error, address), 'the connection to Redis broke; it is tried again');
    else warn(error, message);
  };
  const open = (options: typeof askingOptions | typeof workingOptions): RedisClient => {
    const client = stack.adopt(createRedisClient(address, options), (opened) => opened.disconnect());
    client.on('error', (error: Error) => warnOnce(error, 'Redis'));
    client.on('ready', () => told.clear());
    return client;
  };
  const asking = open(askingOptions);
  await waitForStart(asking, address, () => fault);
  // What every worker asks for first: one that may not would wait in silence.
  await asking.info().catch((error: unknown) => {
    throw lastingFault(error, address) ?? unavailable(error, address);
  });
  const working = open(workingOptions);
  const shared = {
    // All keys of a queue have to be in one slot of a cluster.
    prefix: address.kind === 'cluster' ? `{${prefix}}` : prefix,
    settings: scheduleSettings,
    ...(telemetry && { telemetry }),
  };
  let isSilent = false;
  const owned = stack.move();
  return {
    openQueue(name) {
      const streams = { events: { maxLen: keptEvents } };
      // A look at the version that broke off would spoil the queue for good; only workers need to know it.
      const options = { ...shared, connection: asking, streams, skipVersionCheck: true };
      const queue = new Queue<unknown, unknown>(name, options);
      queue.on('error', (error) => warnOnce(error, `queue ${name}`));
      return queue;
    },
    openWorker(name, process, settings) {
      const options = { ...shared, connection: working, runRetryDelay: 1_000, ...settings };
      const worker = new Worker(name, process, options);
      onWorkerError(worker, (error) => warnOnce(error, `worker of queue ${name}`));
      return {
        async close() {
          // BullMQ's own way waits for the server without end.
          if (working.status === 'ready' && !isSilent) {
            const paused = worker.pause().then(
              () => true,
              () => false,
            );
            isSilent = !(await Promise.race([paused, sleep(closeMs, false, { ref: false })]));
          }
          await worker.close(true);
        },
      };
    },
    async ask(operation) {
      if (!(await isReadyWithin(asking, patienceMs))) throw unavailable(fault, address);
      try {
        return await operation();
      } catch (error) {
        // A job that is not there any more, for instance: an answer of BullMQ's (its `ErrorCode`), not of an outage.
        if (error instanceof Error && 'code' in error && typeof error.code === 'number') throw error;
        throw lastingFault(error, address) ?? unavailable(error, address, error);
      }
    },
    async ping() {
      const answer = isReadyWithin(asking, pingMs).then((isReady) => (isReady ? asking.ping() : null));
      const reply = await Promise.race([answer, sleep(pingMs, null, { ref: false })]).catch(() => null);
      if (reply === null) throw unavailable(fault, address);
    },
    async clock() {
      const [seconds, micros] = await asking.time();
      return Number(seconds) * 1_000 + Number(micros) / 1_000;
    },
    examine: async () => examineRedis(asking, address),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Waits until the server answers. What another try does not heal is thrown at once. */
async function waitForStart(client: RedisClient, address: RedisAddress, fault: () => unknown): Promise<void> {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const look = (error: Error): void => {
    const found = lastingFault(error, address);
    if (found !== null) reject(found);
  };
  client.on('error', look);
  try {
    const isReady = await Promise.race([isReadyWithin(client, patienceMs), broken]);
    if (!isReady) throw unavailable(fault(), address);
  } finally {
    client.off('error', look);
  }
}

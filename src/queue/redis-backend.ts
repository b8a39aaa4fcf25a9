import { setTimeout as sleep } from 'node:timers/promises';
import { createRedisBackend, withBackend } from 'bullmq';
import type { RedisAddress } from '../config/redis-address.ts';
import { LeadsyncError } from '../lib/errors.ts';
import {
  type Backend,
  type BackendOptions,
  onWorkerError,
  type QueueClaim,
  type QueueOwner,
} from './backend.ts';
import { examineRedis } from './examine-redis.ts';
import { scheduleSettings } from './schedules.ts';
import {
  askingOptions,
  createRedisClient,
  isReadyWithin,
  type RedisClient,
  workingOptions,
} from './redis-client.ts';
import { describeHosts, lastingFault, refusal, sentinelFault, unavailable } from './redis-fault.ts';
import { patienceMs, pingRedis, prefixFor, waitForStart } from './redis-ping.ts';
import { z } from 'zod';

const { Queue, Worker } = withBackend(createRedisBackend);

/** Ms that a worker has to leave a server that answers. */
const closeMs = 2_000;

/** Nothing reads BullMQ's events. */
const keptEvents = 100;

/**
 * The queues in Redis, on one connection for operations, one for what workers store, and one for each worker that waits for
 * jobs. Throws `queue.unavailable`, or what must be corrected.
 */
export async function openRedisBackend(
  address: RedisAddress,
  { telemetry, warn }: BackendOptions,
): Promise<Backend> {
  const unled = await sentinelFault(address);
  if (unled !== null) throw unled;
  await using stack = new AsyncDisposableStack();
  let fault: unknown = null;
  const reported = new Set<string>();
  /** Reports each error once until the outage is over: every queue and worker raises it at every attempt. */
  const warnOnce = (error: Error, message: string): void => {
    fault = error;
    // Translated: a raw system error could be one of the database.
    const outage = lastingFault(error, address) ?? refusal(error, address);
    const key = outage?.code ?? error.message;
    if (reported.has(key)) return;
    reported.add(key);
    if (outage !== null) warn(outage, 'the connection to Redis broke; leadsync reconnects');
    else warn(error, message);
  };
  const open = (options: typeof askingOptions | typeof workingOptions): RedisClient => {
    const client = stack.adopt(createRedisClient(address, options), (opened) => opened.disconnect());
    client.on('error', (error: Error) => warnOnce(error, 'Redis'));
    client.on('ready', () => reported.clear());
    return client;
  };
  const asking = open(askingOptions);
  let connections = 0;
  asking.on('ready', () => (connections += 1));
  await waitForStart(asking, address, () => fault);
  // Every worker runs INFO first: without the permission it would wait in silence.
  await asking.info().catch((error: unknown) => {
    throw lastingFault(error, address) ?? unavailable(error, address);
  });
  const working = open(workingOptions);
  const shared = {
    prefix: prefixFor(address),
    settings: scheduleSettings,
    ...(telemetry && { telemetry }),
  };
  const ask: Backend['ask'] = async (operation) => {
    if (!(await isReadyWithin(asking, patienceMs))) throw unavailable(fault, address);
    try {
      return await operation();
    } catch (error) {
      if (error instanceof LeadsyncError) throw error;
      // A numeric code is BullMQ's (`ErrorCode`), for a job that is gone, for instance: no outage.
      if (error instanceof Error && 'code' in error && typeof error.code === 'number') throw error;
      throw lastingFault(error, address) ?? unavailable(error, address, error);
    }
  };
  const place = `Redis at ${describeHosts(address)}, database ${address.db}`;
  const claim = redisClaim(asking, `${shared.prefix}:installation`, place);
  let isSilent = false;
  const owned = stack.move();
  return {
    openQueue(name) {
      const streams = { events: { maxLen: keptEvents } };
      // A version check that breaks off would spoil the queue for good; only workers need the version.
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
          // BullMQ's own `close` waits for the server without end.
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
    ask,
    ping: () => pingRedis(asking, address, () => fault),
    connections: () => connections,
    clock: () =>
      ask(async () => {
        const [seconds, micros] = await asking.time();
        return Number(seconds) * 1_000 + Number(micros) / 1_000;
      }),
    claim: {
      ...claim,
      isOf: (owner) => ask(() => claim.isOf(owner)),
      renew: (by, forMs) => ask(() => claim.renew(by, forMs)),
    },
    examine: async () => examineRedis(asking, address),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const claimed = z.object({
  owner: z.string(),
  machine: z.string(),
  database: z.string(),
  since: z.string(),
});

/** The claim of one installation on the keys of a Redis. `key`: no queue uses it; BullMQ's keys have three parts. */
function redisClaim(client: RedisClient, key: string, place: string): QueueClaim {
  const read = async () => {
    const text = await client.get(key);
    return text === null ? null : claimed.parse(JSON.parse(text));
  };
  const isOf: QueueClaim['isOf'] = async (owner) => {
    const found = await read();
    if (found !== null && found.owner !== owner) throw taken(place, found);
    return found !== null;
  };
  return {
    place,
    isOf,
    async renew(by, forMs) {
      const text = JSON.stringify({ ...by, since: new Date().toISOString() });
      if ((await client.set(key, text, 'PX', forMs, 'NX')) === 'OK') return 'new';
      await isOf(by.owner);
      await client.pexpire(key, forMs);
      return 'known';
    },
    async release(owner) {
      if ((await read())?.owner === owner) await client.del(key);
    },
  };
}

function taken(
  place: string,
  { machine, database, since }: Omit<QueueOwner, 'owner'> & { since: string },
): LeadsyncError {
  return new LeadsyncError(
    'queue.taken',
    `Another installation of leadsync has its jobs in ${place}: its worker runs on ${machine}, with the database ${database} (its mark there was made at ${since}, and is renewed while it runs). Nothing was started here, and nothing was changed`,
    {
      retry: 'later',
      help: 'Name another database in REDIS_URL, such as /1. If it has moved to another database: stop the other worker, and start this one a minute later.',
    },
  );
}

import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from '../config/redis-address.ts';
import { replyCode, lastingFault, readOnly, sentinelFault, unavailable } from './redis-fault.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsyncError } from '../lib/errors.ts';

export type RedisClient = Redis | Cluster;

type Options = Omit<RedisOptions, 'replyMapping'>;

/** The longest wait (ms) between two attempts to reconnect. */
const longestRetryMs = 2_000;

/** Ms between reconnections because a server has become a replica. */
const readOnlyPauseMs = 1_000;

/**
 * For operations: during an outage a command fails at once, and without a reply after `commandTimeout` ms (BullMQ's production
 * guide, "fail fast").
 */
export const askingOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  commandTimeout: 5_000,
  socketTimeout: 5_000,
} as const satisfies Options;

/**
 * For workers, which wait for the server as long as it takes (the same guide: `maxRetriesPerRequest` must be null). They
 * wait for jobs for at most 10 s at a time: a server that is silent for longer is gone. Without the timeouts, a reply that is
 * lost with a connection would stop the worker for good.
 */
export const workingOptions = {
  maxRetriesPerRequest: null,
  commandTimeout: 30_000,
  socketTimeout: 15_000,
} as const satisfies Options;

/** A client that connects at once and always reconnects. Faults are its `error` events. */
export function createRedisClient(address: RedisAddress, options: Options): RedisClient {
  const { kind, tls, hosts, db, sentinel } = address;
  const common: Options = {
    // BullMQ is tested with 2; ioredis 6 would use 3, which some proxies and services do not speak.
    protocol: 2,
    connectTimeout: 5_000,
    retryStrategy,
    reconnectOnError: reconnectOnReadOnly(),
    ...(tls && { tls: {} }),
    ...options,
    ...loginOf(address),
  };
  const client = withLogin(open(), address);
  // Each queue and worker needs some. Not 0 (no limit): BullMQ adds to the number.
  client.setMaxListeners(10_000);
  return client;

  function open(): RedisClient {
    if (kind === 'cluster') return new Cluster([...hosts], clusterOptions(common, tls));
    if (kind === 'single') return new Redis({ ...common, ...hosts[0], db });
    return new Redis({
      ...common,
      db,
      sentinels: [...hosts],
      name: sentinel?.master ?? '',
      ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
      sentinelRetryStrategy: retryStrategy,
    });
  }
}

function loginOf({ username, password, sentinel }: RedisAddress) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: password.reveal() }),
    ...(sentinel?.username !== undefined && { sentinelUsername: sentinel.username }),
    ...(sentinel?.password !== undefined && { sentinelPassword: sentinel.password.reveal() }),
  };
}

/**
 * Lets a client, and those that BullMQ makes after it, log in with what is right at that moment: ioredis reads its options at each
 * connection, and those for the nodes of a cluster as it meets a node.
 */
function withLogin<Client extends RedisClient>(client: Client, address: RedisAddress): Client {
  const options: unknown =
    client instanceof Cluster
      ? Reflect.get(Reflect.get(client, 'connectionPool'), 'redisOptions')
      : client.options;
  if (typeof options !== 'object' || options === null)
    throw new TypeError('ioredis keeps its options elsewhere');
  for (const name of ['username', 'password', 'sentinelUsername', 'sentinelPassword'] as const)
    Object.defineProperty(options, name, { enumerable: true, get: () => loginOf(address)[name] });
  const duplicate = client.duplicate.bind(client) as (...args: unknown[]) => Client;
  Object.assign(client, { duplicate: (...args: unknown[]) => withLogin(duplicate(...args), address) });
  return client;
}

function clusterOptions(redisOptions: Options, tls: boolean) {
  const { enableOfflineQueue } = redisOptions;
  return {
    redisOptions,
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: 5_000,
    // A certificate has the name of a node, not its IP address.
    ...(tls && { dnsLookup: (host, done) => done(null, host) }),
  } satisfies Omit<ClusterOptions, 'replyMapping'>;
}

function retryStrategy(times: number): number {
  return Math.min(times * 100, longestRetryMs);
}

/** After a failover the address leads to the new master: the command that the old one refused is sent there. */
function reconnectOnReadOnly(): (error: Error) => false | 2 {
  let lastAt = -Infinity;
  return (error) => {
    if (replyCode(error) !== 'READONLY' || Date.now() - lastAt < readOnlyPauseMs) return false;
    lastAt = Date.now();
    return 2;
  };
}

export async function isReadyWithin(client: RedisClient, ms: number): Promise<boolean> {
  if (client.status === 'ready') return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const isReady = (): void => resolve(true);
  const timer = setTimeout(() => resolve(false), ms);
  client.once('ready', isReady);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    client.off('ready', isReady);
  }
}

/** Ms that a server may take to be ready: at the start, and for each operation. */
export const patienceMs = 3_000;

const pingMs = 2_000;

/** Ms for which the key of the last ping stays. */
const pingKeptMs = 60_000;

/** Waits until the server answers. Throws `queue.unavailable`; lasting faults at once. */
export async function waitForStart(
  client: RedisClient,
  address: RedisAddress,
  fault: () => unknown,
): Promise<void> {
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

/** Of all keys. A cluster must keep those of a queue in one slot. */
export const prefixFor = ({ kind }: RedisAddress): string => (kind === 'cluster' ? '{leadsync}' : 'leadsync');

/** Writes a key. Throws as `Backend.ping` does. */
export async function pingRedis(
  client: RedisClient,
  address: RedisAddress,
  fault: () => unknown,
): Promise<void> {
  const answer = isReadyWithin(client, pingMs).then((isReady) =>
    isReady ? client.set(`${prefixFor(address)}:ping`, '', 'PX', pingKeptMs) : null,
  );
  const reply = await Promise.race([answer, sleep(pingMs, null, { ref: false })]).catch((error: unknown) => {
    if (replyCode(error) !== null) throw lastingFault(error, address) ?? readOnly(error, address);
    return null;
  });
  if (reply === null) throw unavailable(fault(), address);
}

/** What keeps Redis from taking jobs now, without BullMQ, which takes long to load; null: nothing. */
export async function redisOutage(address: RedisAddress): Promise<LeadsyncError | null> {
  const client = createRedisClient(address, askingOptions);
  let fault: unknown = null;
  client.on('error', (error: Error) => {
    fault = error;
  });
  try {
    const unled = await sentinelFault(address);
    if (unled !== null) return unled;
    await waitForStart(client, address, () => fault);
    await pingRedis(client, address, () => fault);
    return null;
  } catch (error) {
    if (error instanceof LeadsyncError) return error;
    throw error;
  } finally {
    client.disconnect();
  }
}

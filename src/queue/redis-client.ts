import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from '../config/redis-address.ts';
import { replyCode } from './redis-fault.ts';

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

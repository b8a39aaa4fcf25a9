import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from '../config/redis-address.ts';
import { replyCode } from './redis-fault.ts';

export type RedisClient = Redis | Cluster;

/** How replies look is left as it is. */
type Options = Omit<RedisOptions, 'replyMapping'>;

/** Ms between tries to reconnect grow to this. */
const longestRetryMs = 2_000;

/** Ms between reconnections because a server has become a replica. */
const readOnlyPauseMs = 1_000;

/**
 * For adding and asking: a command is not kept for a server that is away, and fails after so many ms without a reply
 * (BullMQ's production guide, "fail fast").
 */
export const askingOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  commandTimeout: 5_000,
  socketTimeout: 5_000,
} as const satisfies Options;

/**
 * For workers, which wait for the server as long as it takes (the same guide: `maxRetriesPerRequest` must be null). They
 * wait for jobs for at most 10 s at a time: a server that is silent for longer is gone. A command whose reply is lost
 * with a connection would otherwise be waited for without end, and the worker with it take no more jobs.
 */
export const workingOptions = {
  maxRetriesPerRequest: null,
  commandTimeout: 30_000,
  socketTimeout: 15_000,
} as const satisfies Options;

/** A client that connects at once and, unless the options forbid it, for ever again. Faults are its `error` events. */
export function createRedisClient(address: RedisAddress, options: Options): RedisClient {
  const { kind, tls, hosts, db, username, password, sentinel } = address;
  const common: Options = {
    // What BullMQ is tested with; ioredis 6 would ask for 3, which not every proxy and service speaks.
    protocol: 2,
    connectTimeout: 5_000,
    retryStrategy,
    reconnectOnError: reconnectOnReadOnly(),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: password.reveal() }),
    ...(tls && { tls: {} }),
    ...options,
  };
  const client = open();
  // Some for each queue and worker. Not 0, which stands for any number: BullMQ adds to it.
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
      ...(sentinel?.username !== undefined && { sentinelUsername: sentinel.username }),
      ...(sentinel?.password !== undefined && { sentinelPassword: sentinel.password.reveal() }),
      ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
      sentinelRetryStrategy: common.retryStrategy === null ? () => null : retryStrategy,
    });
  }
}

function clusterOptions(redisOptions: Options, tls: boolean) {
  const { enableOfflineQueue } = redisOptions;
  return {
    redisOptions,
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    clusterRetryStrategy: redisOptions.retryStrategy === null ? () => null : retryStrategy,
    slotsRefreshTimeout: 5_000,
    // A certificate is for the name of a node, not for the address that the name stands for.
    ...(tls && { dnsLookup: (host, done) => done(null, host) }),
  } satisfies Omit<ClusterOptions, 'replyMapping'>;
}

function retryStrategy(times: number): number {
  return Math.min(times * 100, longestRetryMs);
}

/** After a fail-over the address leads to the new master: what the old one refused is sent there. */
function reconnectOnReadOnly(): (error: Error) => false | 2 {
  let lastAt = -Infinity;
  return (error) => {
    if (replyCode(error) !== 'READONLY' || Date.now() - lastAt < readOnlyPauseMs) return false;
    lastAt = Date.now();
    return 2;
  };
}

/** Whether the client can send commands within so many ms. */
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

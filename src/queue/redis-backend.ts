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
  type Finding,
} from './backend.ts';
import { scheduleSettings } from './work.ts';
import {
  askingOptions,
  createRedisClient,
  isReadyWithin,
  type RedisClient,
  workingOptions,
  patienceMs,
  pingRedis,
  prefixFor,
  waitForStart,
} from './redis-client.ts';
import {
  describeHosts,
  lastingFault,
  refusal,
  sentinelFault,
  unavailable,
  readOnlyHelp,
} from './redis-fault.ts';
import { z } from 'zod';
import { Cluster } from 'ioredis';

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

/** BullMQ's recommended minimum; older ones lack commands that it uses. */
const leastVersion = [6, 2] as const;

/** Share of maxmemory above which there may be no room for the next jobs. */
const mostUsed = 0.9;

/** The fields of INFO. */
type Info = ReadonlyMap<string, string>;

/** How Redis, or each master of a cluster, is set up for BullMQ (its guide "Going to production"). */
async function examineRedis(client: RedisClient, address: RedisAddress): Promise<readonly Finding[]> {
  const servers = client instanceof Cluster ? client.nodes('master') : [client];
  const infos = await Promise.all(servers.map(async (server) => parseInfo(await server.info())));
  const saves = await Promise.all(servers.map((server) => savedWhen(server)));
  return [
    worst(infos.map((info) => examineServer(info, describeHosts(address)))),
    worst(infos.map(examineMemory)),
    worst(infos.map((info, index) => examinePersistence(info, saves[index] ?? null))),
  ];
}

/** The first fault, else the last finding: several servers share one line. */
function worst(findings: readonly Finding[]): Finding {
  const found = findings.find(({ fault }) => fault !== undefined) ?? findings.at(-1);
  if (found === undefined) throw new Error('a cluster without masters');
  return found;
}

function parseInfo(text: string): Info {
  return new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const at = line.indexOf(':');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : [];
    }),
  );
}

function fault(name: string, message: string, code: string, help: string): Finding {
  return { name, message, fault: { code, help } };
}

function examineServer(info: Info, hosts: string): Finding {
  const name = 'queue';
  const valkey = info.get('valkey_version');
  const redis = info.get('redis_version') ?? '';
  const version = valkey === undefined ? `Redis ${redis}` : `Valkey ${valkey}`;
  if (valkey === undefined && isOlder(redis)) {
    const help = `Use Redis ${leastVersion.join('.')} or newer, or Valkey.`;
    return fault(name, `${version} is too old for the queues`, 'queue.old-redis', help);
  }
  if (info.get('role') === 'slave') {
    const message = `${version} at ${hosts} is a replica and takes no jobs`;
    return fault(name, message, 'queue.read-only', readOnlyHelp);
  }
  return { name, message: `${version} at ${hosts} answers` };
}

/** An unknown version counts as new enough. */
function isOlder(version: string): boolean {
  const [major = NaN, minor = NaN] = version.split('.').map(Number);
  return major < leastVersion[0] || (major === leastVersion[0] && minor < leastVersion[1]);
}

function examineMemory(info: Info): Finding {
  const name = 'queue memory';
  const policy = info.get('maxmemory_policy');
  if (policy === undefined) {
    return { name, message: 'Redis hides its maxmemory-policy: make sure that it is noeviction' };
  }
  if (policy !== 'noeviction') {
    const help =
      'Set maxmemory-policy noeviction: in redis.conf, by CONFIG SET, or in the parameters of the managed service.';
    return fault(name, `maxmemory-policy is ${policy}: a full Redis drops jobs`, 'queue.evicts', help);
  }
  const most = Number(info.get('maxmemory') ?? 0);
  const used = Number(info.get('used_memory') ?? 0);
  if (most === 0) return { name, message: 'maxmemory-policy is noeviction' };
  const share = `${mb(used)} of ${mb(most)} MB are used`;
  if (used < most * mostUsed) return { name, message: `maxmemory-policy is noeviction; ${share}` };
  const help = 'Raise maxmemory, or give leadsync a Redis of its own: a full one takes no jobs.';
  return fault(name, `there is no room: ${share}`, 'queue.full', help);
}

function mb(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

function examinePersistence(info: Info, saved: string | null): Finding {
  const name = 'queue persistence';
  const broken = ['rdb_last_bgsave_status', 'aof_last_write_status'].some(
    (field) => info.get(field) === 'err',
  );
  if (broken) {
    const help =
      'See its log; most often its disk is full or its folder is read-only. Until then it takes no jobs.';
    return fault(name, 'Redis could not write to its disk', 'queue.disk', help);
  }
  if (info.get('aof_enabled') === '1') return { name, message: 'an append-only file keeps the jobs' };
  const rest = 'after a restart leadsync adds the jobs again from Postgres, nothing is lost';
  if (saved === null) return { name, message: `there is no append-only file; ${rest}` };
  const kept = saved === '' ? 'Redis keeps nothing on disk' : 'there are snapshots, but no append-only file';
  return { name, message: `weak: ${kept} (appendonly yes corrects it); ${rest}` };
}

/** The setting `save`; null where CONFIG is forbidden, as by an ACL or a managed service. */
async function savedWhen(server: {
  config(command: 'GET', name: string): Promise<unknown>;
}): Promise<string | null> {
  const found = await server.config('GET', 'save').catch(() => null);
  return Array.isArray(found) && typeof found[1] === 'string' ? found[1] : null;
}

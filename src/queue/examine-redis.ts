import { Cluster } from 'ioredis';
import type { RedisAddress } from '../config/redis-address.ts';
import type { Finding } from './backend.ts';
import type { RedisClient } from './redis-client.ts';
import { describeHosts, readOnlyHelp } from './redis-fault.ts';

/** BullMQ's recommended minimum; older ones lack commands that it uses. */
const leastVersion = [6, 2] as const;

/** Share of maxmemory above which there may be no room for the next jobs. */
const mostUsed = 0.9;

/** The fields of INFO. */
type Info = ReadonlyMap<string, string>;

/** How Redis, or each master of a cluster, is set up for BullMQ (its guide "Going to production"). */
export async function examineRedis(client: RedisClient, address: RedisAddress): Promise<readonly Finding[]> {
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

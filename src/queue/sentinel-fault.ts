import { Redis } from 'ioredis';
import type { RedisAddress } from '../config/redis-address.ts';
import { LeadsyncError } from '../errors.ts';
import { describeHosts, replyCode } from './redis-fault.ts';

/** Ms for each Sentinel to answer. */
const patienceMs = 2_000;

/** Why the Sentinels that answer name no master; null: they do, none answers, or there are none. */
export async function sentinelFault(address: RedisAddress): Promise<LeadsyncError | null> {
  const { sentinel, hosts } = address;
  if (sentinel === undefined) return null;
  const answers = await Promise.all(hosts.map((host) => ask(address, host, sentinel)));
  const where = `The Sentinels at ${describeHosts(address)}`;
  if (answers.includes('known')) return null;
  if (answers.includes('unknown')) {
    return new LeadsyncError('queue.unknown-master', `${where} know no master ${sentinel.master}`, {
      help: 'Correct ?master= in REDIS_URL: the name after `sentinel monitor` in their configuration.',
    });
  }
  if (answers.includes('refused')) {
    return new LeadsyncError('queue.login-failed', `${where} do not accept the user and the password`, {
      help: 'Set &sentinelPassword= (and &sentinelUsername=) in REDIS_URL; user:password@ is for Redis itself.',
    });
  }
  return null;
}

type Answer = 'known' | 'unknown' | 'refused' | 'silent';

async function ask(
  { tls }: RedisAddress,
  { host, port }: RedisAddress['hosts'][number],
  { master, username, password }: NonNullable<RedisAddress['sentinel']>,
): Promise<Answer> {
  const client = new Redis({
    host,
    port,
    protocol: 2,
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: patienceMs,
    commandTimeout: patienceMs,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: password.reveal() }),
    ...(tls && { tls: {} }),
  });
  let refused = false;
  const look = (error: unknown): void => {
    refused ||= ['NOAUTH', 'WRONGPASS', 'NOPERM'].includes(replyCode(error) ?? '');
  };
  client.on('error', look);
  try {
    const found = await client.call('sentinel', 'get-master-addr-by-name', master);
    return found === null ? 'unknown' : 'known';
  } catch (error) {
    look(error);
    return refused ? 'refused' : 'silent';
  } finally {
    client.disconnect();
  }
}

import { Redis } from 'ioredis';
import type { RedisAddress } from '../config/redis-address.ts';
import { codeOf, isCertificateFault, LeadsyncError } from '../lib/errors.ts';

/** The first word of an error reply, which is its code (Redis serialization protocol, "Simple errors"); else null. */
export function replyCode(error: unknown): string | null {
  const isReply = error instanceof Error && error.name === 'ReplyError';
  return isReply ? (/^[A-Z]+/.exec(error.message)?.[0] ?? null) : null;
}

type Fault = Readonly<Record<'code' | 'says' | 'help', string>>;

const certificate = {
  code: 'queue.certificate',
  says: 'has a certificate that is not trusted',
  help: 'Put the CA that signed it into a file that NODE_EXTRA_CA_CERTS names, and address Redis by a name in the certificate.',
};

const login = {
  code: 'queue.login-failed',
  says: 'does not accept the user and the password',
  help: 'Correct them in REDIS_URL: redis://user:password@host, or redis://:password@host for the default user.',
};

/** Faults that no retry corrects, by the code of an error reply or of a system error. */
const lasting: Readonly<Record<string, Fault>> = {
  WRONGPASS: login,
  NOAUTH: login,
  NOPERM: {
    code: 'queue.forbidden',
    says: 'does not allow this user a command that the queues need',
    help: 'Give the user +@all -@dangerous +info, the keys leadsync:* (of a cluster {leadsync}:*) and all channels.',
  },
  DENIED: {
    code: 'queue.protected',
    says: 'is in protected mode and takes connections from its own machine alone',
    help: 'Set a password (requirepass, or an ACL user) on Redis and name it in REDIS_URL.',
  },
  ENOTFOUND: {
    code: 'queue.unknown-host',
    says: 'has an unknown host name',
    help: 'Correct the host in REDIS_URL.',
  },
};

const noDatabase: Fault = {
  code: 'queue.no-such-database',
  says: 'has no database of this number',
  help: 'Correct the number at the end of REDIS_URL, or raise `databases` in its configuration.',
};

/** A lasting fault for an error of ioredis, else null. Nothing of the error is kept: it may hold the password. */
export function lastingFault(error: unknown, address: RedisAddress): LeadsyncError | null {
  const inner = innermost(error);
  const code = replyCode(inner) ?? codeOf(inner);
  const isUnknownDatabase = code === 'ERR' && isAbout(inner, 'select');
  const fault = isCertificateFault(inner)
    ? certificate
    : isUnknownDatabase
      ? noDatabase
      : lasting[code ?? ''];
  if (fault === undefined) return null;
  const { says, help } = fault;
  return new LeadsyncError(fault.code, `Redis at ${describeHosts(address)} ${says}`, { help });
}

/** An outage of Redis. `error`: the last one; `cause`: what of it may be logged. */
export function unavailable(error: unknown, address: RedisAddress, cause?: unknown): LeadsyncError {
  const inner = innermost(error);
  const code = replyCode(inner) ?? codeOf(inner);
  const why = code === null ? '' : ` (${code})`;
  const message = `Redis at ${describeHosts(address)} does not take jobs now${why}; what is under way is not lost`;
  const other = address.tls ? 'redis:// when it speaks no TLS' : 'rediss:// when it asks for TLS';
  return new LeadsyncError('queue.unavailable', message, {
    retry: 'later',
    cause,
    help: `leadsync retries by itself. Check that Redis runs and can be reached from here: REDIS_URL, which needs ${other}.`,
  });
}

/** A server that answers and refuses to write, such as a replica. */
export function readOnly(error: unknown, address: RedisAddress): LeadsyncError {
  const message = `Redis at ${describeHosts(address)} takes no jobs now (${replyCode(error)})`;
  return new LeadsyncError('queue.read-only', message, { retry: 'later', help: readOnlyHelp });
}

export const readOnlyHelp = 'Name the master in REDIS_URL, or its Sentinels: redis-sentinel://….';

export function describeHosts({ hosts }: RedisAddress): string {
  return hosts
    .map(({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`))
    .join(', ');
}

/** A cluster, and a host with several IPs, wrap the error. */
function innermost(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if ('lastNodeError' in error && error.lastNodeError instanceof Error) return innermost(error.lastNodeError);
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors[0]);
  return error;
}

/** Replies of a server that takes no commands, or no writes, for now. */
const passing: ReadonlySet<string | null> = new Set([
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
  'UNBLOCKED',
]);

/** An outage for an error that a later try may not meet again; null: any other error. */
export function refusal(error: unknown, address: RedisAddress): LeadsyncError | null {
  const isPassing = isOfConnection(error) || passing.has(replyCode(innermost(error)));
  return isPassing ? unavailable(error, address) : null;
}

/** Whether the server was unreachable or silent; for the latter ioredis raises an error without name or code. */
function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codeOf(error) !== null || (error.name === 'Error' && !('code' in error));
}

function isAbout(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('command' in error)) return false;
  const { command } = error;
  return typeof command === 'object' && command !== null && 'name' in command && command.name === name;
}

/** Ms for each Sentinel to answer. */
const sentinelPatienceMs = 2_000;

/** Why the Sentinels that answer name no master; null: they do, none answers, or there are none. */
export async function sentinelFault(address: RedisAddress): Promise<LeadsyncError | null> {
  const { sentinel, hosts } = address;
  if (sentinel === undefined) return null;
  const answers = await Promise.all(hosts.map((host) => askSentinel(address, host, sentinel)));
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

type SentinelAnswer = 'known' | 'unknown' | 'refused' | 'silent';

async function askSentinel(
  { tls }: RedisAddress,
  { host, port }: RedisAddress['hosts'][number],
  { master, username, password }: NonNullable<RedisAddress['sentinel']>,
): Promise<SentinelAnswer> {
  const client = new Redis({
    host,
    port,
    protocol: 2,
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: sentinelPatienceMs,
    commandTimeout: sentinelPatienceMs,
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

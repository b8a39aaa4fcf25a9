import { isThisMachine } from '../lib/loopback.ts';
import type { Config, ConnectionConfig } from './config.ts';
import { parseRedisAddress } from './redis-address.ts';

type Places = Pick<Config, 'databaseUrl' | 'redisUrl'> & {
  readonly connections: readonly Pick<ConnectionConfig, 'name' | 'target'>[];
};

/** A setting that has a password and data go to another machine without TLS, and how it is to be written. */
export interface ClearText {
  readonly setting: string;
  readonly message: string;
}

/** The settings by which Postgres or Redis on another machine is reached without TLS. */
export function clearTextOf({ databaseUrl, redisUrl, connections }: Places): readonly ClearText[] {
  const found: ClearText[] = [];
  if (databaseUrl !== undefined && isPostgresInClear(databaseUrl.reveal()))
    found.push(inClear('DATABASE_URL', 'add ?sslmode=verify-full'));
  if (redisUrl !== undefined && isRedisInClear(redisUrl.reveal()))
    found.push(inClear('REDIS_URL', 'begin it with rediss'));
  for (const { name, target } of connections) {
    if (target.type === 'postgres-table' && isPostgresInClear(target.url.reveal()))
      found.push(inClear(`connections.${name}.target.url`, 'add ?sslmode=verify-full'));
  }
  return found;
}

function inClear(setting: string, how: string): ClearText {
  return {
    setting,
    message: `leads to another machine without TLS, so that others on the way can read the password or the data; ${how}`,
  };
}

/** As pg reads a URL: any `sslmode` but `disable` is TLS. */
function isPostgresInClear(text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  const settings = url.searchParams;
  const host = settings.get('host') ?? decodeURIComponent(url.hostname);
  if (isThisMachine(host === '' ? 'localhost' : host)) return false;
  const mode = settings.get('sslmode');
  if (mode !== null) return mode === 'disable';
  const isOn =
    ['true', '1'].includes(settings.get('ssl') ?? '') || settings.get('sslnegotiation') === 'direct';
  return !isOn && !['sslcert', 'sslkey', 'sslrootcert'].some((name) => settings.has(name));
}

function isRedisInClear(text: string): boolean {
  const { tls, hosts } = parseRedisAddress(text);
  return !tls && hosts.some(({ host }) => !isThisMachine(host));
}

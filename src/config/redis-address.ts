import { decoded } from './addresses.ts';
import { Secret } from './secret.ts';

interface Login {
  /** Of an ACL user; without one the password is that of the default user. */
  readonly username?: string | undefined;
  readonly password?: Secret | undefined;
}

export interface RedisAddress extends Login {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  /** One, or those of the Sentinels, or some of the cluster's nodes, which name the others. */
  readonly hosts: readonly [RedisHost, ...RedisHost[]];
  readonly db: number;
  /** With Sentinels: the name under which they know the master, and how to log in to themselves. */
  readonly sentinel?: (Login & { readonly master: string }) | undefined;
}

interface RedisHost {
  readonly host: string;
  readonly port: number;
}

const kinds = { '': 'single', '-sentinel': 'sentinel', '-cluster': 'cluster' } as const;
const defaultPorts = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;
const sentinelSettings = ['master', 'sentinelUsername', 'sentinelPassword'];

const shape =
  /^(rediss?)(-sentinel|-cluster)?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^@?#]*))?(?:\?([^@#]*))?$/;
const examples =
  'redis://user:password@host:6379/0, rediss:// for TLS, redis-sentinel://host:26379,host:26379?master=name, or redis-cluster://host:6379,host:6379';
const escapes = 'write characters such as # @ / ? % in a password as %23 %40 %2F %3F %25';

/** Repeats nothing of it: it holds a password. */
export function redisAddressMistake(text: string): string | null {
  try {
    parseRedisAddress(text);
    return null;
  } catch (error) {
    if (error instanceof AddressMistake) return error.message;
    throw error;
  }
}

class AddressMistake extends Error {}

export function parseRedisAddress(text: string): RedisAddress {
  const parts = shape.exec(text);
  if (parts === null) throw new AddressMistake(`must be an address such as ${examples}; ${escapes}`);
  if (decoded(text) === null) throw new AddressMistake(`holds a % that begins no character; ${escapes}`);
  const [, protocol, suffix = '', userinfo, hostList = '', path = '', query = ''] = parts;
  const kind = kinds[suffix as keyof typeof kinds];
  const [first, ...others] = hostList.split(',').map((host) => readHost(host, defaultPorts[kind]));
  if (first === undefined || (kind === 'single' && others.length > 0))
    throw new AddressMistake(
      'names several hosts: begin it with redis-sentinel:// or redis-cluster:// (rediss-… for TLS)',
    );
  if (!/^\d{0,5}$/.test(path))
    throw new AddressMistake('must end with the number of the database, such as /0, or with none');
  const db = Number(path);
  if (kind === 'cluster' && db !== 0) throw new AddressMistake('names a database: a cluster has none but 0');
  if (kind !== 'sentinel' && query !== '')
    throw new AddressMistake('must have nothing after "?": only redis-sentinel:// takes settings there');
  return {
    kind,
    tls: protocol === 'rediss',
    hosts: [first, ...others],
    db,
    ...readLogin(userinfo),
    ...(kind === 'sentinel' && { sentinel: readSentinel(query) }),
  };
}

/** What all keys begin with. A cluster must keep all keys of a queue in one slot. */
export function keyPrefix({ kind }: RedisAddress, prefix: string): string {
  return kind === 'cluster' ? `{${prefix}}` : prefix;
}

/** Its logins are those of the setting at any moment. */
export function redisAddressOf(url: Secret): RedisAddress {
  const now = (): RedisAddress => parseRedisAddress(url.reveal());
  return {
    ...now(),
    get username() {
      return now().username;
    },
    get password() {
      return now().password;
    },
    get sentinel() {
      return now().sentinel;
    },
  };
}

function readLogin(userinfo: string | undefined): Login {
  if (userinfo === undefined) return {};
  const [user = '', ...rest] = userinfo.split(':');
  const password = decodeURIComponent(rest.join(':'));
  if (password === '')
    throw new AddressMistake('names a user without a password: write user:password@, or :password@ alone');
  return { ...(user !== '' && { username: decodeURIComponent(user) }), password: new Secret(password) };
}

function readHost(text: string, defaultPort: number): RedisHost {
  const url = /^[\w.:[\]-]+$/.test(text) ? URL.parse(`redis://${text}`) : null;
  if (url === null || url.hostname === '' || url.port === '0')
    throw new AddressMistake(
      'must name hosts as host, host:port or [IPv6]:port, with a port from 1 to 65535 and commas between them',
    );
  return { host: url.hostname.replaceAll(/[[\]]/g, ''), port: Number(url.port) || defaultPort };
}

function readSentinel(query: string): RedisAddress['sentinel'] & {} {
  // As a form, "+" would be a blank.
  const settings = new URLSearchParams(query.replaceAll('+', '%2B'));
  const names = [...settings.keys()];
  const areRight = names.every((name) => sentinelSettings.includes(name) && settings.get(name) !== '');
  if (!areRight || new Set(names).size < names.length)
    throw new AddressMistake(
      `must have after "?" only ${sentinelSettings.join(', ')}, each once and with a value`,
    );
  const [master, username, password] = sentinelSettings.map((name) => settings.get(name) ?? undefined);
  if (master === undefined)
    throw new AddressMistake('must end with ?master= and the name under which the Sentinels know the master');
  if (username !== undefined && password === undefined)
    throw new AddressMistake('has a sentinelUsername without a sentinelPassword');
  return {
    master,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: new Secret(password) }),
  };
}

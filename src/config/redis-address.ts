import { isIP } from 'node:net';
import { decoded } from './addresses.ts';
import { Secret } from './secret.ts';

interface Login {
  /** Of an ACL user; without one the password is that of the default user. */
  readonly username?: string;
  readonly password?: Secret;
}

interface SentinelLogin extends Login {
  readonly master: string;
}

/** Where the queues are, read from REDIS_URL. */
export interface RedisAddress extends Login {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  /** One, or those of the Sentinels, or some of the cluster's nodes, which name the others. */
  readonly hosts: readonly [RedisHost, ...RedisHost[]];
  readonly db: number;
  /** With Sentinels: the name under which they know the master, and how to log in to themselves. */
  readonly sentinel?: SentinelLogin;
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

/** What is wrong with REDIS_URL, or null. Repeats nothing of it: it holds a password. */
export function redisAddressMistake(text: string): string | null {
  const read = readAddress(text);
  return typeof read === 'string' ? read : null;
}

/** The address in a text that has passed `redisAddressMistake`. */
export function parseRedisAddress(text: string): RedisAddress {
  const read = readAddress(text);
  if (typeof read === 'string') throw new Error(`REDIS_URL ${read}`);
  return read;
}

function readAddress(text: string): RedisAddress | string {
  const parts = shape.exec(text);
  if (parts === null) return `must be an address such as ${examples}; ${escapes}`;
  const [, protocol, suffix = '', userinfo, hostList = '', path = '', query = ''] = parts;
  const kind = kinds[suffix as keyof typeof kinds];
  const login = readLogin(userinfo);
  if (typeof login === 'string') return login;
  const [first, ...others] = hostList.split(',').map((host) => readHost(host, defaultPorts[kind]));
  if (first === undefined || first === null || !others.every((host) => host !== null)) {
    return 'must name hosts as host, host:port or [IPv6]:port, with a port from 1 to 65535 and commas between them';
  }
  if (kind === 'single' && others.length > 0) {
    return 'names several hosts: begin it with redis-sentinel:// or redis-cluster:// (rediss-… for TLS)';
  }
  const db = path === '' ? 0 : /^\d{1,5}$/.test(path) ? Number(path) : null;
  if (db === null) return 'must end with the number of the database, such as /0, or with none';
  if (kind === 'cluster' && db !== 0) return 'names a database: a cluster has none but 0';
  const sentinel = readSentinel(kind, query);
  if (typeof sentinel === 'string') return sentinel;
  return {
    kind,
    tls: protocol === 'rediss',
    hosts: [first, ...others],
    db,
    ...login,
    ...(sentinel !== null && { sentinel }),
  };
}

function readLogin(userinfo: string | undefined): Login | string {
  if (userinfo === undefined) return {};
  const [user = '', ...rest] = userinfo.split(':');
  const username = decoded(user);
  const password = decoded(rest.join(':'));
  if (username === null || password === null) return `holds a % that begins no character; ${escapes}`;
  if (password === '') return 'names a user without a password: write user:password@, or :password@ alone';
  return { ...(username !== '' && { username }), password: new Secret(password) };
}

function readHost(text: string, defaultPort: number): RedisHost | null {
  const parts = /^(?:\[([^\]]+)\]|([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?))(?::(\d{1,5}))?$/i.exec(text);
  if (parts === null) return null;
  const [, ipv6, name, digits] = parts;
  if (ipv6 !== undefined && isIP(ipv6) !== 6) return null;
  const port = digits === undefined ? defaultPort : Number(digits);
  const host = ipv6 ?? name;
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

function readSentinel(kind: RedisAddress['kind'], query: string): SentinelLogin | string | null {
  const settings = new Map<string, string>();
  for (const setting of query === '' ? [] : query.split('&')) {
    const [name = '', ...rest] = setting.split('=');
    const value = decoded(rest.join('='));
    if (value === null) return `holds a % that begins no character; ${escapes}`;
    if (kind !== 'sentinel')
      return 'must have nothing after "?": only redis-sentinel:// takes settings there';
    if (!sentinelSettings.includes(name) || value === '' || settings.has(name)) {
      return `must have after "?" only ${sentinelSettings.join(', ')}, each once and with a value`;
    }
    settings.set(name, value);
  }
  if (kind !== 'sentinel') return null;
  const master = settings.get('master');
  if (master === undefined)
    return 'must end with ?master= and the name under which the Sentinels know the master';
  const username = settings.get('sentinelUsername');
  const password = settings.get('sentinelPassword');
  if (username !== undefined && password === undefined)
    return 'has a sentinelUsername without a sentinelPassword';
  return {
    master,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: new Secret(password) }),
  };
}

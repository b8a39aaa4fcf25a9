import { decoded } from '../lib/foreign-text.ts';
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

const sentinelSettings = ['master', 'sentinelUsername', 'sentinelPassword'];

const shape =
  /^rediss?(-sentinel|-cluster)?:\/\/(?:([^@:/?#]*)(?::([^@/?#]*))?@)?([^@/?#]+)(?:\/([^@?#]*))?(?:\?([^@#]*))?$/;
const examples =
  'redis://user:password@host:6379/0, rediss:// for TLS, redis-sentinel://host:26379,host:26379?master=name, or redis-cluster://host:6379,host:6379';
const escapes = 'write characters such as # @ / ? % in a password as %23 %40 %2F %3F %25';

/** Repeats nothing of it: it holds a password. */
export function redisAddressMistake(text: string): string | null {
  const read = readAddress(text);
  return typeof read === 'string' ? read : null;
}

export function parseRedisAddress(text: string): RedisAddress {
  const read = readAddress(text);
  if (typeof read === 'string') throw new Error(`the address of Redis ${read}`);
  return read;
}

/** A text: what is wrong with it. */
function readAddress(text: string): RedisAddress | string {
  const parts = shape.exec(text);
  if (parts === null) return `must be an address such as ${examples}; ${escapes}`;
  if (decoded(text) === null) return `holds a % that begins no character; ${escapes}`;
  const [, suffix, user, word, hostList = '', path = '', query = ''] = parts;
  const kind = suffix === undefined ? 'single' : suffix === '-sentinel' ? 'sentinel' : 'cluster';
  const [first, ...others] = hostList
    .split(',')
    .map((one) => readHost(one, kind === 'sentinel' ? 26_379 : 6379));
  if (!first || others.includes(null))
    return 'must name hosts as host, host:port or [IPv6]:port, with a port from 1 to 65535 and commas between them';
  if (kind === 'single' && others.length > 0)
    return 'names several hosts: begin it with redis-sentinel:// or redis-cluster:// (rediss-… for TLS)';
  if (!/^\d{0,5}$/.test(path)) return 'must end with the number of the database, such as /0, or with none';
  const db = Number(path);
  if (kind === 'cluster' && db !== 0) return 'names a database: a cluster has none but 0';
  if (kind !== 'sentinel' && query !== '')
    return 'must have nothing after "?": only redis-sentinel:// takes settings there';
  if (user !== undefined && !word)
    return 'names a user without a password: write user:password@, or :password@ alone';
  // As a form, "+" would be a blank.
  const settings = new URLSearchParams(query.replaceAll('+', '%2B'));
  const names = [...settings.keys()];
  const areRight = names.every((name) => sentinelSettings.includes(name) && settings.get(name) !== '');
  if (!areRight || new Set(names).size < names.length)
    return `must have after "?" only ${sentinelSettings.join(', ')}, each once and with a value`;
  const master = settings.get('master');
  const [sentinelUser, sentinelWord] = [settings.get('sentinelUsername'), settings.get('sentinelPassword')];
  if (kind === 'sentinel' && master === null)
    return 'must end with ?master= and the name under which the Sentinels know the master';
  if (sentinelUser !== null && sentinelWord === null)
    return 'has a sentinelUsername without a sentinelPassword';
  return {
    kind,
    tls: text.startsWith('rediss'),
    hosts: [first, ...others.filter((one) => one !== null)],
    db,
    ...loginOf(decodeURIComponent(user ?? ''), decodeURIComponent(word ?? '')),
    ...(master !== null && { sentinel: { master, ...loginOf(sentinelUser, sentinelWord) } }),
  };
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

const loginOf = (username: string | null, password: string | null): Login => ({
  ...(username && { username }),
  ...(password && { password: new Secret(password) }),
});

function readHost(text: string, defaultPort: number): RedisHost | null {
  const url = /^[\w.:[\]-]+$/.test(text) ? URL.parse(`redis://${text}`) : null;
  if (url === null || url.hostname === '' || url.port === '0') return null;
  return { host: url.hostname.replaceAll(/[[\]]/g, ''), port: Number(url.port) || defaultPort };
}

import { describe, expect, test } from 'vitest';
import { parseRedisAddress, redisAddressMistake } from '../../src/config/redis-address.ts';

/** With the secrets in it told. */
function read(text: string): unknown {
  expect(redisAddressMistake(text)).toBeNull();
  const { password, sentinel, ...rest } = parseRedisAddress(text);
  return {
    ...rest,
    ...(password && { password: password.reveal() }),
    ...(sentinel && {
      sentinel: { ...sentinel, ...(sentinel.password && { password: sentinel.password.reveal() }) },
    }),
  };
}

describe('REDIS_URL', () => {
  test.each([
    ['redis://cache', { kind: 'single', tls: false, hosts: [{ host: 'cache', port: 6379 }], db: 0 }],
    [
      'rediss://sync:p%40ss%3A%2Fw%23rd@cache.example.com:6390/15',
      {
        kind: 'single',
        tls: true,
        hosts: [{ host: 'cache.example.com', port: 6390 }],
        db: 15,
        username: 'sync',
        password: 'p@ss:/w#rd',
      },
    ],
    [
      'redis://:a:b@[::1]/',
      { kind: 'single', tls: false, hosts: [{ host: '::1', port: 6379 }], db: 0, password: 'a:b' },
    ],
    [
      'rediss-sentinel://u:pw@s1,s2:26380/2?master=leads&sentinelUsername=su&sentinelPassword=s%26p',
      {
        kind: 'sentinel',
        tls: true,
        hosts: [
          { host: 's1', port: 26_379 },
          { host: 's2', port: 26_380 },
        ],
        db: 2,
        username: 'u',
        password: 'pw',
        sentinel: { master: 'leads', username: 'su', password: 's&p' },
      },
    ],
    [
      'redis-cluster://10.0.0.1:7000,10.0.0.2',
      {
        kind: 'cluster',
        tls: false,
        hosts: [
          { host: '10.0.0.1', port: 7000 },
          { host: '10.0.0.2', port: 6379 },
        ],
        db: 0,
      },
    ],
  ])('%s', (text, address) => {
    expect(read(text)).toEqual(address);
  });

  test.each([
    ['localhost:6379', 'must be an address'],
    ['http://cache', 'must be an address'],
    ['redis://', 'must be an address'],
    ['redis://:ge#heim@cache', '%23'],
    ['redis://:ge/heim@cache', '%2F'],
    ['redis://:geheim%zz@cache', '%25'],
    ['redis://geheim@cache', 'a user without a password'],
    ['redis://cache:0', 'a port from 1'],
    ['redis://cache:66000', 'a port from 1'],
    ['redis://[::g]:1', 'host, host:port'],
    ['redis://a,', 'host, host:port'],
    ['redis://a,b', 'begin it with redis-sentinel:// or redis-cluster://'],
    ['redis://cache/leads', 'the number of the database'],
    ['redis://cache?master=leads', 'only redis-sentinel://'],
    ['redis-cluster://a,b/1', 'a cluster has none but 0'],
    ['redis-sentinel://a,b', '?master='],
    ['redis-sentinel://a?master=', 'each once and with a value'],
    ['redis-sentinel://a?master=x&master=y', 'each once and with a value'],
    ['redis-sentinel://a?master=x&db=1', 'each once and with a value'],
    ['redis-sentinel://a?master=x&sentinelUsername=u', 'without a sentinelPassword'],
  ])('%s is refused, and nothing of it repeated', (text, message) => {
    expect(redisAddressMistake(text)).toContain(message);
    expect(redisAddressMistake(text)).not.toMatch(/geheim|leads|66000/);
  });
});

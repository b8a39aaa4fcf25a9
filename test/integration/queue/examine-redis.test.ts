import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { parseRedisAddress } from '../../../src/config/redis-address.ts';
import { openQueues, type Queues } from '../../../src/queue/queue.ts';
import { freePort } from '../../support/mail-server.ts';
import { startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

function open(url: string): Promise<Queues> {
  const backend = { kind: 'redis', address: parseRedisAddress(url) } as const;
  return openQueues(backend, pino({ level: 'silent' }), 2);
}

/** What `leadsync check` tells of it, by the names of its lines; of what is wrong, the code. */
async function examine(url: string): Promise<Record<string, string>> {
  await using queues = await open(url);
  const findings = await queues.examine();
  return Object.fromEntries(findings.map(({ name, message, fault }) => [name, fault?.code ?? message]));
}

describe('leadsync check of a Redis', { tags: 'redis-server' }, () => {
  test('tells its version and what is weak; what would lose jobs or takes none fails, with its cure', async () => {
    await using redis = await startRedis();
    await using workspace = await Workspace.open({ redis });
    workspace.sheet.write([['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up']]);
    const weak = await workspace.cli('check');
    expect(weak.code, weak.stdout).toBe(0);
    expect(weak.stdout).toMatch(/^ok {4}queue: Redis \d+\.\d+\.\d+ at 127\.0\.0\.1:\d+ answers$/m);
    expect(weak.stdout).toContain('ok    queue memory: maxmemory-policy is noeviction');
    expect(weak.stdout).toMatch(
      /^ok {4}queue persistence: weak: Redis keeps nothing on disk .*nothing is lost$/m,
    );

    const poor = 'on >geheim ~other:* &* +@all -@dangerous +info'.split(' ');
    await redis.command('acl', 'setuser', 'poor', ...poor);
    const REDIS_URL = `redis://poor:geheim@127.0.0.1:${redis.port}`;
    const forbidden = await workspace.start(['check'], { env: { REDIS_URL } }).ended;
    expect(forbidden.code).toBe(1);
    expect(forbidden.stdout).toMatch(/^FAIL {2}queue: .* \[queue\.forbidden\]\n {10}Give the user \+@all/m);

    await redis.command('config', 'set', 'maxmemory-policy', 'allkeys-lru');
    const { code, stdout } = await workspace.cli('check');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^FAIL {2}queue memory: maxmemory-policy is allkeys-lru.* \[queue\.evicts\]\n {10}Set maxmemory-policy noeviction/m,
    );
  });

  test('sees its limits, its disk and its role, also when CONFIG is forbidden', async () => {
    const user = 'on >geheim ~leadsync:* &* +@all -@dangerous +info'.split(' ');
    await using redis = await startRedis({ appendOnly: true, args: ['--user', 'sync', ...user] });
    expect(await examine(redis.url)).toMatchObject({
      'queue persistence': 'an append-only file keeps the jobs',
    });
    await redis.command('config', 'set', 'appendonly', 'no');
    const asUser = `redis://sync:geheim@127.0.0.1:${redis.port}`;
    expect(await examine(asUser)).toMatchObject({
      'queue memory': 'maxmemory-policy is noeviction',
      'queue persistence': expect.stringMatching(/^there is no append-only file; .*nothing is lost$/),
    });
    await redis.command('config', 'set', 'save', '3600 1');
    expect(await examine(redis.url)).toMatchObject({
      'queue persistence': expect.stringContaining('snapshots'),
    });
    await redis.command('config', 'set', 'maxmemory', '1gb');
    expect(await examine(redis.url)).toMatchObject({
      'queue memory': expect.stringContaining('of 1024.0 MB'),
    });
    await redis.command('config', 'set', 'maxmemory', '900kb');
    expect(await examine(redis.url)).toMatchObject({ 'queue memory': 'queue.full' });

    await redis.command('acl', 'setuser', 'sync', '-info');
    await expect(open(asUser)).rejects.toMatchObject({ code: 'queue.forbidden' });

    await using master = await startRedis();
    await redis.command('replicaof', '127.0.0.1', String(master.port));
    await until('it is a replica', async () => String(await redis.command('role')).startsWith('slave'));
    expect(await examine(redis.url)).toMatchObject({ queue: 'queue.read-only' });
  });

  test('names what keeps us out, without the password', async () => {
    await using redis = await startRedis({ args: ['--requirepass', 'geheim'] });
    const { port } = redis;
    const faults: Readonly<Record<string, string>> = {
      [`redis://:falsch-geheim@127.0.0.1:${port}`]: 'queue.login-failed',
      [`redis://127.0.0.1:${port}`]: 'queue.login-failed',
      [`redis://:geheim@127.0.0.1:${port}/16`]: 'queue.no-such-database',
      [`rediss://:geheim@127.0.0.1:${port}`]: 'queue.unavailable',
      [`redis://:geheim@nobody.invalid:${port}`]: 'queue.unknown-host',
      [`redis://:geheim@127.0.0.1:${await freePort()}`]: 'queue.unavailable',
    };
    await Promise.all(
      Object.entries(faults).map(async ([url, code]) => {
        const error: unknown = await examine(url).catch((thrown: unknown) => thrown);
        expect(error, url).toMatchObject({ code, help: expect.stringContaining('REDIS_URL') });
        expect(JSON.stringify(error) + String(error) + String((error as Error).stack)).not.toContain(
          'geheim',
        );
        expect((error as Error).cause).toBeUndefined();
      }),
    );
  });
});

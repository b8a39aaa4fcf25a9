import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { parseRedisAddress } from '../../../src/config/redis-address.ts';
import { openQueues, type Queues } from '../../../src/queue/queue.ts';
import { redisOutage } from '../../../src/queue/redis-client.ts';
import { startRedis } from '../../support/redis.ts';
import { startSentinel } from '../../support/sentinel.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

const silent = pino({ level: 'silent' });
const never = new AbortController().signal;

function open(url: string): Promise<Queues> {
  return openQueues({ kind: 'redis', address: parseRedisAddress(url) }, silent, 2);
}

/** Has jobs carried out, also one that waited, and asks for everything that a worker asks for. */
async function tryQueues(queues: Queues): Promise<void> {
  const queue = queues.queue('q');
  await using _worker = queue.work({ job: async (payload) => ({ done: payload }) });
  const jobs = [await queue.add('job', { nth: 1 }), await queue.add('job', { nth: 2 }, { delayMs: 20 })];
  await queue.schedule('nightly', '0 2 * * *', 'UTC', 'job', {});
  await queue.add('job', {}, { id: 'later', delayMs: 3_600_000, isKept: false });
  expect(await Promise.all(jobs.map((job) => job.finished(never)))).toEqual([{ nth: 1 }, { nth: 2 }]);
  // The schedule's next one is a delayed job, too.
  expect(await queue.counts()).toEqual({ waiting: 0, active: 0, delayed: 2, failed: 0 });
  expect((await queue.schedules()).get('nightly')?.nextRunAt).toBeGreaterThan(Date.now());
  await queues.ping();
}

/** A key and a certificate for 127.0.0.1 that nobody has signed. */
async function makeCertificate() {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-tls-'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ];
  execFileSync('openssl', [...args, '-keyout', key, '-out', certificate, ...subject], { stdio: 'ignore' });
  return {
    key,
    certificate,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

describe('REDIS_URL', { tags: 'redis-server' }, () => {
  test('with a user and a database: every key begins with leadsync:, in that database', async () => {
    const user = 'on >p@ss:w%rd ~leadsync:* &* +@all -@dangerous +info'.split(' ');
    await using redis = await startRedis({ args: ['--user', 'sync', ...user] });
    await using queues = await open(`redis://sync:p%40ss:w%25rd@127.0.0.1:${redis.port}/3`);
    await tryQueues(queues);
    const keyspace = String(await redis.command('info', 'keyspace'));
    expect(keyspace.match(/^db\d+/gm)).toEqual(['db3']);
    await redis.command('swapdb', '0', '3');
    const keys = (await redis.command('keys', '*')) as string[];
    expect(keys.filter((key) => !key.startsWith('leadsync:'))).toEqual([]);
    expect(keys).toContain('leadsync:q:repeat');
  });

  test('with TLS: a certificate that nobody trusts is refused, one whose CA the process was told is taken', {
    tags: 'openssl',
  }, async () => {
    await using made = await makeCertificate();
    const tls = ['--tls-cert-file', made.certificate, '--tls-key-file', made.key, '--tls-auth-clients', 'no'];
    await using redis = await startRedis({
      origin: 'rediss://127.0.0.1',
      args: ['--port', '0', '--tls-ca-cert-file', made.certificate, ...tls],
      portOption: '--tls-port',
    });
    await expect(open(redis.url)).rejects.toMatchObject({
      code: 'queue.certificate',
      help: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
    await using workspace = await Workspace.open({ redis, env: { NODE_EXTRA_CA_CERTS: made.certificate } });
    const { code, stdout } = await workspace.cli('sync', '--json');
    expect({ code, stdout }).toMatchObject({ code: 0 });
  });

  test('of a cluster: all keys of a queue are in one slot', async () => {
    await using redis = await startRedis({
      args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    });
    await redis.command('cluster', 'addslotsrange', '0', '16383');
    await until('the cluster is up', async () =>
      String(await redis.command('cluster', 'info')).includes('cluster_state:ok'),
    );
    const url = `redis-cluster://127.0.0.1:${redis.port}`;
    await using queues = await open(url);
    await tryQueues(queues);
    await queues.ping();
    expect(await redisOutage(parseRedisAddress(url))).toBeNull();
    const keys = (await redis.command('keys', '*')) as string[];
    expect(keys.filter((key) => !key.startsWith('{leadsync}:'))).toEqual([]);
    const findings = await queues.examine();
    expect(findings.map(({ fault }) => fault)).toEqual([undefined, undefined, undefined]);
  });

  test('of Sentinels: when the master dies, the replica takes over with the jobs that it has', async () => {
    await using master = await startRedis();
    await using replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
    await until('the replica follows', async () =>
      String(await replica.command('info', 'replication')).includes('master_link_status:up'),
    );
    await using sentinel = await startSentinel(master);
    await until('the Sentinel knows the replica', async () =>
      String(await sentinel.command('info', 'sentinel')).includes('slaves=1'),
    );
    const url = `127.0.0.1:${sentinel.port}/0?master=`;
    await expect(open(`redis-sentinel://${url}leeds`)).rejects.toMatchObject({
      code: 'queue.unknown-master',
    });

    await using queues = await open(`redis-sentinel://${url}leads`);
    const queue = queues.queue('q');
    await using _worker = queue.work({ job: async (payload) => ({ done: payload }) });
    const before = await queue.add('job', { when: 'before' }, { id: 'before', delayMs: 1_500 });
    await until(
      'the replica has it',
      async () => (await replica.command('exists', 'leadsync:q:before')) === 1,
    );
    await master.kill();
    const refused: unknown[] = [];
    const after: Awaited<ReturnType<typeof queue.add>>[] = [];
    await until('the replica takes jobs', async () => {
      await queue.add('job', { when: 'after' }).then(
        (job) => after.push(job),
        (error: unknown) => refused.push(error),
      );
      return after.length > 0;
    });
    for (const error of refused) expect(error).toMatchObject({ code: 'queue.unavailable', retry: 'later' });
    expect(await before.finished(never)).toEqual({ when: 'before' });
    expect(await after[0]?.finished(never)).toEqual({ when: 'after' });
  });
});

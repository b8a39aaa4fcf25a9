import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { administrate } from '../../support/administrate.ts';
import { startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { startWorker, yearly } from '../../support/worker.ts';
import { Workspace } from '../../support/workspace.ts';
import { TcpProxy } from '../../chaos/rounds/tcp-proxy.ts';

/** How long (s) the storm is counted. */
const countedS = 10;

test('a database that refuses every login, with jobs in it: few logins, few lines, all of them JSON', async () => {
  await using workspace = await Workspace.open({ connection: { sync: yearly } });
  const url = new URL(workspace.database.url);
  const name = url.pathname.slice(1);
  const server = inject('databaseUrl');
  await using cable = await TcpProxy.open(Number(url.port));
  url.port = String(cable.port);
  const { process } = await startWorker(workspace, { DATABASE_URL: url.href });

  await administrate(server, `alter database ${name} allow_connections false`);
  await administrate(
    server,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
  await until('it is noticed', () => process.stderr.includes('the database is unavailable'));
  // Connections of the time before may end within this one.
  await sleep(1_000);
  const [logins, length] = [cable.taken, process.stderr.length];
  await sleep(countedS * 1_000);
  const lines = process.stderr.slice(length).split('\n').filter(Boolean);
  expect((cable.taken - logins) / countedS).toBeLessThan(3);
  expect(lines).toEqual([]);

  await administrate(server, `alter database ${name} allow_connections true`);
  await until('it is over', () => process.stderr.includes('the database is available again'), 40_000);
  await process.kill('SIGTERM');
  const all = process.stderr.split('\n').filter(Boolean);
  expect(all.filter((line) => !line.startsWith('{'))).toEqual([]);
  expect(all.filter((line) => line.includes('"stack"'))).toEqual([]);
});

test('a Redis that evicts, and an error at the start, are lines of JSON', {
  tags: 'redis-server',
}, async () => {
  await using redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
  await using workspace = await Workspace.open({ redis, connection: { sync: yearly } });
  const { process, url } = await startWorker(workspace);
  await until('the policy is told', () => process.stderr.includes('allkeys-lru'));
  const { code, stderr } = await workspace.start(['worker'], { env: { PORT: new URL(url).port } }).ended;
  expect(code).toBe(1);
  expect(stderr).toContain('[http.port-taken]');
  await process.kill('SIGTERM');
  const lines = `${process.stderr}\n${stderr}`.split('\n').filter(Boolean);
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  expect(lines.filter((line) => line.includes('allkeys-lru'))).toHaveLength(1);
});

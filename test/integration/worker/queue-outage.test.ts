import { expect, test } from 'vitest';
import { Exposition } from '../../support/exposition.ts';
import { startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { startWorker, yearly } from '../../support/worker.ts';
import { Workspace } from '../../support/workspace.ts';

const jumpingClock = `--import=${new URL('../../support/jumping-clock.ts', import.meta.url).href}`;
const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' };

test('Redis refuses its password, and is away: a line when it begins, one a minute, one when it is over; after five minutes the worker is not healthy', {
  tags: 'redis-server',
}, async () => {
  await using redis = await startRedis();
  const allow = (password: string): Promise<unknown> =>
    redis.command('ACL', 'SETUSER', 'worker', 'on', 'resetpass', `>${password}`, '~*', '&*', '+@all');
  await allow('right-password');
  await using workspace = await Workspace.open({ redis, connection: { sync: yearly, reminders } });
  const { process, url } = await startWorker(workspace, {
    REDIS_URL: `redis://worker:right-password@127.0.0.1:${redis.port}`,
    NODE_OPTIONS: jumpingClock,
  });
  const get = async (path: string): Promise<string> => {
    const reply = await fetch(url + path);
    return `${reply.status} ${await reply.text()}`;
  };
  const isUp = async (): Promise<number | undefined> =>
    new Exposition((await get('/metrics')).replace('200 ', '')).value('leadsync_queue_up');
  const times = (text: string): number => process.stderr.split(text).length - 1;
  expect(await isUp()).toBe(1);

  await allow('wrong-password');
  await redis.command('CLIENT', 'KILL', 'USER', 'worker');
  await until('it is noticed', () => times('the queue is unavailable') === 1);
  expect(await get('/healthz')).toBe('200 ok\n');
  expect(await get('/readyz')).toBe('503 the queue does not answer\n');
  process.child.kill('SIGUSR2');
  await until('it is told once more', () => times('the queue is still unavailable') === 1);
  expect(await get('/healthz')).toBe('503 the queue has been unavailable for too long\n');
  expect(await isUp()).toBe(0);
  await allow('right-password');
  await until('it is over', () => times('the queue is available again') === 1);
  expect([await isUp(), await get('/healthz'), await get('/readyz')]).toEqual([1, '200 ok\n', '200 ready\n']);

  await redis.kill();
  await until('it is noticed again', () => times('the queue is unavailable') === 2);
  await redis.start();
  await allow('right-password');
  await until('it is over again', () => times('the queue is available again') === 2);
  await process.kill('SIGTERM');
  const lines = process.stderr.split('\n').filter(Boolean);
  expect(lines.filter((line) => !line.startsWith('{') || line.includes('"stack"'))).toEqual([]);
  const told = lines.map((line) => JSON.parse(line) as { readonly level: number; readonly msg: string });
  const begun = '40 the queue is unavailable: work that needs it waits, nothing is lost';
  const over = '30 the queue is available again';
  expect(
    told
      .filter(({ level, msg }) => level > 30 || msg.includes('queue'))
      .map(({ level, msg }) => `${level} ${msg}`),
  ).toEqual([
    begun,
    '50 the queue is still unavailable',
    over,
    begun,
    '40 the queues lost their jobs; leadsync adds them again from the database',
    over,
  ]);
});

import { describe, expect, test } from 'vitest';
import { startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { startWorker, yearly } from '../../support/worker.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const since = new RegExp(`its mark there was made at ${new Date().getUTCFullYear()}-`);
const other = { LEADS_API_KEY: 'another-key' };

/** Starts a worker that must not start, and returns what it says. */
async function refusal(workspace: Workspace, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, stderr } = await workspace.start(['worker'], { env }).ended;
  expect(stderr).not.toContain('"worker is ready"');
  expect(code).toBe(1);
  return stderr;
}

/** What the commands say that would work beside a worker: they neither ask the service nor write. */
async function assertRefused(
  workspace: Workspace,
  code: 'queue.taken' | 'database.taken',
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const check = await workspace.start(['check'], { env }).ended;
  expect(check.code).toBe(1);
  expect(check.stdout).toMatch(new RegExp(`^FAIL  installation: .*its worker runs on .*\\[${code}\\]$`, 'm'));
  const { requests } = workspace.sandbox.stats;
  const sync = await workspace.start(['sync', '--json'], { env }).ended;
  expect(sync.code).toBe(1);
  expect(JSON.parse(sync.stdout)).toMatchObject({ status: 'failed', problems: [{ code }] });
  expect(workspace.sandbox.stats.requests).toBe(requests);
}

describe('two installations on one Redis:', { tags: 'redis-server' }, () => {
  test('the second one does not start and says where the first one lives; a database of its own helps', async () => {
    await using redis = await startRedis();
    await using first = await Workspace.open({ redis, connection: { sync: yearly } });
    await using second = await Workspace.open({ redis, connection: { sync: yearly } });
    await startWorker(first);

    const said = await refusal(second);
    expect(said).toContain('[queue.taken]');
    expect(said).toMatch(since);
    expect(said).toContain(new URL(first.database.url).pathname.slice(1));
    expect(said).toContain(`127.0.0.1:${redis.port}`);
    expect(said).toContain('REDIS_URL');
    expect(second.sandbox.stats.requests).toBe(0);
    await assertRefused(second, 'queue.taken');
    expect((await first.cli('sync')).code).toBe(0);

    const { process } = await startWorker(second, { REDIS_URL: `${redis.url}/1` });
    expect((await process.kill('SIGTERM')).code).toBe(0);
  });

  test('a worker that was stopped gives its Redis free, and takes it again', async () => {
    await using redis = await startRedis();
    await using first = await Workspace.open({ redis, connection: { sync: yearly } });
    await using second = await Workspace.open({ redis, connection: { sync: yearly } });
    await (await startWorker(first)).process.kill('SIGTERM');
    await (await startWorker(second)).process.kill('SIGTERM');
    // Killed, it cannot say goodbye; its own next worker starts at once.
    await (await startWorker(first)).process.kill('SIGKILL');
    await startWorker(first);
    await startWorker(first);
  });

  test('after FLUSHALL workers of one installation go on, though they call its Redis by two names', async () => {
    await using redis = await startRedis();
    await using workspace = await Workspace.open({ redis, connection: { sync: yearly } });
    const { process } = await startWorker(workspace);
    const other = await startWorker(workspace, { REDIS_URL: redis.url.replace('127.0.0.1', 'localhost') });
    const jobs = async (): Promise<string> => {
      const { rows } = await workspace.database.pool.query<{ jobs: string }>(
        `select claim ->> 'jobs' as jobs from keeper`,
      );
      return rows[0]?.jobs ?? '';
    };
    expect(await jobs()).toContain('localhost');
    await redis.command('flushall');
    const said = (): string => process.stderr + other.process.stderr;
    await until(
      'the first one has renewed its claim',
      async () => said().includes('database.taken') || (await jobs()).includes('127.0.0.1'),
    );
    expect(said()).not.toContain('database.taken');
  });

  test('after FLUSHALL the first one claims Redis again', async () => {
    await using redis = await startRedis();
    await using first = await Workspace.open({ redis, connection: { sync: yearly } });
    await startWorker(first);
    expect(await redis.command('exists', 'leadsync:installation')).toBe(1);
    await redis.command('flushall');
    await until(
      'it is claimed again',
      async () => (await redis.command('exists', 'leadsync:installation')) === 1,
    );
  });
});

describe('two installations on one database:', () => {
  test('the second one does not start, with its jobs in the same place', async () => {
    await using first = await Workspace.open({ connection: { sync: yearly } });
    await using second = await Workspace.open({ connection: { sync: yearly } });
    await startWorker(first);
    const said = await refusal(second, { DATABASE_URL: first.database.url, ...other });
    expect(said).toContain('[database.taken]');
    expect(said).toMatch(since);
    expect(said).toContain(connectionName);
    expect(said).toContain('DATABASE_URL');
    expect(second.sandbox.stats.requests).toBe(0);
    await assertRefused(second, 'database.taken', { DATABASE_URL: first.database.url, ...other });
    expect((await first.cli('sync')).code).toBe(0);
  });

  test('a command with another key on the machine of the worker is of its installation', async () => {
    await using first = await Workspace.open({ connection: { sync: yearly } });
    await startWorker(first);
    const { stdout } = await first.start(['check'], { env: other }).ended;
    expect(stdout).not.toContain('installation');
  });

  test('nor with its jobs elsewhere', { tags: 'redis-server' }, async () => {
    await using redis = await startRedis();
    await using first = await Workspace.open({ connection: { sync: yearly } });
    await startWorker(first);
    expect(await refusal(first, { REDIS_URL: redis.url })).toContain('[database.taken]');
    expect(await redis.command('exists', 'leadsync:installation')).toBe(0);
  });

  test('a deploy that adds a connection is no other installation', async () => {
    await using first = await Workspace.open({ connection: { sync: yearly } });
    await startWorker(first);
    first.configure({ sync: yearly }, { another: { sync: yearly } });
    await startWorker(first);
  });
});

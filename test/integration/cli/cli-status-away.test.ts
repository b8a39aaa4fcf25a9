import { expect, test } from 'vitest';
import { parseFaults } from '../../../src/demo/faults.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

interface Status {
  readonly outages?: readonly {
    readonly of: string;
    readonly code: string;
    readonly lastReachedAt: string | null;
  }[];
  readonly connections: readonly {
    readonly running: { readonly fault: { readonly code: string; readonly since: string } | null } | null;
  }[];
}

async function status(workspace: Workspace, env: NodeJS.ProcessEnv = {}): Promise<Status> {
  const { code, stdout, stderr } = await workspace.start(['status', '--json'], { env }).ended;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Status;
}

const recently = (at: string | null | undefined): boolean =>
  Math.abs(Date.now() - Date.parse(at ?? '')) < 60_000;

test('status names a database that takes no writes, and when it took the last one', async () => {
  await using workspace = await Workspace.open();
  await workspace.sync();
  expect((await status(workspace)).outages).toBeUndefined();
  const name = new URL(workspace.database.url).pathname.slice(1);
  await workspace.database.pool.query(`alter database ${name} set default_transaction_read_only = on`);
  const { outages = [] } = await status(workspace);
  expect(outages).toMatchObject([{ of: 'database', code: 'database.unavailable' }]);
  expect(recently(outages[0]?.lastReachedAt)).toBe(true);
  expect((await workspace.cli('status')).stdout).toMatch(/^database: away, last reached .*read-only/m);
});

test('status names a queue that is away', async () => {
  await using workspace = await Workspace.open();
  const env = { REDIS_URL: 'redis://127.0.0.1:1' };
  expect((await status(workspace, env)).outages).toMatchObject([
    { of: 'queue', code: 'queue.unavailable', lastReachedAt: null },
  ]);
  const { stdout } = await workspace.start(['status'], { env }).ended;
  expect(stdout).toMatch(/^queue: away: .*127\.0\.0\.1:1/m);
});

test('status names the service that a run under way waits for, and since when', async () => {
  await using workspace = await Workspace.open({ sandbox: { faults: parseFaults('503:every=1') } });
  const sync = workspace.start(['sync']);
  const fault = async () => (await status(workspace)).connections[0]?.running?.fault ?? null;
  await until('an attempt failed', async () => (await fault()) !== null);
  const found = await fault();
  expect(found?.code).toBe('leads.unavailable');
  expect(recently(found?.since)).toBe(true);
  expect((await workspace.cli('status')).stdout).toMatch(/^ {2}fails {4}since .*: .*503/m);
  await sync.kill('SIGKILL');
});

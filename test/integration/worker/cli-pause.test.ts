import { expect, test } from 'vitest';
import { runHandlers } from '../../../jobs/runs.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

interface Answer {
  readonly connections: readonly {
    readonly pausedSince: string | null;
    readonly throttledUntil: string | null;
  }[];
}
const day = 24 * 3_600_000;

async function status(workspace: Workspace): Promise<Answer['connections'][number]> {
  const { stdout } = await workspace.cli('status', '--json');
  const [one] = (JSON.parse(stdout) as Answer).connections;
  if (one === undefined) throw new Error('no connection');
  return one;
}

test('a paused connection is not synced until resume; plan works meanwhile', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const paused = await workspace.cli('pause');
  expect([paused.code, paused.stdout]).toEqual([
    0,
    expect.stringContaining(`leadsync resume --connection ${connectionName}`),
  ]);
  const refused = await workspace.cli('sync', '--json');
  expect(refused.code).toBe(4);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    status: 'stopped',
    problems: [{ code: 'connection.paused' }],
  });
  expect((await workspace.cli('sync')).stdout).toContain('leadsync resume');
  expect(workspace.sandbox.log).toHaveLength(0);
  expect((await status(workspace)).pausedSince).toMatch(/^20/);
  expect((await workspace.cli('status')).stdout).toContain('paused');
  expect((await workspace.cli('plan')).code).toBe(0);
  expect((await workspace.cli('resume')).stdout).toContain('goes on');
  expect((await status(workspace)).pausedSince).toBeNull();
  expect((await workspace.cli('sync')).code).toBe(0);
  expect(workspace.sheet.rows()).toHaveLength(3);
});

test('a job of a worker leaves a paused connection out', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  await workspace.cli('pause');
  await using app = await workspace.openApp();
  const { sync } = runHandlers(app);
  const job = { connection: connectionName, allow: [], maxAttempts: 3 };
  expect(await sync(job, { requestedAt: Date.now() }, new AbortController().signal)).toEqual({
    done: { runId: null },
  });
  expect(workspace.sandbox.log).toHaveLength(0);
});

test('a senseless Retry-After is a day; who waits is told until when, and resume ends it', async () => {
  await using workspace = await Workspace.open({
    sandbox: {
      leads: 3,
      rateWindow: 'count',
      faults: [
        { kind: 'status', status: 429, retryAfter: { seconds: 1_000_000_000 }, when: { once: 1 }, on: [] },
      ],
    },
  });
  for (const command of ['sync', 'plan']) {
    const begun = Date.now();
    const waiting = await workspace.cli(command, '--json');
    expect(waiting.code, waiting.stderr).toBe(1);
    expect(Date.now() - begun).toBeLessThan(60_000);
    expect(waiting.stdout).toContain('run.waiting');
    expect(waiting.stdout).toMatch(/until 20\d\d-/);
  }
  const until = Date.parse((await status(workspace)).throttledUntil ?? '');
  expect(until).toBeGreaterThan(Date.now() + day - 600_000);
  expect(until).toBeLessThanOrEqual(Date.now() + day + 1_000);
  expect((await workspace.cli('resume')).stdout).toContain('the wait for the Leads service is over');
  expect((await status(workspace)).throttledUntil).toBeNull();
  const done = await workspace.cli('sync', '--json');
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('"succeeded"')]);
});

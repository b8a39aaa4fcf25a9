import { readFile } from 'node:fs/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { syncQueue } from '../../../jobs/runs.ts';
import { openQueues } from '../../../src/queue/queue.ts';
import { until } from '../../support/until.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

test('a worker that meets a newer schema takes no work any more and says so; commands refuse', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 1 },
    connection: { sync: { schedule: '0 0 29 2 *' } },
  });
  const { database, sandbox } = workspace;
  const worker = workspace.start(['worker']);
  await until('the worker has made up for the night', async () => {
    const { rowCount } = await database.pool.query(`select from runs where finished_at is not null`);
    return rowCount === 1;
  });
  const address = /"url":"([^"]+)"/.exec(worker.stderr)?.[1] ?? '';
  expect((await fetch(`${address}readyz`)).status).toBe(200);

  await database.pool.query(`insert into migrations (name, checksum) values ('999-next.sql', '')`);
  await until('it has stopped', () => worker.stderr.includes('takes no work any more'));
  expect(worker.stderr).toContain('database.newer-schema');
  expect(worker.stderr).toContain('999-next.sql');
  const ready = await fetch(`${address}readyz`);
  expect([ready.status, await ready.text()]).toEqual([
    503,
    'this worker takes no work any more: its log says why\n',
  ]);
  expect((await fetch(`${address}healthz`)).status).toBe(200);
  expect(await (await fetch(address)).text()).toContain('This worker has stopped taking work.');

  await using queues = await openQueues(
    { kind: 'postgres', connectionString: database.url },
    pino({ level: 'silent' }),
    1,
  );
  const queue = queues.queue(syncQueue);
  await queue.add('sync', { connection: connectionName, allow: ['first-leads'], maxAttempts: 1 });
  const asked = sandbox.log.length;
  const status = await workspace.cli('status', '--json');
  expect(status.code).toBe(1);
  expect(status.json()).toMatchObject({
    error: { code: 'database.newer-schema', help: expect.stringContaining('way back') },
  });
  expect(await worker.kill('SIGTERM')).toMatchObject({ code: 0 });
  expect(await queue.counts()).toMatchObject({ waiting: 1, active: 0 });
  expect(sandbox.log).toHaveLength(asked);
});

test('the Kubernetes example stops the version before first, as the manual says', async () => {
  const read = (path: string): Promise<string> =>
    readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
  expect(await read('deploy/kubernetes/deployment.yaml')).toMatch(/strategy:\s+type: Recreate\b/);
  expect(await read('docs/upgrade.md')).toContain('`strategy: Recreate`');
});

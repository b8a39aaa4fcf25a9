import { expect, test } from 'vitest';
import { syncQueue } from '../../../jobs/runs.ts';
import { parseFaults } from '../../../src/demo/faults.ts';
import { until } from '../../support/until.ts';
import { connectionName as connection, Workspace } from '../../support/workspace.ts';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly run?: number;
}

/** The lines about runs, and all that warn. */
function lines(stderr: string): Line[] {
  const all = stderr.split('\n').filter((line) => line.startsWith('{'));
  return all
    .map((line) => JSON.parse(line) as Line)
    .filter(({ run, level }) => run !== undefined || level > 30);
}

test('a worker tells of each run when it begins and when it has ended: what it did, or why not and what helps; waits and tries are details', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 3, faults: parseFaults('429:once=1,retryAfter=1;503:once=2') },
  });
  const { sandbox, sheet } = workspace;
  const worker = workspace.start(['worker']);
  const isTold = (count: number, what: string): Promise<void> =>
    until(what, () => lines(worker.stderr).length >= count);
  await isTold(2, 'the first sync has ended');
  const about = { connection, mode: 'sync' };
  const none = { leads: 0, rows: 0 };
  expect(lines(worker.stderr)).toEqual([
    { level: 30, time: expect.any(Number), ...about, run: 1, msg: 'a sync begins' },
    {
      level: 30,
      time: expect.any(Number),
      ...about,
      run: 1,
      status: 'succeeded',
      pulled: 3,
      targetRows: 0,
      created: { leads: 0, rows: 3 },
      updated: none,
      deleted: none,
      held: 0,
      putOff: 0,
      requests: { leads: 3, target: expect.any(Number) },
      waitedMs: expect.any(Number),
      durationMs: expect.any(Number),
      msg: 'a sync succeeded',
    },
  ]);

  const [held] = sandbox.leads.list();
  sandbox.leads.edit(held?.id ?? '', { stage: 'won' });
  sheet.edit((row) => row['Lead ID'] === held?.id, { Stage: 'lost' });
  await using app = await workspace.openApp();
  const ask = async (): Promise<void> => {
    const queue = (await app.queues()).queue(syncQueue);
    const job = await queue.add('sync', { connection, allow: ['first-leads'], maxAttempts: 1 });
    await job.finished(new AbortController().signal);
  };
  await ask();
  sandbox.set({ faults: parseFaults('401:every=1') });
  await ask();
  const { stderr } = await worker.kill('SIGTERM');
  expect(lines(stderr).slice(2)).toMatchObject([
    { level: 30, run: 2, msg: 'a sync begins' },
    {
      level: 40,
      run: 2,
      status: 'partial',
      held: 1,
      reason: '1 held',
      help: `leadsync conflicts --connection ${connection} lists what is held`,
      msg: 'a sync was carried out in part: 1 held',
    },
    { level: 30, run: 3, msg: 'a sync begins' },
    {
      level: 40,
      run: 3,
      status: 'failed',
      reason: expect.stringContaining('rejected the key'),
      help: expect.stringContaining(`leadsync check --connection ${connection} tries the credentials`),
      msg: 'a sync failed: leads.unauthenticated',
    },
  ]);
  expect(stderr).not.toContain('"stack"');
});

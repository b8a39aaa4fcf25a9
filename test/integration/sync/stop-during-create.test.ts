import { expect, test } from 'vitest';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { until } from '../../support/until.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

test('nothing twice: a worker is stopped while a lead is made, and the reply takes longer than it may wait', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  const { sandbox, sheet } = workspace;
  await workspace.sync();
  sheet.add({ Company: 'New row GmbH', City: 'Kiel' });
  sandbox.set({ faults: [{ kind: 'slow', ms: 60_000, when: { once: 1 }, on: ['create'] }] });
  await using app = await workspace.openApp();
  const context = app.contexts.get(connectionName);
  if (context === undefined) throw new Error('the connection is not configured');
  const stop = new AbortController();
  const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 3 } as const;
  const run = advanceRun(context, request, stop.signal);
  await until('the lead is made', () => sandbox.leads.size === 3);
  stop.abort(new LeadsyncError('process.stopping', 'the process is stopping', { retry: 'later' }));
  expect(await run).toMatchObject({ kind: 'again', why: 'stopping' });

  await workspace.sync();
  expect(sandbox.leads.size).toBe(3);
  expect(sheet.rows()).toHaveLength(3);
});

test('a sync that is allowed more than the one that was interrupted does not go on with that one', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 8 } });
  const { sandbox, sheet } = workspace;
  await workspace.sync();
  for (const { id } of sandbox.leads.list().slice(0, 6)) sandbox.leads.edit(id, { city: 'Rome' });
  sheet.write(sheet.grid().slice(0, 1));
  await using app = await workspace.openApp();
  const context = app.contexts.get(connectionName);
  if (context === undefined) throw new Error('the connection is not configured');
  sandbox.set({ faults: [{ kind: 'slow', ms: 60_000, when: { once: 1 }, on: ['list'] }] });
  const lists = sandbox.stats.byRoute.list;
  const stop = new AbortController();
  const run = advanceRun(context, { mode: 'sync', allow: ['first-leads'], maxAttempts: 3 }, stop.signal);
  await until('the leads are asked for', () => sandbox.stats.byRoute.list > lists);
  stop.abort(new LeadsyncError('process.stopping', 'the process is stopping', { retry: 'later' }));
  expect(await run).toMatchObject({ kind: 'again', why: 'stopping' });

  expect(await workspace.sync({ allow: ['target-gone'] })).toMatchObject({
    status: 'succeeded',
    created: { leads: 0, rows: 8 },
  });
});

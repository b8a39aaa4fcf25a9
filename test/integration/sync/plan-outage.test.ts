import { pino } from 'pino';
import { expect, test } from 'vitest';
import { advanceRun } from '../../../src/sync/run.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

test('a database whose disk fills up while a large plan is stored is away, and a run waits for it', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 1_200 } });
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  const context = { ...real, log: pino({ enabled: false }) };
  const request = {
    mode: 'sync',
    allow: ['first-leads', 'max-changes'],
    maxAttempts: 1,
    isUnattended: true,
  } as const;
  const sync = () => advanceRun(context, request, new AbortController().signal);
  expect(await sync()).toMatchObject({ run: { report: { status: 'succeeded' } } });
  for (const { id } of workspace.sandbox.leads.list()) workspace.sandbox.leads.edit(id, { stage: 'won' });
  await workspace.database.pool.query(
    `create function no_space() returns trigger language plpgsql as
       $$ begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$;
     create trigger no_space before insert on actions execute function no_space()`,
  );
  await expect(sync()).rejects.toThrow('No space left on device');
  await workspace.database.pool.query('drop function no_space cascade');
  expect(await sync()).toMatchObject({ run: { report: { status: 'succeeded' } } });
});

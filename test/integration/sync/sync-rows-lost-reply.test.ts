import { pino } from 'pino';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

test('a write whose reply was lost, and a cell that was typed over since: what the write replaced is on record', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  workspace.configure({ sync: { onConflict: 'leads-win' } });
  await workspace.sync();
  const id = workspace.sandbox.leads.list()[0]?.id ?? '';
  const type = (city: string) => workspace.sheet.edit((row) => row['Lead ID'] === id, { City: city });
  type('of a person');
  workspace.sandbox.leads.edit(id, { city: 'of the lead' });
  {
    await using app = await workspace.openApp();
    const context = app.contexts.get(connectionName);
    if (context === undefined) throw new Error('the connection is not configured');
    const { target } = context;
    const write = target.write.bind(target);
    let isLost = false;
    target.write = async (...args) => {
      const outcomes = await write(...args);
      if (isLost) return outcomes;
      isLost = true;
      type('typed since');
      throw new LeadsyncError('target.unreachable', 'cut off', { retry: 'now' });
    };
    const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 3 } as const;
    const silent = { ...context, log: pino({ level: 'silent' }) };
    expect(await advanceRun(silent, request, new AbortController().signal)).toMatchObject({ kind: 'again' });
    expect(await advanceRun(silent, request, new AbortController().signal)).toMatchObject({
      kind: 'finished',
    });
  }
  expect(JSON.stringify(JSON.parse((await workspace.cli('why', id, 'city', '--json')).stdout))).toContain(
    'of a person',
  );
});

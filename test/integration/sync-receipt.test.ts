import { pino } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { SyncContext } from '../../src/sync/context.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { advanceRun } from '../../src/sync/run.ts';
import { connectionName, Workspace } from '../support/workspace.ts';

/** A whole sync in which something happens right after each write of the target. */
async function syncWith(workspace: Workspace, afterWrite: () => void): Promise<SyncReport> {
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  const { target } = real;
  const context: SyncContext = {
    ...real,
    log: pino({ level: 'silent' }),
    target: {
      ...target,
      batchSize: target.batchSize,
      get requests() {
        return target.requests;
      },
      open: (...args) => target.open(...args),
      write: async (...args) => {
        const outcomes = await target.write(...args);
        afterWrite();
        return outcomes;
      },
    },
  };
  for (;;) {
    const result = await advanceRun(
      context,
      { mode: 'sync', allow: [], patience: 5 },
      new AbortController().signal,
    );
    if (result.kind === 'finished') return result.run.report as SyncReport;
    await sleep(result.afterMs);
  }
}

test('an older copy is saved over what was written: the run fails and names it, the next one writes it again', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  await workspace.sync();
  const older = workspace.sheet.grid();
  const [lead] = workspace.sandbox.leads.list();
  workspace.sandbox.leads.edit(lead?.id ?? '', { stage: 'won' });

  const report = await syncWith(workspace, () => workspace.sheet.write(older));

  expect(report).toMatchObject({
    status: 'failed',
    receipt: { records: 3, equal: 2, unexplained: 1 },
    problems: [{ code: 'receipt.unexplained', leadId: lead?.id }],
  });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  expect(workspace.sandbox.leads.list()).toContainEqual(
    expect.objectContaining({ id: lead?.id, stage: 'won' }),
  );
  expect(workspace.sheet.rows()).toContainEqual(
    expect.objectContaining({ 'Lead ID': lead?.id, Stage: 'won' }),
  );
});

test('a row that was written and is not there any more is unexplained', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  const report = await syncWith(workspace, () => workspace.sheet.write(workspace.sheet.grid().slice(0, -1)));
  expect(report).toMatchObject({ status: 'failed', receipt: { records: 2, equal: 1, unexplained: 1 } });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', receipt: { equal: 2 } });
});

test('somebody edits the row in the moment after the write: put off, and the next run carries the edit over', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  await workspace.sync();
  const [lead] = workspace.sandbox.leads.list();
  workspace.sandbox.leads.edit(lead?.id ?? '', { stage: 'won' });

  const report = await syncWith(workspace, () =>
    workspace.sheet.edit((row) => row['Lead ID'] === lead?.id, { Stage: 'lost' }),
  );

  expect(report).toMatchObject({
    status: 'partial',
    putOff: 1,
    receipt: { records: 2, equal: 1, putOff: 1, unexplained: 0 },
    problems: [{ code: 'receipt.changed', leadId: lead?.id }],
  });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 1, rows: 0 } });
  expect(workspace.sandbox.leads.list()).toContainEqual(
    expect.objectContaining({ id: lead?.id, stage: 'lost' }),
  );
});

test('the lead is read again too: a change that the service takes back is unexplained', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  await workspace.sync();
  const [lead] = workspace.sandbox.leads.list();
  workspace.sheet.edit((row) => row['Lead ID'] === lead?.id, { Stage: 'won' });
  workspace.sandbox.leads.add({ companyName: 'Neu GmbH', segment: '', city: '', region: '', stage: 'new' });

  // The new lead's row is written after the PATCH, and before the receipt is taken.
  const report = await syncWith(workspace, () =>
    workspace.sandbox.leads.edit(lead?.id ?? '', { stage: lead?.['stage'] as string }),
  );

  expect(report).toMatchObject({ status: 'failed', receipt: { records: 3, equal: 2, unexplained: 1 } });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 1, rows: 0 } });
  expect(workspace.sandbox.leads.list()).toContainEqual(
    expect.objectContaining({ id: lead?.id, stage: 'won' }),
  );
});

test('what is held, left by the settings and equal adds up to all records', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 5 },
    connection: { sync: { onRowDeleted: 'ignore' } },
  });
  await workspace.sync();
  const [a, b, c] = workspace.sandbox.leads.list();
  workspace.sheet.edit((row) => row['Lead ID'] === a?.id, { Stage: 'won' });
  workspace.sandbox.leads.edit(a?.id ?? '', { stage: 'lost' });
  workspace.sheet.remove((row) => row['Lead ID'] === b?.id);
  workspace.sandbox.leads.remove(c?.id ?? '');
  workspace.sheet.add({ Company: '', Stage: 'new' });

  expect(await workspace.sync()).toMatchObject({
    status: 'partial',
    receipt: { records: 6, equal: 2, held: 2, putOff: 0, left: 2, unexplained: 0 },
  });
});

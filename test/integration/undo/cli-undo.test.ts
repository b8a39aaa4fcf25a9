import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { Workspace } from '../../support/workspace.ts';

interface UndoPlan {
  undoOf: string;
  actions: {
    kind: string;
    leadId?: string;
    reason: string;
    changes: Record<string, { from: string; to: string }>;
  }[];
}

async function json<T>(workspace: Workspace, ...args: string[]): Promise<T & { code: number | null }> {
  const { code, stdout, stderr } = await workspace.cli(...args, '--json');
  expect(stdout, stderr).not.toBe('');
  return { ...(JSON.parse(stdout) as T), code };
}

const state = (workspace: Workspace): object => ({
  leads: workspace.sandbox.leads.list(),
  file: workspace.sheet.text(),
});

test('undo shows what it would put back on both sides and writes nothing, until it is told to', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 4 } });
  await workspace.sync();
  const before = workspace.sandbox.leads.list();
  const [a, b, c] = before;
  workspace.sheet.edit((row) => row['Lead ID'] === a?.id, { Stage: 'won', City: 'Emden' });
  workspace.sandbox.leads.edit(b?.id ?? '', { segment: 'Mittelstand' });
  workspace.sheet.edit((row) => row['Lead ID'] === c?.id, { Stage: 'lost' });
  const { runId } = await workspace.sync();
  // Somebody works on: what they typed after the run stays.
  workspace.sandbox.leads.edit(c?.id ?? '', { stage: 'qualified' });
  const untouched = state(workspace);

  const plan = await json<UndoPlan>(workspace, 'undo', runId);

  expect(plan).toMatchObject({ code: 0, undoOf: runId });
  expect(plan.actions).toEqual([
    expect.objectContaining({
      kind: 'update-lead',
      leadId: a?.id,
      changes: { stage: { from: 'won', to: a?.['stage'] }, city: { from: 'Emden', to: a?.['city'] } },
    }),
    expect.objectContaining({
      kind: 'update-row',
      leadId: b?.id,
      changes: { segment: { from: 'Mittelstand', to: b?.['segment'] } },
    }),
    expect.objectContaining({
      kind: 'report',
      leadId: c?.id,
      reason: expect.stringContaining('undo.edited-since'),
    }),
  ]);
  expect(state(workspace)).toEqual(untouched);

  const report = await json<SyncReport>(workspace, 'undo', runId, '--yes');

  expect(report).toMatchObject({ code: 0, status: 'succeeded', updated: { leads: 1, rows: 1 }, putOff: 0 });
  expect(workspace.sandbox.leads.list().find(({ id }) => id === a?.id)).toMatchObject({
    stage: a?.['stage'],
    city: a?.['city'],
  });
  expect(workspace.sandbox.leads.list().find(({ id }) => id === c?.id)).toMatchObject({ stage: 'qualified' });
  expect(workspace.sheet.rows().find((row) => row['Lead ID'] === b?.id)).toMatchObject({
    Segment: b?.['segment'],
  });

  // What was put back travels like any other edit, and then both sides are as before the run.
  await workspace.sync();
  expect(workspace.sandbox.leads.list().filter(({ id }) => id !== c?.id)).toEqual(
    before.filter(({ id }) => id !== c?.id),
  );
  expect(workspace.sheet.rows().find((row) => row['Lead ID'] === a?.id)).toMatchObject({
    Stage: a?.['stage'],
    City: a?.['city'],
  });
  expect(await workspace.sync()).toMatchObject({ updated: { leads: 0, rows: 0 }, held: 0 });
});

test('an undo is a run like any other: it can be undone', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  await workspace.sync();
  const [lead] = workspace.sandbox.leads.list();
  workspace.sheet.edit((row) => row['Lead ID'] === lead?.id, { Stage: 'won' });
  const { runId } = await workspace.sync();
  const undone = await json<SyncReport>(workspace, 'undo', runId, '--yes');
  expect(workspace.sandbox.leads.list()).toContainEqual(
    expect.objectContaining({ id: lead?.id, stage: lead?.['stage'] }),
  );

  await json<SyncReport>(workspace, 'undo', undone.runId, '--yes');

  expect(workspace.sandbox.leads.list()).toContainEqual(
    expect.objectContaining({ id: lead?.id, stage: 'won' }),
  );
  expect(await workspace.sync()).toMatchObject({ updated: { leads: 0, rows: 0 }, receipt: { equal: 2 } });
});

test('a row that a run took away is brought back from the history', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 3 },
    connection: { sync: { onLeadDeleted: 'remove' } },
  });
  await workspace.sync();
  const [lead] = workspace.sandbox.leads.list();
  const row = workspace.sheet.rows().find((one) => one['Lead ID'] === lead?.id);
  workspace.sandbox.leads.remove(lead?.id ?? '');
  await workspace.sync();
  const { runId, deleted } = await workspace.sync();
  expect(deleted.rows).toBe(1);
  expect(workspace.sheet.rows()).not.toContainEqual(row);

  const report = await json<SyncReport>(workspace, 'undo', runId, '--yes');

  expect(report).toMatchObject({ code: 0, created: { rows: 1 }, receipt: { unexplained: 0 } });
  expect(workspace.sheet.rows()).toContainEqual(row);
  await workspace.sync();
  await workspace.sync();
  expect(workspace.sheet.rows()).toContainEqual(row);
});

test('what a run made is taken away again, but not what was edited since', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 0 } });
  await workspace.sync();
  workspace.sheet.add({ Company: 'Ems GmbH', Stage: 'new' });
  workspace.sheet.add({ Company: 'Elbe GmbH', Stage: 'new' });
  const weser = workspace.sandbox.leads.add({
    companyName: 'Weser GmbH',
    segment: '',
    city: '',
    region: '',
    stage: 'new',
  });
  const { runId } = await workspace.sync();
  const elbe = workspace.sandbox.leads.list().find(({ companyName }) => companyName === 'Elbe GmbH');
  workspace.sandbox.leads.edit(elbe?.id ?? '', { stage: 'won' });

  const report = await json<SyncReport>(workspace, 'undo', runId, '--yes');

  expect(report).toMatchObject({ code: 0, deleted: { leads: 1, rows: 1 } });
  expect(
    workspace.sandbox.leads
      .list()
      .map(({ companyName }) => companyName)
      .toSorted(),
  ).toEqual(['Elbe GmbH', 'Weser GmbH']);
  expect(workspace.sheet.rows().map((row) => row['Company'])).toEqual(['Ems GmbH', 'Elbe GmbH']);
  expect(report.problems).toMatchObject([{ code: 'undo.edited-since', leadId: elbe?.id }]);
  expect(weser.id).not.toBe('');
});

test('an undo can be kept in a file and carried out line by line', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  await workspace.sync();
  const before = workspace.sandbox.leads.list();
  workspace.sheet.edit(() => true, { Stage: 'won' });
  const { runId } = await workspace.sync();
  const path = join(workspace.folder, 'undo.json');
  await json(workspace, 'undo', runId, '--out', path);
  const { actions } = JSON.parse(readFileSync(path, 'utf8')) as { actions: { id: string; leadId: string }[] };
  const [one] = actions;

  expect(await json<SyncReport>(workspace, 'apply', path, '--only', one?.id ?? '')).toMatchObject({
    code: 0,
    plan: { lines: 1, done: 1 },
  });

  const now = workspace.sandbox.leads.list();
  expect(now.filter((lead) => lead['stage'] === 'won')).toHaveLength(2);
  expect(now.find(({ id }) => id === one?.leadId)).toEqual(before.find(({ id }) => id === one?.leadId));
});

test('what is told before and after an undo is so', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 1 } });
  await workspace.sync();
  workspace.sheet.add({ Company: 'Ems GmbH', Stage: 'new' });
  const { runId } = await workspace.sync();

  const planned = await workspace.cli('undo', runId);
  expect(planned.stdout).toContain('nothing was written');
  expect(planned.stdout).toContain(`To carry it out: leadsync undo ${runId}`);
  const carriedOut = await workspace.cli('undo', runId, '--yes');
  expect(carriedOut.stdout).not.toContain('nothing was written');
  expect(carriedOut.stdout).toContain('is not made again by itself');
  const again = await workspace.cli('undo', runId);
  expect(again.stdout).toContain('left alone');
  expect(again.stdout).not.toContain('To carry it out');
  expect(again.code).toBe(3);
});

test('an undo that puts back nothing does not say that it succeeded: 3, with why', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  await workspace.sync();
  const [lead] = workspace.sandbox.leads.list();
  workspace.sheet.edit((row) => row['Lead ID'] === lead?.id, { Stage: 'won' });
  const { runId } = await workspace.sync();
  workspace.sandbox.leads.edit(lead?.id ?? '', { stage: 'lost' });
  const untouched = state(workspace);

  expect(await json<SyncReport>(workspace, 'undo', runId, '--yes')).toMatchObject({
    code: 3,
    status: 'partial',
    updated: { leads: 0, rows: 0 },
    problems: [{ code: 'undo.edited-since', leadId: lead?.id }],
  });
  expect(state(workspace)).toEqual(untouched);

  // A run that wrote nothing leaves nothing to be put back.
  await workspace.sync();
  const idle = await workspace.sync();
  const shown = await workspace.cli('undo', idle.runId);
  expect(shown).toMatchObject({ code: 3, stdout: expect.stringContaining('is left to undo') });
  expect(await workspace.cli('undo', idle.runId, '--yes')).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('undo.nothing'),
  });
});

test.each([
  ['a run that there is not', '4711'],
  ['something else', 'yesterday'],
])('%s: refused, nothing is scanned', async (_name, id) => {
  await using workspace = await Workspace.open({ sandbox: { leads: 1 } });
  const requests = workspace.sandbox.log.length;
  expect(await json(workspace, 'undo', id, '--yes')).toMatchObject({
    code: 2,
    error: { code: 'usage.unknown-run' },
  });
  expect(workspace.sandbox.log).toHaveLength(requests);
});

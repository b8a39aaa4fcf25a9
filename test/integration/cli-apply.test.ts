import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SyncReport } from '../../src/sync/report.ts';
import { Workspace } from '../support/workspace.ts';

interface PlanFile {
  version: number;
  connection: string;
  actions: {
    id: string;
    kind: string;
    leadId?: string;
    precondition: string;
    changes: Record<string, { to: string }>;
  }[];
}

const stages = (workspace: Workspace): string[] => workspace.sandbox.leads.list().map((lead) => lead.stage);

/** Three pairs in step, then an edit of each lead's stage in the file, and a plan of these in `plan.json`. */
async function reviewedPlan(options: Parameters<typeof Workspace.open>[0] = {}) {
  const workspace = await Workspace.open({ sandbox: { leads: 3 }, ...options });
  await workspace.sync();
  workspace.sheet.edit(() => true, { Stage: 'won' });
  const path = join(workspace.folder, 'plan.json');
  const { code, stdout, stderr } = await workspace.cli('plan', '--out', path);
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toContain(`leadsync apply ${path}`);
  const read = (): PlanFile => JSON.parse(readFileSync(path, 'utf8')) as PlanFile;
  const write = (plan: object): void => writeFileSync(path, JSON.stringify(plan));
  const apply = async (
    ...args: string[]
  ): Promise<{ code: number | null; json: SyncReport; error?: { code: string } }> => {
    const result = await workspace.cli('apply', path, '--json', ...args);
    const json = JSON.parse(result.stdout) as SyncReport & { error?: { code: string } };
    return { code: result.code, json, ...(json.error && { error: json.error }) };
  };
  return { workspace, path, read, write, apply };
}

test('apply carries out exactly the plan: what was edited since is not touched, and a second time nothing is done', async () => {
  const { workspace, apply } = await reviewedPlan();
  await using _ = workspace;
  workspace.sheet.edit((row) => row['Stage'] === 'won', { City: 'Emden' });

  const first = await apply();

  expect(first).toMatchObject({
    code: 0,
    json: {
      status: 'succeeded',
      updated: { leads: 3, rows: 0 },
      plan: { lines: 3, done: 3, doneBefore: 0, stale: 0 },
    },
  });
  expect(first.json.receipt).toEqual({ records: 3, equal: 0, held: 0, putOff: 0, left: 3, unexplained: 0 });
  expect(stages(workspace)).toEqual(['won', 'won', 'won']);
  expect(workspace.sandbox.leads.list().map((lead) => lead['city'])).not.toContain('Emden');

  const second = await apply();
  expect(second).toMatchObject({
    code: 0,
    json: { updated: { leads: 0 }, plan: { lines: 3, done: 0, doneBefore: 3, stale: 0 }, problems: [] },
  });
  expect(await workspace.sync()).toMatchObject({ updated: { leads: 3 }, receipt: { equal: 3 } });
});

test('a line that is not as the plan saw it is refused by name, the others are done', async () => {
  const { workspace, read, apply } = await reviewedPlan();
  await using _ = workspace;
  const [first, second] = workspace.sandbox.leads.list();
  workspace.sandbox.leads.edit(first?.id ?? '', { stage: 'lost' });
  workspace.sheet.edit((row) => row['Lead ID'] === second?.id, { Stage: second?.['stage'] as string });

  const { code, json } = await apply();

  const line = (leadId = ''): string => read().actions.find((action) => action.leadId === leadId)?.id ?? '?';
  expect(code).toBe(3);
  expect(json).toMatchObject({
    status: 'partial',
    plan: { lines: 3, done: 1, stale: 2 },
    updated: { leads: 1 },
  });
  expect(json.problems.filter((problem) => problem.code === 'plan.stale')).toEqual([
    expect.objectContaining({
      leadId: first?.id,
      message: expect.stringContaining(`line ${line(first?.id)} `),
    }),
    expect.objectContaining({
      leadId: second?.id,
      message: expect.stringContaining(`line ${line(second?.id)} `),
    }),
  ]);
  expect(stages(workspace).toSorted()).toEqual(['lost', second?.['stage'] as string, 'won'].toSorted());
});

test('--only carries out the lines named', async () => {
  const { workspace, read, apply } = await reviewedPlan();
  await using _ = workspace;
  const [, chosen] = read().actions;

  expect(await apply('--only', chosen?.id ?? '')).toMatchObject({
    code: 0,
    json: { updated: { leads: 1 }, plan: { lines: 1, done: 1 }, receipt: { equal: 1, left: 2 } },
  });
  const written = workspace.sandbox.leads.list().filter((lead) => lead['stage'] === 'won');
  expect(written.map(({ id }) => id)).toEqual([chosen?.leadId]);
  expect(await apply('--only', '999999')).toMatchObject({ code: 2, error: { code: 'usage.plan-line' } });
});

test('a value that was changed by hand in the file is not written', async () => {
  const { workspace, read, write, apply } = await reviewedPlan();
  await using _ = workspace;
  const plan = read();
  const [first] = plan.actions;
  for (const change of Object.values(first?.changes ?? {})) change.to = 'lost';
  write(plan);

  const { code, json } = await apply();

  expect(code).toBe(3);
  expect(json.problems).toMatchObject([{ code: 'plan.line-edited', leadId: first?.leadId }]);
  expect(json.updated.leads).toBe(2);
  expect(stages(workspace)).not.toContain('lost');
});

test.each([
  ['another version', (plan: PlanFile) => ({ ...plan, version: 2 }), 'usage.plan-version'],
  [
    'another connection',
    (plan: PlanFile) => ({ ...plan, connection: 'hamburg' }),
    'usage.unknown-connection',
  ],
  ['no plan', () => ({ hello: 'world' }), 'usage.plan-unreadable'],
])('%s: refused whole', async (_name, change, code) => {
  const { workspace, read, write, apply } = await reviewedPlan();
  await using _ = workspace;
  write(change(read()));
  const requests = workspace.sandbox.log.length;
  expect(await apply()).toMatchObject({ code: 2, error: { code } });
  expect(workspace.sandbox.log).toHaveLength(requests);
});

test.each([
  ['mapping', { fields: { companyName: 'Company', stage: 'Stage', city: 'Segment' } }],
  ['rules', { sync: { onConflict: 'leads-win' } }],
  ['target', { target: { statusColumn: 'Status' } }],
])('a plan that was made under another %s is refused whole', async (_name, connection) => {
  const { workspace, apply } = await reviewedPlan();
  await using _ = workspace;
  workspace.configure(connection);
  const requests = workspace.sandbox.log.length;
  expect(await apply()).toMatchObject({ code: 2, error: { code: 'usage.plan-settings' } });
  expect(workspace.sandbox.log).toHaveLength(requests);
  expect(stages(workspace)).not.toContain('won');
});

test('a file that is no plan is not overwritten by --out', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 1 } });
  await workspace.sync();
  const before = workspace.sheet.text();
  const { code, stdout } = await workspace.cli('plan', '--json', '--out', workspace.sheet.path);
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'usage.plan-out-exists' } });
  expect(workspace.sheet.text()).toBe(before);
});

test('a create of the plan is settled, linked and never made twice, whatever POST replies', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2, createReply: 'nothing' } });
  await workspace.sync();
  workspace.sheet.add({ Company: 'Zwilling AG', Stage: 'new' });
  workspace.sheet.add({ Company: 'Zwilling AG', Stage: 'new' });
  const path = join(workspace.folder, 'plan.json');
  await workspace.cli('plan', '--out', path);
  const plan = JSON.parse(readFileSync(path, 'utf8')) as PlanFile;
  expect(plan.actions.map(({ kind }) => kind)).toEqual(['create-lead', 'create-lead']);
  const [one] = plan.actions;

  const { code, stdout } = await workspace.cli('apply', path, '--json', '--only', one?.id ?? '');

  expect(JSON.parse(stdout)).toMatchObject({
    status: 'succeeded',
    created: { leads: 1 },
    receipt: { records: 4 },
  });
  expect(code).toBe(0);
  expect(workspace.sandbox.leads.size).toBe(3);
  expect(workspace.sheet.rows().filter((row) => row['Lead ID'] === '')).toHaveLength(1);
  await workspace.sync();
  expect(workspace.sandbox.leads.size).toBe(4);
  expect(workspace.sheet.rows().filter((row) => row['Lead ID'] === '')).toHaveLength(0);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { applyPlan } from '../../../src/cli/apply.ts';
import { makePlanNow } from '../../../src/cli/plan.ts';
import { approvedLines, readPlanFile, writePlanFile } from '../../../src/cli/plan-file.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

interface Reviewed {
  readonly leads?: number;
  readonly sandbox?: object;
  /** What differs when the plan is made. */
  readonly edit?: (workspace: Workspace) => void;
}

const never = new AbortController().signal;
const stages = ({ sandbox }: Workspace): string[] => sandbox.leads.list().map((lead) => lead.stage);
const named = ({ sandbox }: Workspace, company: string): number =>
  sandbox.leads.list().filter((lead) => lead['companyName'] === company).length;
const winAll = ({ sheet }: Workspace): void => sheet.edit(() => true, { Stage: 'won' });
const walkIn = ({ sheet }: Workspace): void => sheet.add({ Company: 'Walk-in AG', Stage: 'new' });

/** Pairs in step, then what `edit` does, and a plan of it in `plan.json`; the commands run in this process. */
class ReviewedPlan implements AsyncDisposable {
  readonly workspace: Workspace;
  readonly path: string;

  private constructor(workspace: Workspace) {
    this.workspace = workspace;
    this.path = join(workspace.folder, 'plan.json');
  }

  static async make({ leads = 3, sandbox = {}, edit = winAll }: Reviewed = {}): Promise<ReviewedPlan> {
    const workspace = await Workspace.open({ sandbox: { leads, ...sandbox } });
    await workspace.sync();
    edit(workspace);
    const reviewed = new ReviewedPlan(workspace);
    await reviewed.plan();
    return reviewed;
  }

  async plan(): Promise<void> {
    await using app = await this.workspace.openApp();
    const { run, actions } = await makePlanNow(app, connectionName, {}, never);
    const context = app.contexts.get(connectionName);
    if (context === undefined) throw new Error('the connection is not configured');
    await writePlanFile(this.path, { run, actions, companies: new Map() }, context.connection);
  }

  get lines() {
    return readPlanFile(this.path).actions;
  }

  async apply(only: readonly string[] | null = null, allow: readonly string[] = []): Promise<SyncReport> {
    const plan = readPlanFile(this.path);
    await using app = await this.workspace.openApp();
    return await applyPlan(app, plan, approvedLines(plan, only), allow, never);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workspace[Symbol.asyncDispose]();
  }
}

test('the commands: plan --out keeps a plan, apply carries it out, and a second time nothing is done', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  await workspace.sync();
  winAll(workspace);
  const path = join(workspace.folder, 'plan.json');
  const { code, stdout, stderr } = await workspace.cli('plan', '--out', path);
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toContain(`leadsync apply ${path}`);

  const first = await workspace.cli('apply', path, '--json');
  expect(first.code).toBe(0);
  expect(first.json()).toMatchObject({ status: 'succeeded', plan: { lines: 3, done: 3 } });

  const second = await workspace.cli('apply', path);
  expect(second.code).toBe(0);
  expect(second.stdout).toContain('0 of 3 lines carried out, 3 were before');
});

test('the commands: a file that is no plan is not overwritten, a plan of another connection is refused whole', async () => {
  await using reviewed = await ReviewedPlan.make({ leads: 1 });
  const { workspace, path } = reviewed;
  const before = workspace.sheet.text();
  const requests = workspace.sandbox.log.length;
  const taken = await workspace.cli('plan', '--json', '--out', workspace.sheet.path);
  expect(taken).toMatchObject({ code: 2 });
  expect(taken.json()).toMatchObject({ error: { code: 'usage.plan-out-exists' } });
  expect(workspace.sheet.text()).toBe(before);

  writeFileSync(path, readFileSync(path, 'utf8').replace(`"${connectionName}"`, '"hamburg"'));
  const foreign = await workspace.cli('apply', path, '--json');
  expect(foreign).toMatchObject({ code: 2 });
  expect(foreign.json()).toMatchObject({ error: { code: 'usage.unknown-connection' } });
  expect(workspace.sandbox.log).toHaveLength(requests);
});

test('the commands: a guard stop counts nothing as done and names the apply that goes on', async () => {
  await using reviewed = await ReviewedPlan.make({
    leads: 12,
    edit: ({ sheet }) => sheet.edit(() => true, { Stage: 'changed' }),
  });
  const { workspace, path } = reviewed;
  const only = reviewed.lines.map(({ id }) => id).join(',');
  const { code, stdout } = await workspace.cli('apply', path, '--only', only);
  expect(code).toBe(4);
  expect(stdout).toContain('0 of 12 lines carried out');
  expect(stdout).toContain(`leadsync apply ${path} --only ${only} --allow max-changes --allow whole-field`);
  expect(stages(workspace)).not.toContain('changed');
});

test('exactly the plan: what was edited since is not touched', async () => {
  await using reviewed = await ReviewedPlan.make();
  const { workspace } = reviewed;
  workspace.sheet.edit((row) => row['Stage'] === 'won', { City: 'Emden' });

  expect(await reviewed.apply()).toMatchObject({
    status: 'succeeded',
    updated: { leads: 3, rows: 0 },
    plan: { lines: 3, done: 3, doneBefore: 0, stale: 0 },
    receipt: { records: 3, equal: 0, held: 0, putOff: 0, left: 3, unexplained: 0 },
  });
  expect(stages(workspace)).toEqual(['won', 'won', 'won']);
  expect(workspace.sandbox.leads.list().map((lead) => lead['city'])).not.toContain('Emden');
  expect(await reviewed.apply()).toMatchObject({
    status: 'succeeded',
    updated: { leads: 0 },
    plan: { lines: 3, done: 0, doneBefore: 3, stale: 0 },
    problems: [],
  });
  expect(await workspace.sync()).toMatchObject({ updated: { leads: 3 }, receipt: { equal: 3 } });
});

test('a line that is not as the plan saw it is refused by name, the others are done', async () => {
  await using reviewed = await ReviewedPlan.make();
  const { workspace } = reviewed;
  const [first, second] = workspace.sandbox.leads.list();
  workspace.sandbox.leads.edit(first?.id ?? '', { stage: 'lost' });
  workspace.sheet.edit((row) => row['Lead ID'] === second?.id, { Stage: second?.['stage'] as string });

  const report = await reviewed.apply();

  const line = (leadId = ''): string => reviewed.lines.find((one) => one.leadId === leadId)?.id ?? '?';
  expect(report).toMatchObject({
    status: 'partial',
    plan: { lines: 3, done: 1, stale: 2 },
    updated: { leads: 1 },
  });
  expect(report.problems.filter((problem) => problem.code === 'plan.stale')).toEqual(
    [first, second].map((lead) =>
      expect.objectContaining({
        leadId: lead?.id,
        message: expect.stringContaining(`line ${line(lead?.id)} `),
      }),
    ),
  );
  expect(stages(workspace).toSorted()).toEqual(['lost', second?.['stage'] as string, 'won'].toSorted());
});

test('--only carries out the lines named', async () => {
  await using reviewed = await ReviewedPlan.make();
  const { workspace } = reviewed;
  const [, chosen] = reviewed.lines;

  expect(await reviewed.apply([chosen?.id ?? ''])).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1 },
    plan: { lines: 1, done: 1 },
    receipt: { equal: 1, left: 2 },
  });
  const written = workspace.sandbox.leads.list().filter((lead) => lead['stage'] === 'won');
  expect(written.map(({ id }) => id)).toEqual([chosen?.leadId]);
  await expect(reviewed.apply(['999999'])).rejects.toMatchObject({ code: 'usage.plan-line' });
});

test('a value that was changed by hand in the file is not written', async () => {
  await using reviewed = await ReviewedPlan.make();
  const { workspace, path } = reviewed;
  const plan = readPlanFile(path);
  const [first] = plan.actions;
  for (const change of Object.values(first?.changes ?? {})) change.to = 'lost';
  writeFileSync(path, JSON.stringify(plan));

  const report = await reviewed.apply();

  expect(report.problems).toMatchObject([{ code: 'plan.line-edited', leadId: first?.leadId }]);
  expect(report).toMatchObject({ updated: { leads: 2 }, plan: { done: 2, stale: 1 } });
  expect(stages(workspace)).not.toContain('lost');
});

test.each([
  ['mapping', { fields: { companyName: 'Company', stage: 'Stage', city: 'Segment' } }, 'fields'],
  ['direction of a field', { sync: { direction: 'to-target' } }, 'fields'],
  ['rule', { sync: { onConflict: 'leads-win' } }, 'rules'],
  ['time zone', { target: { timeZone: 'Europe/Lisbon' } }, 'time zone'],
])('a plan that was made under another %s is refused whole, naming what', async (_name, settings, told) => {
  await using reviewed = await ReviewedPlan.make({ leads: 1 });
  const { workspace } = reviewed;
  workspace.configure(settings);
  const requests = workspace.sandbox.log.length;
  await expect(reviewed.apply()).rejects.toMatchObject({
    code: 'usage.plan-settings',
    message: expect.stringContaining(told),
  });
  expect(workspace.sandbox.log).toHaveLength(requests);
});

test('a plan that is not on record, or older than what is kept of the runs, is refused whole', async () => {
  await using reviewed = await ReviewedPlan.make({ leads: 1 });
  await using app = await reviewed.workspace.openApp();
  await app.pool.query(`update runs set created_at = now() - interval '10 years' where mode = 'plan'`);
  await expect(reviewed.apply()).rejects.toMatchObject({ code: 'usage.plan-too-old' });
  await app.pool.query(`delete from runs where mode = 'plan'`);
  await expect(reviewed.apply()).rejects.toMatchObject({ code: 'usage.plan-unknown' });
  expect(stages(reviewed.workspace)).not.toContain('won');
});

test('a create that was carried out covers no row like it that was typed after the review', async () => {
  await using reviewed = await ReviewedPlan.make({ edit: walkIn });
  const { workspace } = reviewed;
  expect(await reviewed.apply()).toMatchObject({ created: { leads: 1 }, plan: { lines: 1, done: 1 } });

  for (let again = 0; again < 2; again += 1) {
    walkIn(workspace);
    expect(await reviewed.apply()).toMatchObject({
      created: { leads: 0 },
      plan: { lines: 1, done: 0, doneBefore: 1, stale: 0 },
    });
  }
  expect(named(workspace, 'Walk-in AG')).toBe(1);
});

test('a line that a sync has carried out since covers nothing that appeared after it', async () => {
  await using reviewed = await ReviewedPlan.make({ edit: walkIn });
  const { workspace } = reviewed;
  await workspace.sync();
  walkIn(workspace);
  expect(await reviewed.apply()).toMatchObject({ created: { leads: 0 }, plan: { done: 0, doneBefore: 1 } });
  expect(named(workspace, 'Walk-in AG')).toBe(1);
});

test('an edit that was carried out is not carried out again after it was taken back on both sides', async () => {
  await using reviewed = await ReviewedPlan.make({ leads: 1 });
  const { workspace } = reviewed;
  const [lead] = workspace.sandbox.leads.list();
  const before = readPlanFile(reviewed.path).actions[0]?.changes['stage']?.from ?? '';
  expect(await reviewed.apply()).toMatchObject({ plan: { done: 1 } });
  workspace.sandbox.leads.edit(lead?.id ?? '', { stage: before });
  await workspace.sync();
  winAll(workspace);

  expect(await reviewed.apply()).toMatchObject({ updated: { leads: 0 }, plan: { done: 0, doneBefore: 1 } });
  expect(stages(workspace)).toEqual([before]);
});

test('of two lines alike each is carried out once, one after the other', async () => {
  await using reviewed = await ReviewedPlan.make({
    edit: (workspace) => {
      walkIn(workspace);
      walkIn(workspace);
    },
  });
  const [one = '', two = ''] = reviewed.lines.map(({ id }) => id);
  for (const [index, id] of [one, two].entries()) {
    expect(await reviewed.apply([id])).toMatchObject({ created: { leads: 1 }, plan: { done: 1 } });
    expect(named(reviewed.workspace, 'Walk-in AG')).toBe(index + 1);
  }
  expect(await reviewed.apply()).toMatchObject({ plan: { lines: 2, done: 0, doneBefore: 2 } });
});

test('a create of the plan is settled, linked and never made twice, whatever POST replies', async () => {
  await using reviewed = await ReviewedPlan.make({
    leads: 2,
    sandbox: { createReply: 'nothing' },
    edit: (workspace) => {
      walkIn(workspace);
      walkIn(workspace);
    },
  });
  const { workspace } = reviewed;
  expect(reviewed.lines.map(({ kind }) => kind)).toEqual(['create-lead', 'create-lead']);
  const [one] = reviewed.lines;

  for (const counts of [
    { done: 1, doneBefore: 0 },
    { done: 0, doneBefore: 1 },
  ]) {
    expect(await reviewed.apply([one?.id ?? ''])).toMatchObject({ status: 'succeeded', plan: counts });
    expect(workspace.sandbox.leads.size).toBe(3);
    expect(workspace.sheet.rows().filter((row) => row['Lead ID'] === '')).toHaveLength(1);
  }
  await workspace.sync();
  expect(workspace.sandbox.leads.size).toBe(4);
  expect(workspace.sheet.rows().filter((row) => row['Lead ID'] === '')).toHaveLength(0);
});

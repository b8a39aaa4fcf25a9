import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PlanOutput } from '../../../src/cli/plan-output.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { oneObject } from '../../support/cli.ts';
import { Workspace } from '../../support/workspace.ts';

const headings = ['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up'];
const none = { leads: 0, rows: 0 };

describe('exit codes and --json', () => {
  test('check: 0, also for a service that does not know `limit`', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 3, rejectLimit: true } });
    const { code, stdout } = await workspace.cli('check');
    expect(stdout).toContain('the key may list leads (3 on the first page)');
    expect(code).toBe(0);
  });

  test('sync: 0, to the letter of the contract; plan: 0; status before and after', async () => {
    await using workspace = await Workspace.open({
      sandbox: { leads: 3 },
      connection: { reminders: { from: 'a@example.com', to: ['b@example.com'] } },
    });
    const before = await workspace.cli('status', '--json');
    expect(before.code).toBe(0);
    const contract =
      readFileSync('docs/architecture.md', 'utf8').match(/`status --json`: `[^`]*`/)?.[0] ?? '';
    const [shown] = (oneObject(before) as { connections: object[] }).connections;
    for (const key of Object.keys(shown ?? {})) expect(contract).toContain(JSON.stringify(key));
    expect(oneObject(before)).toEqual({
      connections: [
        {
          connection: 'main',
          lastRun: null,
          lastRunAt: null,
          running: null,
          nextRunAt: null,
          throttledUntil: null,
          pausedSince: null,
          held: 0,
          requestedEdits: { open: 0, why: null },
          deletedLeads: [],
          place: null,
          formerPlaces: [],
          reminders: { coming: 0, next: [] },
        },
      ],
    });
    const plan = await workspace.cli('plan', '--json');
    expect(plan.code).toBe(0);
    const planned = oneObject(plan) as unknown as PlanOutput;
    expect(Object.keys(planned)).toEqual(['planId', 'connection', 'actions', 'guard', 'forecast']);
    expect(planned.guard).toEqual({ ok: true, refusals: [] });
    const lead = workspace.sandbox.leads.list()[0];
    expect(planned.actions).toHaveLength(3);
    expect(planned.actions.find(({ leadId }) => leadId === lead?.id)).toEqual({
      id: expect.stringMatching(/^\d+$/),
      kind: 'create-row',
      company: lead?.companyName,
      leadId: lead?.id,
      changes: expect.objectContaining({ companyName: { from: null, to: lead?.companyName } }),
      reason: expect.any(String),
    });

    const dueAt = new Date(Date.now() + 3_600_000).toISOString();
    workspace.sandbox.leads.edit(lead?.id ?? '', { nextFollowUpAt: dueAt });
    const sync = await workspace.cli('sync', '--json');
    expect(sync.code).toBe(0);
    const report = oneObject(sync);
    expect(report).toEqual({
      runId: expect.stringMatching(/^\d+$/),
      connection: 'main',
      status: 'succeeded',
      pulled: 3,
      targetRows: 0,
      created: { leads: 0, rows: 3 },
      updated: none,
      deleted: none,
      held: 0,
      putOff: 0,
      problems: [],
      requests: { leads: 1, target: expect.any(Number) },
      waitedMs: 0,
      durationMs: expect.any(Number),
      receipt: { records: 3, equal: 3, held: 0, putOff: 0, left: 0, unexplained: 0 },
    });

    const after = await workspace.cli('status', '--json');
    expect(after.code).toBe(0);
    const { connections } = oneObject(after) as unknown as {
      connections: {
        lastRun: object;
        lastRunAt: string;
        reminders: { coming: number; next: { leadId: string; dueAt: string }[] };
      }[];
    };
    expect(connections).toHaveLength(1);
    expect(connections[0]?.lastRun).toEqual(report);
    expect(Math.abs(Date.now() - Date.parse(connections[0]?.lastRunAt ?? ''))).toBeLessThan(60_000);
    expect(connections[0]?.reminders.next).toContainEqual({ leadId: lead?.id, dueAt });

    const conflicts = await workspace.cli('conflicts', '--json');
    expect(conflicts.code).toBe(0);
    expect(oneObject(conflicts)).toEqual({ conflicts: [] });
  });

  test('plan: 3 when a mapped column is missing or there twice, and it says so instead of "nothing to do"', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
    await workspace.sync();
    const [first = [], ...records] = workspace.sheet.grid();
    for (const twice of [false, true]) {
      const renamed = first.map((heading) => (heading === 'City' ? (twice ? 'Region' : 'Town') : heading));
      workspace.sheet.write([renamed, ...records]);
      const text = await workspace.cli('plan');
      expect(text.stdout).toContain('[target.column-missing]');
      expect(text.stdout).not.toContain('nothing to do');
      expect(text.code).toBe(3);
      const plan = await workspace.cli('plan', '--json');
      const { problems = [], actions } = oneObject(plan) as unknown as PlanOutput;
      expect(actions).toEqual([]);
      expect(problems.map(({ code }) => code)).toEqual(
        Array.from({ length: problems.length }, () => 'target.column-missing'),
      );
      expect(problems.length).toBeGreaterThan(0);
      expect(plan.code).toBe(3);
    }
  });

  test('plan and sync list what the next sync would delete, by name, and are not incomplete for it', async () => {
    await using workspace = await Workspace.open({
      sandbox: { leads: 8 },
      connection: { sync: { onRowDeleted: 'delete-lead' } },
    });
    await workspace.sync();
    const [lead] = workspace.sandbox.leads.list();
    workspace.sheet.remove((row) => row['Lead ID'] === lead?.id);
    const told = {
      code: 'delete.waiting',
      leadId: lead?.id,
      message: expect.stringContaining(`the row of ${JSON.stringify(lead?.companyName)} is missing`),
    };
    const plan = await workspace.cli('plan', '--json');
    expect({ code: plan.code, ...oneObject(plan) }).toMatchObject({ code: 0, actions: [], problems: [told] });
    expect((await workspace.cli('plan')).stdout).toContain('the next sync deletes the lead');
    const sync = await workspace.cli('sync', '--json');
    expect({ code: sync.code, ...oneObject(sync) }).toMatchObject({
      code: 0,
      status: 'succeeded',
      deleted: none,
      held: 0,
      putOff: 0,
      problems: [told],
      receipt: { records: 8, equal: 7, left: 1 },
    });
    expect((await workspace.cli('sync')).stdout).toContain('deleted  1 lead\n');
  });

  test('plan and sync with held items: 3; conflicts lists both values; resolve settles', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
    await workspace.sync();
    const [lead] = workspace.sandbox.leads.list();
    const leadId = lead?.id ?? '';
    workspace.sandbox.leads.edit(leadId, { stage: 'lost' });
    workspace.sheet.edit((row) => row['Lead ID'] === leadId, { Stage: 'won' });

    const plan = await workspace.cli('plan', '--json');
    expect(plan.code).toBe(3);
    expect((oneObject(plan) as unknown as PlanOutput).actions).toMatchObject([
      { kind: 'hold', leadId, changes: { stage: { from: 'lost', to: 'won' } } },
    ]);
    const sync = await workspace.cli('sync', '--json');
    expect(sync.code).toBe(3);
    expect(oneObject(sync)).toMatchObject({ status: 'partial', held: 1, updated: none });

    const listed = oneObject(await workspace.cli('conflicts', '--json')) as {
      conflicts: { id: string }[];
    };
    expect(listed.conflicts).toMatchObject([
      {
        connection: 'main',
        code: 'conflict.both-edited',
        leadId,
        field: 'stage',
        lead: 'lost',
        target: 'won',
      },
    ]);
    const id = listed.conflicts[0]?.id ?? '';
    const resolved = await workspace.cli('resolve', id, '--use', 'target', '--json');
    expect(resolved.code).toBe(0);
    expect(oneObject(resolved)).toEqual({ id, connection: 'main', use: 'target', applies: 'next sync' });
    expect(workspace.sandbox.leads.get(leadId)?.stage).toBe('lost');
    const last = await workspace.cli('sync', '--json');
    expect(last.code).toBe(0);
    expect(workspace.sandbox.leads.get(leadId)?.stage).toBe('won');
  });

  test('several connections: {"runs": […]}, the gravest exit code; --connection narrows it', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
    const leads = { baseUrl: workspace.sandbox.url, apiKey: '${LEADS_API_KEY}' };
    writeFileSync(
      join(workspace.folder, 'leadsync.yaml'),
      JSON.stringify({
        connections: {
          berlin: { leads, target: { type: 'workbook', path: './berlin.csv' } },
          wien: { leads: { ...leads, apiKey: 'wrong' }, target: { type: 'workbook', path: './wien.csv' } },
        },
      }),
    );
    const all = await workspace.cli('sync', '--json');
    expect(all.code).toBe(4);
    expect(oneObject(all)).toMatchObject({
      runs: [
        { connection: 'berlin', status: 'succeeded', created: { rows: 2 } },
        { connection: 'wien', status: 'failed', problems: [{ code: 'leads.unauthenticated' }] },
      ],
    });
    const one = await workspace.cli('sync', '--json', '--connection', 'berlin');
    expect(one.code).toBe(0);
    expect(oneObject(one)).toMatchObject({ connection: 'berlin', status: 'succeeded' });
    const plans = oneObject(await workspace.cli('plan', '--json')) as { plans: PlanOutput[] };
    expect(plans.plans.map(({ connection }) => connection)).toEqual(['berlin', 'wien']);
  });
});

test('the same report for people: where it stands and what helps, and no JSON', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  workspace.sheet.write([headings, ['nobody', 'Orphan AG', '', '', '', '', '']]);
  const { code, stdout } = await workspace.cli('sync');
  expect(code).toBe(3);
  expect(stdout).toContain('main: partial');
  expect(stdout).toContain('2 leads, 1 row\n');
  expect(stdout).toContain('[row.orphan]');
  expect(stdout).toContain('leadsync conflicts');
  const report = (await workspace.cli('sync', '--json')).json<SyncReport>();
  expect(report.problems).toMatchObject([{ code: 'row.orphan', row: 2 }]);
});

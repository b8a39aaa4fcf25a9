import { describe, expect, test } from 'vitest';
import { runHousekeeping } from '../../../src/worker/housekeeping.ts';
import { parseFaults } from '../../../src/demo/faults.ts';
import { history } from '../../../src/store/history.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

/** Makes all that is remembered n days older than it is. */
async function age(workspace: Workspace, days: number): Promise<void> {
  const columns = {
    runs: ['created_at', 'finished_at', 'progress_at', 'scan_started_at'],
    actions: ['done_at', 'written_at', 'attempted_at'],
    mails: ['updated_at'],
    pairs: ['first_seen_at', 'lead_deleted_at'],
    held: ['since'],
  };
  for (const [table, names] of Object.entries(columns)) {
    const sets = names.map((name) => `${name} = ${name} - interval '${days} days'`);
    await workspace.database.pool.query(`update leadsync.${table} set ${sets.join(', ')}`);
  }
}

async function counts(workspace: Workspace): Promise<Record<string, number>> {
  const { rows } = await workspace.database.pool.query<Record<string, number>>(
    `select (select count(*)::int from ${history} h) as history,
       (select count(*)::int from leadsync.actions) as actions,
       (select count(*)::int from leadsync.runs where mode = 'sync') as syncs,
       (select count(*)::int from leadsync.actions where intent is not null) as intents,
       (select count(*)::int from leadsync.mails where kind <> 'digest') as reminders,
       (select count(*)::int from leadsync.pairs) as pairs, (select count(*)::int from leadsync.held where kind = 'conflict') as held`,
  );
  return rows[0] ?? {};
}

interface PlanJson {
  readonly actions: readonly (object & { readonly id: string })[];
  readonly guard: { readonly ok: boolean };
}

/** A plan without what is new in each: its own id and those of its lines. */
async function plan(workspace: Workspace): Promise<object> {
  const result = await workspace.cli('plan', '--json');
  const { actions, guard } = result.json<PlanJson>();
  return { code: result.code, guard, actions: actions.map(({ id: _, ...action }) => action) };
}

async function pruneNow(workspace: Workspace): Promise<void> {
  await using app = await workspace.openApp();
  await runHousekeeping(app, new AbortController().signal);
}

describe('the retention', () => {
  test('a plan is the same after everything that may be pruned is gone', async () => {
    await using workspace = await Workspace.open({
      sandbox: { leads: 40 },
      connection: {
        sync: { onRowDeleted: 'delete-lead', onLeadDeleted: 'mark' },
        target: { statusColumn: 'Status' },
        reminders: { to: ['anna@example.com'] },
      },
    });
    const { sandbox, sheet } = workspace;
    await workspace.sync();
    const ids = sandbox.leads.list().map(({ id }) => id);
    const row = (nth: number) => (cells: Readonly<Record<string, string>>) => cells['Lead ID'] === ids[nth];
    // A bit of each kind of memory: conflicts (one decided), a refusal, creates (one in doubt), deletions half proven and done.
    for (const nth of [0, 1]) {
      sheet.edit(row(nth), { City: 'Bonn' });
      sandbox.leads.edit(ids[nth] ?? '', { city: 'Köln' });
    }
    sheet.edit(row(2), { 'Next follow-up': 'next Tuesday' });
    sheet.edit(row(3), { Stage: 'won' });
    sheet.add({ Company: 'Made', City: 'Kiel' });
    sandbox.leads.remove(ids[4] ?? '');
    await workspace.sync();
    const { rows: held } = await workspace.database.pool.query<{ id: number }>(
      `select id from leadsync.held where kind = 'conflict' and lead_id = $1`,
      [ids[0]],
    );
    expect((await workspace.cli('resolve', String(held[0]?.id), '--use', 'target')).code).toBe(0);
    sandbox.leads.edit(ids[5] ?? '', { city: 'Hof' });
    sheet.remove(row(6));
    sandbox.leads.remove(ids[7] ?? '');
    await workspace.run({ mode: 'plan' });
    await workspace.sync();
    // What the next plan is to decide on.
    sheet.edit(row(8), { Region: 'South' });
    sandbox.leads.edit(ids[9] ?? '', { city: 'Ulm' });
    sandbox.leads.add({ companyName: 'New', city: 'Jena', stage: 'new', nextFollowUpAt: null });
    sheet.add({ Company: 'Next', City: 'Jena' });

    await age(workspace, 400);
    const before = await plan(workspace);
    const full = await counts(workspace);
    await pruneNow(workspace);
    const pruned = await counts(workspace);
    expect(await plan(workspace)).toEqual(before);
    expect(before).toMatchObject({ code: expect.any(Number), guard: { ok: true } });
    expect(JSON.stringify(before)).toMatch(/delete-lead/);
    // The newest sync stays with all that it did.
    expect(pruned).toMatchObject({ syncs: 1, pairs: full['pairs'], held: full['held'], intents: 0 });
    expect(pruned['history']).toBeLessThan(full['history'] ?? 0);
    expect(pruned['actions']).toBeLessThan(full['actions'] ?? 0);

    const report = await workspace.sync();
    expect(report).toMatchObject({ created: { leads: 1, rows: 1 }, deleted: { leads: 1, rows: 0 } });
    const after = await workspace.sync();
    expect(after).toMatchObject({ created: { leads: 0, rows: 0 }, updated: { leads: 0 } });
  });

  test('a create in doubt outlives the retention and is settled, not made again', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
    const { sandbox, sheet } = workspace;
    await workspace.sync();
    sheet.add({ Company: 'Once', City: 'Kiel' });
    sandbox.set({ faults: parseFaults('lost-reply:once=1,on=POST;503:after=2,on=list') });
    expect((await workspace.run({ maxAttempts: 1 })).status).toBe('failed');
    sandbox.set({ faults: [] });
    await age(workspace, 400);
    await pruneNow(workspace);
    expect(await counts(workspace)).toMatchObject({ intents: 1 });
    await workspace.sync();
    expect(sandbox.leads.list().filter(({ companyName }) => companyName === 'Once')).toHaveLength(1);
    expect(sheet.rows().filter((row) => row['Company'] === 'Once')).toMatchObject([
      { 'Lead ID': expect.stringMatching(/./) },
    ]);
  });

  test('leadsync sync prunes at its end, by the age that is set; why says how far back the history goes', async () => {
    await using workspace = await Workspace.open({
      sandbox: { leads: 2 },
      connection: { sync: { retention: '7d' } },
    });
    const { sandbox } = workspace;
    const [lead] = sandbox.leads.list();
    const id = lead?.id ?? '';
    await workspace.sync();
    sandbox.leads.edit(id, { city: 'Hof' });
    await workspace.sync();
    await age(workspace, 8);
    sandbox.leads.edit(id, { city: 'Ulm' });
    expect((await workspace.cli('sync')).code).toBe(0);
    expect(await counts(workspace)).toMatchObject({ history: 1, syncs: 1, pairs: 2 });
    const told = await workspace.cli('why', id, 'city');
    expect(told.code).toBe(0);
    expect(told.stdout).toContain('both sides last agreed on "Ulm"');
    expect(told.stdout).not.toContain('a row was created from it');
    expect(told.stdout).toContain('it is kept for 7 days (retention)');
  });

  test('the worker prunes, and keeps doing so every day', async () => {
    const yearly = { schedule: `0 0 ${new Date(Date.now() - 2 * 24 * 3_600_000).getUTCDate()} 1 *` };
    await using workspace = await Workspace.open({ sandbox: { leads: 2 }, connection: { sync: yearly } });
    await workspace.sync();
    await age(workspace, 400);
    await workspace.sync();
    expect(await counts(workspace)).toMatchObject({ syncs: 2 });
    const worker = workspace.start(['worker']);
    await until('the old run is gone', async () => {
      if (worker.child.exitCode !== null) throw new Error(worker.stderr);
      return (await counts(workspace))['syncs'] === 1;
    });
    expect((await worker.kill('SIGTERM')).code).toBe(0);
    expect(worker.stderr).toContain('old history was deleted');
    await using app = await workspace.openApp();
    const schedules = await (await app.queues()).queue('housekeeping').schedules();
    const next = schedules.get('prune-history')?.nextRunAt;
    expect(next).toBeGreaterThan(Date.now());
    expect(next).toBeLessThanOrEqual(Date.now() + 24 * 3_600_000);
  });
});

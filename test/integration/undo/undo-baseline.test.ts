import { expect, test } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { type ConnectionSettings, Workspace } from '../../support/workspace.ts';

type World = Workspace & { readonly leadId: string };

/** Two leads in step; the first one is what the tests are about. */
async function inStep(sync: ConnectionSettings['sync'] = {}, target = {}): Promise<World> {
  const workspace = await Workspace.open({ sandbox: { leads: 2 }, connection: { sync, target } });
  await workspace.sync();
  const [lead] = workspace.sandbox.leads.list();
  return Object.assign(workspace, { leadId: lead?.id ?? '' });
}

const lead = ({ sandbox, leadId }: World) => sandbox.leads.list().find(({ id }) => id === leadId);
const row = ({ sheet, leadId }: World) => sheet.rows().find((one) => one['Lead ID'] === leadId);
const cities = (world: World) => [lead(world)?.['city'], row(world)?.['City']];
const type = (world: World, city: string) =>
  world.sheet.edit((one) => one['Lead ID'] === world.leadId, { City: city });
const edit = (world: World, city: string) => world.sandbox.leads.edit(world.leadId, { city });

async function undo(workspace: Workspace, runId: string): Promise<SyncReport> {
  const { stdout, stderr } = await workspace.cli('undo', runId, '--yes', '--json');
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout) as SyncReport;
}

test.each([
  ['leads-win', (world: World) => type(world, 'Later')],
  ['target-wins', (world: World) => edit(world, 'Later')],
] as const)("promise 1 under %s: an edit after the run is in nobody's way", async (onConflict, editLater) => {
  await using world = await inStep({ onConflict });
  if (onConflict === 'leads-win') type(world, 'Once');
  else edit(world, 'Once');
  const { runId } = await world.sync();
  editLater(world);

  const report = await undo(world, runId);

  expect(report.problems).toMatchObject([{ code: 'undo.edited-since', leadId: world.leadId }]);
  expect(cities(world)).toContain('Once');
  await world.sync();
  expect(cities(world)).toEqual(['Later', 'Later']);
});

test.each(['leads-win', 'target-wins'] as const)(
  'a conflict that %s decided is open again',
  async (onConflict) => {
    await using world = await inStep({ onConflict });
    edit(world, 'Lead');
    type(world, 'Row');
    const { runId } = await world.sync();
    expect(new Set(cities(world)).size).toBe(1);

    await undo(world, runId);
    expect(cities(world)).toEqual(['Lead', 'Row']);

    world.configure({ sync: { onConflict: 'hold' } });
    expect(await world.sync()).toMatchObject({ held: 1, updated: { leads: 0, rows: 0 } });
    expect(cities(world)).toEqual(['Lead', 'Row']);
  },
);

test('a conflict over something that was empty on both sides is open again when a person had decided it', async () => {
  await using world = await inStep();
  edit(world, '');
  type(world, '');
  await world.sync();
  // Agreed on empty is not the same as never in step.
  edit(world, 'Lead');
  type(world, 'Row');
  const { held } = await world.sync();
  expect(held).toBe(1);
  const { stdout } = await world.cli('conflicts', '--json');
  const [conflict] = (JSON.parse(stdout) as { conflicts: { id: string }[] }).conflicts;
  await world.cli('resolve', conflict?.id ?? '', '--use', 'lead');
  const { runId } = await world.sync();
  expect(cities(world)).toEqual(['Lead', 'Lead']);

  await undo(world, runId);

  expect(await world.sync()).toMatchObject({ held: 1, problems: [{ code: 'conflict.both-edited' }] });
  expect(cities(world)).toEqual(['Lead', 'Row']);
});

test('what an empty side got is taken back, and the two were never in step again', async () => {
  await using world = await inStep();
  type(world, '');
  // As of a column that came later: nothing is agreed on in it.
  await world.database.pool.query(`update pairs set base = base - 'city'`);
  const { runId } = await world.sync();
  expect(new Set(cities(world)).size).toBe(1);

  await undo(world, runId);

  expect(row(world)).toMatchObject({ City: '' });
  const { rows } = await world.database.pool.query<{ base: object }>(
    'select base from pairs where lead_id = $1',
    [world.leadId],
  );
  expect(rows[0]?.base).toMatchObject({ stage: expect.any(String) as string });
  expect(rows[0]?.base).not.toHaveProperty('city');
});

test('a field that a later run wrote is left alone and the run is named', async () => {
  await using world = await inStep();
  type(world, 'First');
  const first = await world.sync();
  type(world, 'Second');
  const second = await world.sync();
  type(world, 'First');
  const third = await world.sync();

  const report = await undo(world, first.runId);

  expect(report.problems).toMatchObject([{ code: 'undo.written-since', leadId: world.leadId }]);
  expect(report.problems[0]?.message).toContain(`run ${third.runId} `);
  expect(cities(world)).toEqual(['First', 'First']);
  expect(second.updated.leads).toBe(1);
});

test('a deletion that had no column to be marked in is no write: not counted, not put back, left as it is', async () => {
  await using world = await inStep();
  const file = world.sheet.text();
  world.sandbox.leads.remove(world.leadId);
  await world.sync();

  const marked = await world.sync();

  expect(world.sheet.text()).toBe(file);
  expect(marked).toMatchObject({ updated: { rows: 0 }, receipt: { records: 2, equal: 1, left: 1 } });
  const { stdout } = await world.cli('undo', marked.runId, '--json');
  expect((JSON.parse(stdout) as { actions: unknown[] }).actions).toEqual([]);
  const status = await world.cli('status');
  expect(status.stdout).toMatch(/rows kept:\n +\S/);
});

test('status names rows that are kept, not those that were taken away', async () => {
  await using world = await inStep({ onLeadDeleted: 'remove' });
  world.sandbox.leads.remove(world.leadId);
  await world.sync();
  expect(await world.sync()).toMatchObject({ deleted: { rows: 1 } });
  expect((await world.cli('status')).stdout).not.toContain('rows kept');
});

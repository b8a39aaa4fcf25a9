import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Sheet } from '../../support/sheet.ts';
import { fields, nothing, pointTo, inStep, leadsOf, idOf, cityOf, codes, reasonsOf } from './places-scene.ts';

test('switched to another file and back: what changed in the service meanwhile arrives, nothing is reverted', async () => {
  await using workspace = await inStep();
  const [a, b, c] = [0, 1, 2].map((at) => idOf(workspace, at));
  if (a === undefined || b === undefined || c === undefined) throw new Error('too few leads');
  pointTo(workspace, './other.csv');
  const first = await workspace.sync();
  expect(first).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 12 } });
  expect(codes(first)).toEqual(['place.first-sync']);
  expect(first.problems[0]?.message).toMatch(/first sync of .*other\.csv\. .*leads\.csv/);
  expect(await reasonsOf(workspace, first.runId)).not.toContain('row-deleted');

  workspace.sandbox.leads.edit(a, { city: 'Ulm' });
  const other = new Sheet(join(workspace.folder, 'other.csv'));
  other.edit((row) => row['Lead ID'] === b, { City: 'Bonn' });
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1, rows: 1 },
    problems: [],
  });
  // Typed into the file that nobody looks at now.
  workspace.sheet.edit((row) => row['Lead ID'] === c, { City: 'Jena' });

  pointTo(workspace, './leads.csv');
  const back = await workspace.sync();
  expect(back).toMatchObject({ status: 'succeeded', updated: { leads: 1, rows: 2 } });
  expect(codes(back)).toEqual(['place.switched']);
  expect([a, b, c].map((id) => cityOf(workspace.sheet, id))).toEqual(['Ulm', 'Bonn', 'Jena']);
  expect([a, b, c].map((id) => workspace.sandbox.leads.get(id)?.['city'])).toEqual(['Ulm', 'Bonn', 'Jena']);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing, problems: [] });

  pointTo(workspace, './other.csv');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  expect(cityOf(other, c)).toBe('Jena');
});

test('a plan under a switched target touches nothing of the current place', async () => {
  await using workspace = await inStep();
  const state = async (): Promise<unknown> => {
    const { rows } = await workspace.database.pool.query(
      `select connection, lead_id, base, row_absences, lead_absences from pairs order by 1, 2`,
    );
    const { rows: places } = await workspace.database.pool.query(
      `select identity from places where is_current`,
    );
    return [rows, places];
  };
  const before = await state();
  pointTo(workspace, './other.csv');
  const plan = await workspace.run({ mode: 'plan' });
  expect(plan).toMatchObject({ status: 'succeeded', connection: 'main', refusals: [] });
  expect(plan.problems.map(({ code }) => code)).toEqual(['place.first-sync']);
  expect(await state()).toEqual(before);
  expect(existsSync(join(workspace.folder, 'other.csv'))).toBe(false);
  const said = (await workspace.cli('plan')).stdout;
  expect(said).toContain('first sync of');
  expect(said).toContain('create-row');

  pointTo(workspace, './leads.csv');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: nothing, updated: nothing });
});

test('another file with rows of its own stops the run; allowed, it is a first sight, and the way back is open', async () => {
  await using workspace = await inStep();
  const leads = leadsOf(workspace);
  const path = join(workspace.folder, 'other.csv');
  cpSync(workspace.sheet.path, path);
  const other = new Sheet(path);
  other.edit((row) => row['Lead ID'] === leads[0]?.id, { City: 'Old' });
  other.add({ Company: 'Somebody else', City: 'Ulm' });
  pointTo(workspace, './other.csv');
  for (const mode of ['plan', 'sync'] as const) {
    const run = await workspace.run({ mode });
    expect(run).toMatchObject({ status: 'stopped', refusals: [{ code: 'other-target' }] });
    expect(run.refusals[0]?.message).toMatch(
      /other\.csv is not .*leads\.csv, which this connection synced so far: 1 of its rows would become leads, 1 differ/,
    );
  }
  expect(leadsOf(workspace)).toEqual(leads);
  pointTo(workspace, './leads.csv');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing, problems: [] });

  pointTo(workspace, './other.csv');
  const allowed = await workspace.run({ allow: ['other-target'] });
  expect(allowed.report).toMatchObject({ created: { leads: 1, rows: 0 } });
  pointTo(workspace, './leads.csv');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 1 } });
});

test('another file that shows exactly what the leads say is taken as it is', async () => {
  await using workspace = await inStep();
  cpSync(workspace.sheet.path, join(workspace.folder, 'other.csv'));
  pointTo(workspace, './other.csv');
  const report = await workspace.sync();
  expect(report).toMatchObject({ status: 'succeeded', created: nothing, updated: nothing });
  expect(codes(report)).toEqual(['place.first-sync']);
});

test('what is held, and what an undo would put back, belongs to the place', async () => {
  await using workspace = await inStep();
  const id = idOf(workspace, 0);
  workspace.sheet.edit((row) => row['Lead ID'] === id, { City: 'Ulm' });
  workspace.sandbox.leads.edit(id, { city: 'Bonn' });
  workspace.configure({ fields, target: { path: './leads.csv' }, sync: { onConflict: 'hold' } });
  const held = await workspace.sync();
  expect(held).toMatchObject({ held: 1 });
  const conflicts = async (): Promise<number> =>
    (await workspace.cli('conflicts', '--json')).json<{ conflicts: unknown[] }>().conflicts.length;
  expect(await conflicts()).toBe(1);
  workspace.configure({ fields, target: { path: './other.csv' }, sync: { onConflict: 'hold' } });
  const other = await workspace.sync();
  expect(other).toMatchObject({ status: 'succeeded', created: { rows: 12 }, held: 0 });
  expect(await conflicts()).toBe(0);
  const undo = await workspace.cli('undo', held.runId);
  expect(undo.code).not.toBe(0);
  workspace.configure({ fields, target: { path: './leads.csv' }, sync: { onConflict: 'hold' } });
  expect(await workspace.sync()).toMatchObject({ held: 1 });
  const refused = await workspace.cli('undo', other.runId);
  expect(refused.stdout + refused.stderr).toMatch(
    /wrote to .*other\.csv, but the target is .*leads\.csv now/,
  );
  expect(refused.code).not.toBe(0);
});

test('status and check name the place; check says when the target is another one, or is gone', async () => {
  await using workspace = await inStep(3);
  const checked = async (): Promise<unknown> => {
    const { checks } = (await workspace.cli('check', '--json')).json<{ checks: { name: string }[] }>();
    return checks.find(({ name }) => name === 'main: place');
  };
  expect(await checked()).toBeUndefined();
  pointTo(workspace, './other.csv');
  expect(await checked()).toMatchObject({
    ok: true,
    message: expect.stringMatching(
      /other\.csv is not .*leads\.csv, which this connection synced so far: the next sync is its first/,
    ),
  });
  expect((await workspace.cli('status')).stdout).toMatch(/keeps {4}.*leads\.csv\n/);
  await workspace.sync();
  const said = (await workspace.cli('status')).stdout;
  expect(said).toMatch(/keeps {4}.*other\.csv\n {2}before {3}.*leads\.csv, left 20/);
  pointTo(workspace, './leads.csv');
  expect(await checked()).toMatchObject({
    message: expect.stringContaining('goes on from where it was left'),
  });
  rmSync(join(workspace.folder, 'other.csv'));
  pointTo(workspace, './other.csv');
  expect(await checked()).toMatchObject({ ok: false, code: 'target.gone' });
  expect(existsSync(join(workspace.folder, 'other.csv'))).toBe(false);
});

import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Sheet } from '../../support/sheet.ts';
import { Workspace } from '../../support/workspace.ts';
import { nothing, pointTo, inStep, leadsOf, idOf, cityOf, codes } from './places-scene.ts';

test('a share that is not mounted stops the run and nothing is made; mounted again, all goes on', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 12 } });
  const share = join(workspace.folder, 'share');
  const away = join(workspace.folder, 'away');
  mkdirSync(share);
  pointTo(workspace, './share/leads.csv');
  await workspace.sync();
  const sheet = new Sheet(join(share, 'leads.csv'));
  const [a, b] = [idOf(workspace, 0), idOf(workspace, 1)];
  sheet.edit((row) => row['Lead ID'] === a, { City: 'Ulm' });
  workspace.sandbox.leads.edit(b, { city: 'Bonn' });
  const leads = leadsOf(workspace);
  for (const isFolderThere of [true, false]) {
    renameSync(share, away);
    if (isFolderThere) mkdirSync(share);
    for (const mode of ['sync', 'plan', 'sync'] as const) {
      const run = await workspace.run({ mode });
      expect(run).toMatchObject({ status: 'stopped', refusals: [{ code: 'target-gone' }] });
      expect(run.refusals[0]?.message).toMatch(/share\/leads\.csv is missing, but had rows before/);
    }
    expect(existsSync(join(share, 'leads.csv'))).toBe(false);
    rmSync(share, { recursive: true, force: true });
    renameSync(away, share);
  }
  const said = (await workspace.cli('status')).stdout;
  expect(said).toContain('--allow target-gone');
  expect(leadsOf(workspace)).toEqual(leads);
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1, rows: 1 },
    problems: [],
  });
  expect([a, b].map((id) => cityOf(sheet, id))).toEqual(['Ulm', 'Bonn']);
});

test('a share that goes while the leads are read: nothing is made in its place', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 12 } });
  mkdirSync(join(workspace.folder, 'share'));
  pointTo(workspace, './share/leads.csv');
  await workspace.sync();
  const path = join(workspace.folder, 'share', 'leads.csv');
  await using app = await workspace.openApp();
  const context = app.contexts.get('main');
  if (context === undefined) throw new Error('no connection');
  const { advanceRun } = await import('../../../src/sync/run.ts');
  const leads = {
    ...context.leads,
    list: async (...asked: Parameters<typeof context.leads.list>) => {
      rmSync(path, { force: true });
      return context.leads.list(...asked);
    },
    requests: 0,
    pacedMs: 0,
    answerMs: 0,
  };
  const request = { mode: 'sync', allow: [], maxAttempts: 1 } as const;
  const result = await advanceRun({ ...context, leads }, request, new AbortController().signal);
  expect(result).toMatchObject({ run: { status: 'stopped', refusals: [{ code: 'target-gone' }] } });
  expect(existsSync(path)).toBe(false);
});

test('a file that was deleted is made anew when that is allowed, and goes on as the same place', async () => {
  await using workspace = await inStep();
  rmSync(workspace.sheet.path);
  expect(await workspace.run()).toMatchObject({ status: 'stopped', refusals: [{ code: 'target-gone' }] });
  const again = await workspace.sync({ allow: ['target-gone', 'max-changes'] });
  expect(again).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 12 }, problems: [] });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: nothing, problems: [] });
});

test('a table whose rows are all gone is not filled again unless that is allowed', async () => {
  await using workspace = await inStep();
  workspace.sheet.remove(() => true);
  const run = await workspace.run();
  expect(run).toMatchObject({ status: 'stopped' });
  expect(run.refusals.map(({ code }) => code)).toContain('target-gone');
  expect(workspace.sheet.rows()).toEqual([]);
});

test('a file that was renamed, the setting with it, goes on: edits that were pending survive', async () => {
  await using workspace = await inStep();
  const [a, b] = [idOf(workspace, 0), idOf(workspace, 1)];
  workspace.sheet.edit((row) => row['Lead ID'] === a, { City: 'Ulm' });
  workspace.sandbox.leads.edit(b, { city: 'Bonn' });
  mkdirSync(join(workspace.folder, 'new'));
  renameSync(workspace.sheet.path, join(workspace.folder, 'new', 'companies.csv'));
  pointTo(workspace, './new/companies.csv');
  const plan = await workspace.run({ mode: 'plan' });
  expect(plan.problems.map(({ code }) => code)).toEqual(['place.moved']);
  const report = await workspace.sync();
  expect(report).toMatchObject({ status: 'succeeded', created: nothing, updated: { leads: 1, rows: 1 } });
  expect(codes(report)).toEqual(['place.moved']);
  expect(report.problems[0]?.message).toMatch(/moved from .*leads\.csv to .*new\/companies\.csv/);
  const moved = new Sheet(join(workspace.folder, 'new', 'companies.csv'));
  expect([a, b].map((id) => cityOf(moved, id))).toEqual(['Ulm', 'Bonn']);
  expect(workspace.sandbox.leads.get(a)?.['city']).toBe('Ulm');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing, problems: [] });
});

test('a file that took the place of one that is gone, but is another one, stops the run', async () => {
  await using workspace = await inStep();
  const leads = leadsOf(workspace);
  rmSync(workspace.sheet.path);
  const other = new Sheet(join(workspace.folder, 'other.csv'));
  other.write([
    ['Lead ID', 'Company', 'City', 'Stage'],
    ['', 'Another Ltd', 'Leeds', 'new'],
  ]);
  pointTo(workspace, './other.csv');
  const run = await workspace.run();
  expect(run).toMatchObject({ status: 'stopped' });
  expect(run.refusals.map(({ code }) => code)).toContain('other-target');
  expect(leadsOf(workspace)).toEqual(leads);
  const allowed = await workspace.sync({ allow: ['other-target'] });
  expect(allowed).toMatchObject({ status: 'succeeded', created: { leads: 1, rows: 12 } });
});

test('dated files behind a link: the link moves on from day to day, and so do pending edits', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 12 } });
  const link = join(workspace.folder, 'leads.csv');
  const day = (n: number): string => join(workspace.folder, `leads-2026-11-2${n}.csv`);
  symlinkSync('leads-2026-11-20.csv', link);
  pointTo(workspace, './leads.csv');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 12 }, problems: [] });
  for (const n of [1, 2]) {
    cpSync(day(n - 1), day(n));
    rmSync(link);
    symlinkSync(`leads-2026-11-2${n}.csv`, link);
    const [a, b] = [idOf(workspace, n), idOf(workspace, n + 5)];
    new Sheet(day(n)).edit((row) => row['Lead ID'] === a, { City: `Ulm ${n}` });
    workspace.sandbox.leads.edit(b, { city: `Bonn ${n}` });
    const yesterday = readFileSync(day(n - 1), 'utf8');
    const report = await workspace.sync();
    expect(report).toMatchObject({ status: 'succeeded', created: nothing, updated: { leads: 1, rows: 1 } });
    expect(codes(report)).toEqual(['place.moved']);
    expect([a, b].map((id) => cityOf(new Sheet(day(n)), id))).toEqual([`Ulm ${n}`, `Bonn ${n}`]);
    expect(readFileSync(day(n - 1), 'utf8')).toBe(yesterday);
  }
});

test('the same file by another path is the same place', async () => {
  await using workspace = await inStep();
  mkdirSync(join(workspace.folder, 'sub'));
  symlinkSync('../leads.csv', join(workspace.folder, 'sub', 'link.csv'));
  for (const path of ['./sub/../leads.csv', './sub/link.csv']) {
    pointTo(workspace, path);
    workspace.sandbox.leads.edit(idOf(workspace, 0), { city: path });
    expect(await workspace.sync()).toMatchObject({
      status: 'succeeded',
      updated: { leads: 0, rows: 1 },
      problems: [],
    });
  }
});

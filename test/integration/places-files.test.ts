import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Sheet } from '../support/sheet.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { Workspace } from '../support/workspace.ts';

const fields = { companyName: 'Company', city: 'City', stage: 'Stage' };

const nothing = { leads: 0, rows: 0 };

const pointTo = (workspace: Workspace, path: string, target: object = {}): void =>
  workspace.configure({ fields, target: { path, ...target } });

async function inStep(leads = 12, path = './leads.csv'): Promise<Workspace> {
  const workspace = await Workspace.open({ sandbox: { leads } });
  pointTo(workspace, path);
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: { rows: leads },
    problems: [],
  });
  return workspace;
}

const leadsOf = ({ sandbox }: Workspace) => structuredClone(sandbox.leads.list());
const idOf = ({ sandbox }: Workspace, at: number): string => sandbox.leads.list()[at]?.id ?? '';
const cityOf = (sheet: Sheet, id: string): string | undefined =>
  sheet.rows().find((row) => row['Lead ID'] === id)?.['City'];
const codes = ({ problems }: SyncReport): readonly string[] => problems.map(({ code }) => code);

async function reasonsOf({ database }: Workspace, runId: string): Promise<readonly string[]> {
  const { rows } = await database.pool.query<{ reason: string }>(
    'select distinct reason from actions where run_id = $1 order by 1',
    [runId],
  );
  return rows.map(({ reason }) => reason);
}

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
      /other\.csv is another place than .*leads\.csv.*1 of its rows would become leads, 1 differ/,
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
      expect(run.refusals[0]?.message).toMatch(
        /share\/leads\.csv is not there any more, though its rows were in step/,
      );
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
  const { advanceRun } = await import('../../src/sync/run.ts');
  const leads = {
    ...context.leads,
    list: async (...asked: Parameters<typeof context.leads.list>) => {
      rmSync(path, { force: true });
      return context.leads.list(...asked);
    },
    requests: 0,
    pacedMs: 0,
  };
  const request = { mode: 'sync', allow: [], patience: 1 } as const;
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
      /other\.csv is another place than .*leads\.csv: the next sync is its first/,
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

test('xlsx: another sheet of the workbook, and a sheet that was renamed, the setting with it', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 8 } });
  pointTo(workspace, './leads.xlsx');
  await workspace.sync();
  const path = join(workspace.folder, 'leads.xlsx');
  const { strFromU8, strToU8, unzipSync, zipSync } = await import('fflate');
  const change = (changed: (parts: Record<string, Uint8Array>) => void): void => {
    const parts = unzipSync(readFileSync(path));
    changed(parts);
    writeFileSync(path, zipSync(parts));
  };
  const text = (parts: Record<string, Uint8Array>, name: string, edit: (was: string) => string): void => {
    parts[name] = strToU8(edit(strFromU8(parts[name] ?? new Uint8Array())));
  };
  const sheetName = /<sheet [^>]*name="([^"]*)"/.exec(
    strFromU8(unzipSync(readFileSync(path))['xl/workbook.xml'] ?? new Uint8Array()),
  )?.[1];
  if (sheetName === undefined) throw new Error('no sheet');
  // The first sheet, named: the same place.
  pointTo(workspace, './leads.xlsx', { sheet: sheetName });
  workspace.sandbox.leads.edit(idOf(workspace, 0), { city: 'Ulm' });
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: nothing,
    updated: { leads: 0, rows: 1 },
  });

  change((parts) =>
    text(parts, 'xl/workbook.xml', (was) => was.replace(`name="${sheetName}"`, 'name="Customers"')),
  );
  const run = await workspace.run();
  expect(run).toMatchObject({ status: 'failed', report: { problems: [{ code: 'target.unreadable' }] } });
  pointTo(workspace, './leads.xlsx', { sheet: 'Customers' });
  workspace.sandbox.leads.edit(idOf(workspace, 1), { city: 'Bonn' });
  const moved = await workspace.sync();
  expect(moved).toMatchObject({ status: 'succeeded', created: nothing, updated: { leads: 0, rows: 1 } });
  expect(codes(moved)).toEqual(['place.moved']);

  // A copy of the sheet in the same workbook is another place.
  change((parts) => {
    parts['xl/worksheets/copy.xml'] = parts['xl/worksheets/sheet1.xml'] ?? new Uint8Array();
    text(parts, 'xl/workbook.xml', (was) =>
      was.replace('</sheets>', '<sheet name="Copy" sheetId="77" r:id="rId77"/></sheets>'),
    );
    text(parts, 'xl/_rels/workbook.xml.rels', (was) =>
      was.replace(
        '</Relationships>',
        '<Relationship Id="rId77" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/copy.xml"/></Relationships>',
      ),
    );
    text(parts, '[Content_Types].xml', (was) =>
      was.replace(
        '</Types>',
        '<Override PartName="/xl/worksheets/copy.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
      ),
    );
  });
  const id = idOf(workspace, 2);
  workspace.sandbox.leads.edit(id, { city: 'Jena' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  pointTo(workspace, './leads.xlsx', { sheet: 'Copy' });
  expect(await workspace.run()).toMatchObject({ status: 'stopped', refusals: [{ code: 'other-target' }] });
  pointTo(workspace, './leads.xlsx', { sheet: 'Customers' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing, problems: [] });
  expect(workspace.sandbox.leads.get(id)?.['city']).toBe('Jena');
});

test('xlsx: another workbook and back', async () => {
  await using workspace = await inStep(8, './leads.xlsx');
  const id = idOf(workspace, 0);
  pointTo(workspace, './other.xlsx');
  expect(codes(await workspace.sync())).toEqual(['place.first-sync']);
  workspace.sandbox.leads.edit(id, { city: 'Ulm' });
  await workspace.sync();
  pointTo(workspace, './leads.xlsx');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  expect(workspace.sandbox.leads.get(id)?.['city']).toBe('Ulm');
});

import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';
import { codes, fields, idOf, inStep, leadsOf, nothing, pointTo } from '../identity/places-scene.ts';

interface CheckLine {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  readonly code?: string;
  readonly warning?: boolean;
}

const check = async (workspace: Workspace): Promise<readonly CheckLine[]> =>
  (await workspace.cli('check', '--json')).json<{ checks: readonly CheckLine[] }>().checks;

test('conflict copies beside the file are named with their dates, by check and by each sync, in one note', async () => {
  await using workspace = await inStep(3);
  const add = (name: string, day: string): void => {
    const path = join(workspace.folder, name);
    writeFileSync(path, readFileSync(workspace.sheet.path));
    utimesSync(path, new Date(day), new Date(day));
  };
  add('other (conflicted copy 2026-01-01 120000).csv', '2026-01-01');
  expect(codes(await workspace.sync())).toEqual([]);
  add('leads.sync-conflict-20260101-120000-ABCDEFG.csv', '2026-01-01T12:00:00Z');
  const one = expect.stringMatching(
    /^leads\.sync-conflict-20260101-120000-ABCDEFG\.csv \(since 2026-01-01T12:00:00\.000Z\) beside .*leads\.csv looks like .* reach nobody/,
  );
  const problems = [{ code: 'place.conflict-copies', message: one }];
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing, problems });
  expect((await workspace.run({ mode: 'plan' })).problems).toEqual(problems);
  expect(await check(workspace)).toContainEqual({
    name: 'main: conflict copies',
    ok: true,
    warning: true,
    ...problems[0],
  });
  for (const day of [2, 3, 4, 5])
    add(`leads (Anna's conflicted copy 2026-01-0${day}).csv`, `2026-01-0${day}`);
  const [many, ...others] = (await workspace.sync()).problems;
  expect(others).toEqual([]);
  expect(many?.message).toMatch(/copy 2026-01-05\).* copy 2026-01-04\).* copy 2026-01-03\).*, 2 more beside/);
});

test('a file with another hard link is not parted from it: check and sync say so', async () => {
  await using workspace = await inStep(3);
  const other = join(workspace.folder, 'reports.csv');
  linkSync(workspace.sheet.path, other);
  const before = readFileSync(other, 'utf8');
  workspace.sandbox.leads.edit(idOf(workspace, 0), { city: 'Ulm' });
  const failed = await workspace.sync();
  expect(failed).toMatchObject({
    status: 'failed',
    updated: nothing,
    problems: [{ code: 'target.hard-linked' }],
  });
  expect(failed.problems[0]?.message).toMatch(/leads\.csv has another name/);
  expect([statSync(other).ino, readFileSync(other, 'utf8')]).toEqual([
    statSync(workspace.sheet.path).ino,
    before,
  ]);
  expect((await check(workspace)).filter(({ ok }) => !ok)).toMatchObject([
    { name: 'main: target', code: 'target.hard-linked' },
  ]);
  renameSync(other, `${other}.old`);
  writeFileSync(`${workspace.sheet.path}.new`, before);
  renameSync(`${workspace.sheet.path}.new`, workspace.sheet.path);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  expect(readFileSync(`${other}.old`, 'utf8')).toBe(before);
});

test('a read-only file fails in check, and no sync replaces it', async () => {
  await using workspace = await inStep(3);
  chmodSync(workspace.sheet.path, 0o444);
  const before = readFileSync(workspace.sheet.path, 'utf8');
  expect((await check(workspace)).filter(({ ok }) => !ok)).toMatchObject([
    { name: 'main: target', code: 'target.not-writable' },
  ]);
  workspace.sandbox.leads.edit(idOf(workspace, 0), { city: 'Ulm' });
  expect(await workspace.sync()).toMatchObject({
    status: 'failed',
    problems: [{ code: 'target.not-writable' }],
  });
  expect(readFileSync(workspace.sheet.path, 'utf8')).toBe(before);
  chmodSync(workspace.sheet.path, 0o644);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
});

test('a file that became a link, and a link that leads elsewhere: the two places have two names', async () => {
  await using workspace = await inStep(3);
  const { path } = workspace.sheet;
  mkdirSync(join(workspace.folder, 'archive'));
  const moved = join(workspace.folder, 'archive', 'leads-1.csv');
  renameSync(path, moved);
  symlinkSync(moved, path);
  expect((await check(workspace)).find(({ name }) => name === 'main: place')?.message).toMatch(
    /leads\.csv \(which is .*leads-1\.csv\) is not .*leads\.csv, which/,
  );
  const report = await workspace.sync();
  expect(report).toMatchObject({
    status: 'succeeded',
    updated: nothing,
    problems: [{ code: 'place.moved' }],
  });
  expect(report.problems[0]?.message).toMatch(
    /^moved from \S*leads\.csv to \S*leads\.csv \(which is \S*archive\/leads-1\.csv\)/,
  );
});

const headings = ['Lead ID', 'Company', 'City', 'Stage'];

test('csv: headings in the middle of the table are no lead, on a first sync and later; they are named once', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 0 } });
  pointTo(workspace, './leads.csv');
  const { sheet, sandbox } = workspace;
  sheet.write([
    headings,
    ['', 'Acme', 'Ulm', 'new'],
    ['', ...headings.slice(1)],
    ['', 'Bolt', 'Bonn', 'won'],
  ]);
  const problem = {
    code: 'row.headings',
    row: 3,
    message: expect.stringMatching(/^row 3 repeats the headings/),
  };
  expect(await workspace.sync()).toMatchObject({
    status: 'partial',
    created: { leads: 2, rows: 0 },
    held: 0,
    problems: [problem],
  });
  const made = ['Acme', 'Bolt'];
  expect(
    leadsOf(workspace)
      .map(({ companyName }) => companyName)
      .toSorted(),
  ).toEqual(made);
  // The whole export below, with its ids, behind an empty line; and once more the headings alone.
  const [, ...rows] = sheet.grid();
  sheet.write([headings, ...rows, ['', '', '', ''], headings, headings]);
  for (let night = 0; night < 2; night++)
    expect(await workspace.sync()).toMatchObject({
      status: 'partial',
      created: nothing,
      updated: nothing,
      held: 0,
      problems: [{ code: 'row.headings', message: expect.stringMatching(/^rows 3, 6, 7 repeat/) }],
    });
  expect(sandbox.leads.list()).toHaveLength(2);
  sheet.write([headings, ...rows.filter(([, name]) => name !== 'Company')]);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: nothing, problems: [] });
});

test('xlsx: headings in the middle of the sheet are no lead', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 0 } });
  const mapped = { ...fields, nextFollowUpAt: { column: 'Next follow-up', type: 'instant' } };
  workspace.configure({ fields: mapped, target: { path: './leads.xlsx' } });
  const path = join(workspace.folder, 'leads.xlsx');
  const line = [...headings, 'Next follow-up'];
  const rows = [line, [null, 'Acme', 'Ulm', 'new', null], line, [null, 'Bolt', 'Bonn', 'won', null]];
  writeFileSync(path, await writeXlsx({ sheets: [{ name: 'Leads', rows }] }));
  expect(await workspace.sync()).toMatchObject({
    created: { leads: 2, rows: 0 },
    held: 0,
    problems: [{ code: 'row.headings', row: 3 }],
  });
  expect((await readXlsx(readFileSync(path))).sheets[0]?.rows[2]).toEqual(line);
  expect(workspace.sandbox.leads.list()).toHaveLength(2);
});

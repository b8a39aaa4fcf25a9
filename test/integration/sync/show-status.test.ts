import type { CheckLine } from '../../../src/cli/check-target.ts';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { history } from '../../../src/store/history.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { Workspace } from '../../support/workspace.ts';

const open = (): Promise<Workspace> =>
  Workspace.open({ sandbox: { leads: 3 }, connection: { target: { statusColumn: 'Sync' } } });

const statuses = (workspace: Workspace): (string | undefined)[] =>
  workspace.sheet.rows().map(({ Sync }) => Sync?.replace(/\d{4}-\d\d-\d\d$/, 'today'));

async function cli(workspace: Workspace, ...args: string[]): Promise<Partial<SyncReport>> {
  const { stdout, stderr } = await workspace.cli(...args, '--json');
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout) as Partial<SyncReport>;
}

test('a text is no value: in no count of the report, in no history, and no night writes it twice', async () => {
  await using workspace = await open();
  await workspace.sync();
  workspace.sheet.edit(() => true, { Sync: '' });
  const { updated, receipt, requests } = await workspace.sync();
  expect(statuses(workspace)).toEqual(['in step', 'in step', 'in step']);
  expect({ updated, receipt }).toMatchObject({ updated: { leads: 0, rows: 0 }, receipt: { equal: 3 } });
  const file = workspace.sheet.text();
  expect((await workspace.sync()).requests.target).toBeLessThan(requests.target);
  expect(workspace.sheet.text()).toBe(file);
  const { rows } = await workspace.database.pool.query(
    `select from ${history} h where after::text like '%in step%'`,
  );
  expect(rows).toEqual([]);
});

test('an undo takes a mark out and says nothing else, and later syncs leave it so', async () => {
  await using workspace = await open();
  await workspace.sync();
  const [lead] = workspace.sandbox.leads.list();
  workspace.sandbox.leads.remove(lead?.id ?? '');
  await workspace.sync();
  const { runId } = await workspace.sync();
  expect(statuses(workspace)).toEqual(['deleted today', 'in step', 'in step']);
  workspace.sheet.edit(({ Sync }) => Sync === 'in step', { Sync: 'mine' });
  await cli(workspace, 'undo', runId, '--yes');
  expect(statuses(workspace)).toEqual(['', 'mine', 'mine']);
  await workspace.sync();
  expect(statuses(workspace)).toEqual(['', 'in step', 'in step']);
});

test('a reviewed plan touches the rows of its lines and no status of others', async () => {
  await using workspace = await open();
  await workspace.sync();
  workspace.sandbox.leads.add({ companyName: 'New' });
  workspace.sheet.edit(({ Company }) => Company !== '', { Sync: 'mine' });
  const path = join(workspace.folder, 'plan.json');
  await workspace.cli('plan', '--out', path);
  expect(await cli(workspace, 'apply', path)).toMatchObject({ created: { rows: 1 } });
  expect(statuses(workspace)).toEqual(['mine', 'mine', 'mine', 'in step']);
});

test('check says when the column is not in the table', async () => {
  await using workspace = await open();
  await workspace.sync();
  const told = async () => (await workspace.cli('check')).stdout;
  expect(await told()).not.toContain('"Sync"');
  workspace.sheet.write(workspace.sheet.grid().map((record) => record.slice(0, -1)));
  expect(await told()).toContain('no single column headed "Sync"');
});

test('check names all that is wrong: a missing column hides neither the status column nor cells', async () => {
  await using workspace = await open();
  await workspace.sync();
  const { sheet } = workspace;
  sheet.edit(({ Company }) => Company !== '', { 'Next follow-up': 'next Tuesday' });
  const kept = (sheet.grid()[0] ?? []).map((heading) => heading !== 'City' && heading !== 'Sync');
  sheet.write(sheet.grid().map((record) => record.filter((_, nth) => kept[nth])));
  const { code, stdout } = await workspace.cli('check', '--json');
  const { checks } = JSON.parse(stdout) as { checks: CheckLine[] };
  expect(code).toBe(1);
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([
    { name: 'main: columns', code: 'target.column-missing', message: expect.stringContaining('"City"') },
    { name: 'main: status column', code: 'target.column-missing' },
  ]);
  expect(checks.find(({ name }) => name === 'main: target')?.message).toMatch(/cells? cannot be read/);
});

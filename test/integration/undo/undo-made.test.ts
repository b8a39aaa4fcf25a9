import { expect, test } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { services } from '../../support/services.ts';
import { type ConnectionSettings, Workspace } from '../../support/workspace.ts';

async function open(sync: ConnectionSettings['sync'] = {}, sandbox = {}): Promise<Workspace> {
  const workspace = await Workspace.open({ sandbox: { leads: 3, ...sandbox }, connection: { sync } });
  await workspace.sync();
  return workspace;
}

async function undo(workspace: Workspace, runId: string, ...more: string[]): Promise<SyncReport> {
  const { stdout, stderr } = await workspace.cli('undo', runId, '--yes', '--json', ...more);
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout) as SyncReport;
}

const fresh = { companyName: 'Weser GmbH', segment: '', city: '', region: '', stage: 'new' };
const made = ({ sandbox }: Workspace, name: string) =>
  sandbox.leads.list().filter(({ companyName }) => companyName === name);
const rowsOf = ({ sheet }: Workspace, name: string) => sheet.rows().filter((row) => row['Company'] === name);

test.each(['restore', 'delete-lead', 'ignore'])(
  'promise 4: the lead of a row that an undo took away is not deleted, and its row is held until the lead changes (onRowDeleted: %s)',
  async (onRowDeleted) => {
    await using workspace = await open({ onRowDeleted });
    workspace.sandbox.leads.add(fresh);
    const { runId } = await workspace.sync();

    expect(await undo(workspace, runId)).toMatchObject({ status: 'succeeded', deleted: { rows: 1 } });

    expect(rowsOf(workspace, 'Weser GmbH')).toEqual([]);
    for (let night = 0; night < 3; night++) {
      expect(await workspace.sync()).toMatchObject({
        status: 'partial',
        held: 1,
        created: { rows: 0 },
        problems: [{ code: 'lead.undone', message: expect.stringContaining('leadsync resolve') }],
        receipt: { records: 4, equal: 3, held: 1 },
      });
      expect(rowsOf(workspace, 'Weser GmbH')).toEqual([]);
    }
    const [lead] = made(workspace, 'Weser GmbH');
    workspace.sandbox.leads.edit(lead?.id ?? '', { stage: 'won' });
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 1 } });
    expect(rowsOf(workspace, 'Weser GmbH')).toMatchObject([{ Stage: 'won' }]);
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', held: 0 });
  },
);

test('a row in which its user has put something is not taken away; the line says so', async () => {
  await using workspace = await open();
  workspace.sandbox.leads.add(fresh);
  const { runId } = await workspace.sync();
  const [headings = [], ...records] = workspace.sheet.grid();
  const noted = records.map((record) => [...record, record.includes('Weser GmbH') ? 'mine' : '']);
  workspace.sheet.write([[...headings, 'Notes'], ...noted]);
  const file = workspace.sheet.text();

  const report = await undo(workspace, runId);

  expect(workspace.sheet.text()).toBe(file);
  expect(report).toMatchObject({
    status: 'partial',
    held: 0,
    putOff: 1,
    problems: [{ code: 'row.has-own-cells' }],
  });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', held: 0 });
});

for (const [name, service] of Object.entries(services)) {
  test(`the row of a made lead is as its user typed it, and no lead is made of it until it changes: ${name}`, async () => {
    await using workspace = await open({ onLeadDeleted: 'remove' }, service);
    workspace.sheet.add({ Company: 'Ems GmbH', Stage: 'new' });
    const [typed] = rowsOf(workspace, 'Ems GmbH');
    const { runId } = await workspace.sync();
    const [first] = made(workspace, 'Ems GmbH');
    expect(rowsOf(workspace, 'Ems GmbH')).toMatchObject([{ 'Lead ID': first?.id }]);

    const report = await undo(workspace, runId);

    expect(report).toMatchObject({ status: 'succeeded', deleted: { leads: 1 }, updated: { rows: 1 } });
    expect(made(workspace, 'Ems GmbH')).toEqual([]);
    expect(rowsOf(workspace, 'Ems GmbH')).toEqual([typed]);
    for (let night = 0; night < 3; night++) {
      expect(await workspace.sync()).toMatchObject({
        status: 'partial',
        held: 1,
        created: { leads: 0 },
        problems: [{ code: 'row.undone', message: expect.stringContaining('leadsync resolve') }],
      });
      expect(made(workspace, 'Ems GmbH')).toEqual([]);
    }
    workspace.sheet.edit((row) => row['Company'] === 'Ems GmbH', { Stage: 'won' });
    expect(await workspace.sync()).toMatchObject({ held: 0, created: { leads: 1 } });
    const [again] = made(workspace, 'Ems GmbH');
    expect(again?.id).not.toBe(first?.id);
    expect(rowsOf(workspace, 'Ems GmbH')).toMatchObject([{ 'Lead ID': again?.id }]);
  });
}

test('a lead that got something where no column shows it is not deleted, and its row keeps the id', async () => {
  await using workspace = await open({}, { extraFields: true });
  workspace.sheet.add({ Company: 'Ems GmbH', Stage: 'new' });
  const { runId } = await workspace.sync();
  const [lead] = made(workspace, 'Ems GmbH');
  workspace.sandbox.leads.edit(lead?.id ?? '', { ownerEmail: 'hot@example.com' });

  const report = await undo(workspace, runId);

  expect(report).toMatchObject({ status: 'partial', deleted: { leads: 0 } });
  expect(report.problems.map(({ code }) => code)).toEqual(['lead.changed', 'lead.still-there']);
  expect(made(workspace, 'Ems GmbH')).toHaveLength(1);
  expect(rowsOf(workspace, 'Ems GmbH')).toMatchObject([{ 'Lead ID': lead?.id }]);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded' });
});

test('an undo whose deletes were forbidden is finished by another one', async () => {
  await using workspace = await open();
  workspace.sheet.add({ Company: 'Ems GmbH', Stage: 'new' });
  const { runId } = await workspace.sync();
  const others = ['leads:read', 'leads:create', 'leads:update'];
  workspace.sandbox.set({ permissions: others });
  expect(await undo(workspace, runId)).toMatchObject({ status: 'partial', held: 1 });
  workspace.sandbox.set({ permissions: [...others, 'leads:delete'] });

  expect(await undo(workspace, runId)).toMatchObject({ status: 'succeeded', held: 0, deleted: { leads: 1 } });

  expect(made(workspace, 'Ems GmbH')).toEqual([]);
  expect(rowsOf(workspace, 'Ems GmbH')).toMatchObject([{ 'Lead ID': '' }]);
});

test('what an undo took away is made again when a person says so, of two rows alike only the one that was chosen', async () => {
  await using workspace = await open();
  for (let count = 0; count < 2; count++) workspace.sheet.add({ Company: 'Ems GmbH', Stage: 'new' });
  workspace.sandbox.leads.add(fresh);
  const { runId } = await workspace.sync();
  expect(await undo(workspace, runId)).toMatchObject({ status: 'succeeded', deleted: { leads: 2, rows: 1 } });
  expect(await workspace.sync()).toMatchObject({ held: 3, created: { leads: 0, rows: 0 } });
  const listed = await workspace.cli('conflicts', '--json');
  const { conflicts } = JSON.parse(listed.stdout) as { conflicts: { id: string; code: string }[] };
  expect(conflicts.map(({ code }) => code).toSorted()).toEqual(['lead.undone', 'row.undone', 'row.undone']);
  const ids = (code: string) => conflicts.filter((one) => one.code === code).map(({ id }) => id);

  const wrong = await workspace.cli('resolve', ids('row.undone')[0] ?? '', '--use', 'lead');
  expect(wrong.code).toBe(2);
  const chosen = await workspace.cli('resolve', ids('row.undone')[0] ?? '', '--use', 'target');
  expect(chosen).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('row 5: a lead is made of the row'),
  });
  expect((await workspace.cli('resolve', ids('lead.undone')[0] ?? '', '--use', 'lead')).code).toBe(0);

  expect(await workspace.sync()).toMatchObject({ held: 1, created: { leads: 1, rows: 1 } });
  for (let night = 0; night < 2; night++) {
    expect(await workspace.sync()).toMatchObject({ held: 1, created: { leads: 0, rows: 0 } });
  }
  expect(made(workspace, 'Ems GmbH')).toHaveLength(1);
  expect(rowsOf(workspace, 'Weser GmbH')).toHaveLength(1);
});

test('nothing twice: what an undo took away stays held when a column, or the row itself, is missing in one scan', async () => {
  await using workspace = await open({ onRowDeleted: 'ignore' });
  workspace.sheet.add({ Company: 'Ems GmbH', City: 'Ulm', Stage: 'new' });
  workspace.sandbox.leads.add(fresh);
  const { runId } = await workspace.sync();
  expect(await undo(workspace, runId)).toMatchObject({ deleted: { leads: 1, rows: 1 } });
  const whole = workspace.sheet.grid();
  const city = whole[0]?.indexOf('City') ?? -1;

  workspace.sheet.write(whole.map((record) => record.filter((_, column) => column !== city)));
  expect(await workspace.sync()).toMatchObject({ created: { leads: 0, rows: 0 }, held: 2 });
  workspace.sheet.write(whole.filter((record) => !record.includes('Ems GmbH')));
  expect(await workspace.sync()).toMatchObject({ created: { leads: 0, rows: 0 }, held: 1 });
  workspace.sheet.write(whole);
  expect(await workspace.sync()).toMatchObject({ created: { leads: 0, rows: 0 }, held: 2 });
  expect(made(workspace, 'Ems GmbH')).toEqual([]);

  // Gone for two complete scans: what is typed then is a new row.
  workspace.sheet.write(whole.filter((record) => !record.includes('Ems GmbH')));
  for (let night = 0; night < 2; night++) expect(await workspace.sync()).toMatchObject({ held: 1 });
  workspace.sheet.write(whole);
  expect(await workspace.sync()).toMatchObject({ created: { leads: 1, rows: 0 }, held: 1 });
});

test('nothing twice: a lead whose row an undo took away stays held when the service does not list it once', async () => {
  await using workspace = await open();
  workspace.sandbox.leads.add(fresh);
  const { runId } = await workspace.sync();
  await undo(workspace, runId);
  const [lead] = made(workspace, 'Weser GmbH');
  workspace.sandbox.set({ listedAs: new Map([[lead?.id ?? '', null]]) });
  expect(await workspace.sync()).toMatchObject({ created: { rows: 0 } });
  workspace.sandbox.set({ listedAs: new Map() });
  expect(await workspace.sync()).toMatchObject({ created: { rows: 0 }, problems: [{ code: 'lead.undone' }] });
});

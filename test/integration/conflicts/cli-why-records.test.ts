import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pair, refused, rules, type Told, why } from '../../support/why.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

test.each(['mark', 'remove'] as const)('a deleted lead (%s): says so, and what its row had', async (how) => {
  await using workspace = await Workspace.open({
    connection: {
      sync: { onLeadDeleted: how },
      target: how === 'mark' ? { statusColumn: 'Status' } : {},
    },
  });
  const id = await pair(workspace);
  await pair(workspace, { companyName: 'Other' });
  workspace.sandbox.leads.remove(id);
  await workspace.sync();
  await workspace.sync();
  const told = await why(workspace, id);
  expect(told.deletedAt).toEqual(expect.any(String));
  expect(told.deletions).toMatchObject([{ kind: `${how}-row`, reason: 'lead-deleted' }]);
  expect(rules(told, 'city')).toEqual(how === 'mark' ? ['new-lead'] : ['lead-deleted', 'new-lead']);
  expect((await workspace.cli('why', id)).stdout).toContain('deleted in the service');
  if (how === 'mark') return;
  expect(told.fields['city']?.history[0]).toMatchObject({ lead: null, row: 'Ulm', written: null });
  await workspace.sync();
  await workspace.sync();
  const gone = await why(workspace, id);
  expect(gone.knownSince).toBeNull();
  expect(gone.fields['city']).toMatchObject({
    held: null,
    history: [{ row: 'Ulm' }, { written: 'Ulm' }],
  });
  expect((await workspace.cli('why', id)).stdout).toContain('gone on both sides');
});

test('a deleted row: the lead that was deleted with it, or the row that was written again', async () => {
  await using workspace = await Workspace.open({ connection: { sync: { onRowDeleted: 'delete-lead' } } });
  const id = await pair(workspace);
  const other = await pair(workspace, { companyName: 'Other' });
  workspace.sheet.remove((row) => row['Lead ID'] === id);
  await workspace.sync();
  await workspace.sync();
  const told = await why(workspace, id);
  expect(told.deletions).toMatchObject([{ kind: 'delete-lead', reason: 'row-deleted' }]);
  expect(told.fields['city']?.history[0]).toMatchObject({
    rule: 'row-deleted',
    side: 'lead',
    lead: 'Ulm',
    row: null,
    written: null,
  });
  workspace.sheet.remove((row) => row['Lead ID'] === other);
  workspace.sandbox.leads.edit(other, { city: 'Hof' });
  await workspace.sync();
  expect((await why(workspace, other)).fields['city']?.history[0]).toMatchObject({
    rule: 'row-deleted-but-lead-edited',
    side: 'row',
    row: null,
    written: 'Hof',
  });
});

test('an undone run: what was put back, without a value of the other side that is not on record', async () => {
  await using workspace = await Workspace.open();
  const id = await pair(workspace);
  workspace.sheet.edit((row) => row['Lead ID'] === id, { City: 'Bonn' });
  const { runId } = await workspace.sync();
  const undone = await workspace.cli('undo', runId, '--yes', '--json');
  expect(undone.code, undone.stderr).toBe(0);
  const [last] = (await why(workspace, id, 'city')).fields['city']?.history ?? [];
  expect(last).toMatchObject({ rule: 'undone', side: 'lead', lead: 'Bonn', written: 'Ulm' });
  expect(last).not.toHaveProperty('row');
  expect((await workspace.cli('why', id, 'city')).stdout).toContain(
    'a run was undone: the lead got back what it had before',
  );
});

test('a record that is held as a whole: a second row with the id, an id that nobody knows', async () => {
  await using workspace = await Workspace.open();
  const id = await pair(workspace);
  workspace.sheet.add({ 'Lead ID': id, Company: 'Copy' });
  workspace.sheet.add({ 'Lead ID': 'nobody-knows-it', Company: 'Orphan' });
  await workspace.sync();
  expect((await why(workspace, id)).held).toMatchObject([{ code: 'row.duplicate-id' }]);
  expect((await why(workspace, 'nobody-knows-it')).held).toMatchObject([{ code: 'row.orphan' }]);
  expect((await workspace.cli('why', 'nobody-knows-it')).stdout).toContain('never seen in the service');
});

test('the beginning of an id is enough from 8 characters on, when it names one lead', async () => {
  await using workspace = await Workspace.open();
  const ids = ['0193f6a0-7b01-7000-8000-000000000001', '0193f6a0-7b02-7000-8000-000000000002'];
  const [id = ''] = ids;
  for (const each of ids) await pair(workspace, { id: each });
  expect((await why(workspace, id.slice(0, -1))).leadId).toBe(id);
  const ambiguous = refused(await workspace.cli('why', id.slice(0, 8), '--json'));
  expect(ambiguous.code).toBe('usage.ambiguous-lead');
  for (const each of ids) expect(ambiguous.message).toContain(each);
  for (const unknown of [id.slice(0, 7), `${id}0`, '%%%%%%%%', '']) {
    const error = refused(await workspace.cli('why', unknown, '--json'));
    expect(error.code).toBe('usage.unknown-lead');
    expect(error.help).toContain(`2 in ${connectionName}`);
    expect(error.help).toContain('leadsync sync');
  }
});

test('a lead that several connections know is told for each', async () => {
  await using workspace = await Workspace.open();
  const id = await pair(workspace);
  const target = (path: string): object => ({ type: 'workbook', path });
  const leads = { baseUrl: workspace.sandbox.url, apiKey: '${LEADS_API_KEY}' };
  const connections = {
    [connectionName]: { leads, target: target('./leads.csv') },
    second: { leads, target: target('./second.csv') },
  };
  writeFileSync(join(workspace.folder, 'leadsync.yaml'), JSON.stringify({ connections }));
  expect((await workspace.cli('sync', '--connection', 'second')).code).toBe(0);
  const both = (await workspace.cli('why', id, 'city', '--json')).json<{ leads: Told[] }>();
  expect(both.leads.map(({ connection, leadId }) => [connection, leadId])).toEqual([
    [connectionName, id],
    ['second', id],
  ]);
  expect((await why(workspace, id, '--connection', 'second')).connection).toBe('second');
});

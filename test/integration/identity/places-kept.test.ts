import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { matchesIn } from '../../support/held.ts';
import { Sheet } from '../../support/sheet.ts';
import { connectionName, type Workspace } from '../../support/workspace.ts';
import { fields, idOf, inStep, pointTo } from './places-scene.ts';

/** Edits some leads in the service, and returns the file as it was before they reached it. */
async function editedSince(workspace: Workspace, leads: number): Promise<Buffer> {
  const older = readFileSync(workspace.sheet.path);
  for (let at = 0; at < leads; at++) workspace.sandbox.leads.edit(idOf(workspace, at), { city: `Ulm ${at}` });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { rows: leads } });
  return older;
}

const olderCopy = { status: 'stopped', problems: [{ code: 'guard.older-copy' }] };

test('an older copy of a place is recognised when the target is set back to it', async () => {
  await using workspace = await inStep();
  const older = await editedSince(workspace, 3);
  pointTo(workspace, './other.csv');
  await workspace.sync();
  writeFileSync(workspace.sheet.path, older);
  pointTo(workspace, './leads.csv');
  expect(await workspace.sync()).toMatchObject(olderCopy);
});

test('a file that takes the place of one that is gone, and puts a single cell back, is taken for an older copy', async () => {
  await using workspace = await inStep();
  const older = await editedSince(workspace, 1);
  rmSync(workspace.sheet.path);
  writeFileSync(join(workspace.folder, 'renamed.csv'), older);
  pointTo(workspace, './renamed.csv');
  expect(await workspace.sync()).toMatchObject(olderCopy);
});

test('a conflict keeps its id while the connection is elsewhere', async () => {
  await using workspace = await inStep();
  const id = idOf(workspace, 0);
  workspace.sheet.edit((row) => row['Lead ID'] === id, { City: 'Ulm' });
  workspace.sandbox.leads.edit(id, { city: 'Bonn' });
  expect(await workspace.sync()).toMatchObject({ held: 1 });
  const ids = async (): Promise<unknown> =>
    (
      await workspace.database.pool.query(`select id from held where kind = 'conflict' and connection = $1`, [
        connectionName,
      ])
    ).rows;
  const before = await ids();
  pointTo(workspace, './other.csv');
  await workspace.sync();
  expect(await ids()).toEqual([]);
  pointTo(workspace, './leads.csv');
  expect(await workspace.sync()).toMatchObject({ held: 1 });
  expect(await ids()).toEqual(before);
});

test('what a person has decided on a match belongs to the place', async () => {
  await using workspace = await inStep(3);
  const sync = { match: 'propose' };
  const matching = (path: string): void => workspace.configure({ fields, target: { path }, sync });
  matching('./leads.csv');
  workspace.sheet.add({ Company: 'Acme GmbH', City: 'Berlin' });
  workspace.sandbox.leads.add({ companyName: 'Acme AG', city: 'Berlin' });
  await workspace.sync();
  const listed = () => matchesIn(workspace.database.pool);
  const [proposed] = await listed();
  await workspace.cli('resolve', String(proposed?.id), '--use', 'link');
  matching('./other.csv');
  await workspace.sync();
  expect(await listed()).toEqual([]);
  matching('./leads.csv');
  await workspace.sync();
  const own = new Sheet(join(workspace.folder, 'leads.csv'));
  expect(own.rows().filter((row) => row['Company']?.startsWith('Acme'))).toMatchObject([
    { 'Lead ID': proposed?.leadId },
  ]);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listConflicts } from '../../../src/store/conflicts.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

/** All that both sides show, by lead. */
function shown(here: Workspace): { readonly leads: unknown; readonly rows: unknown } {
  const leads = here.sandbox.leads.list().map((lead) => [lead.id, lead.companyName, lead.city, lead.stage]);
  const rows = here.sheet.rows().map((row) => [row['Lead ID'], row['Company'], row['City'], row['Stage']]);
  const byId = ([a = '']: readonly unknown[], [b = '']: readonly unknown[]): number =>
    String(a) < String(b) ? -1 : 1;
  return { leads: leads.toSorted(byId), rows: rows.toSorted(byId) };
}

function expectInStep(here: Workspace): void {
  const { leads, rows } = shown(here);
  expect(rows).toEqual(leads);
}

/** A table that is in step, yesterday's copy of it, and a day on which both sides were edited and synced. */
async function aDayLater(
  here: Workspace,
  {
    typed = 3,
    edited = 3,
    added = 0,
  }: { readonly typed?: number; readonly edited?: number; readonly added?: number } = {},
): Promise<{ readonly copy: Buffer; readonly ids: readonly string[] }> {
  await here.sync();
  const copy = readFileSync(here.sheet.path);
  const ids = here.sandbox.leads.list().map(({ id }) => id);
  for (const id of ids.slice(0, edited)) here.sandbox.leads.edit(id, { stage: 'edited in the service' });
  for (const id of ids.slice(edited, edited + typed))
    here.sheet.edit((row) => row['Lead ID'] === id, { City: 'typed' });
  for (let nth = 0; nth < added; nth++) here.sandbox.leads.add({ companyName: `Fresh ${nth}`, stage: 'new' });
  expect(await here.sync()).toMatchObject({ status: 'succeeded' });
  return { copy, ids };
}

const leadsWritten = (here: Workspace): number =>
  here.sandbox.log.filter(({ method }) => method !== 'GET').length;

const csv = { sandbox: { leads: 60 } };

test('a restored CSV file is recognised: the run stops, nothing is written, the message names both ways out', async () => {
  await using here = await Workspace.open(csv);
  const { copy } = await aDayLater(here, { added: 2 });
  const before = leadsWritten(here);
  writeFileSync(here.sheet.path, copy);
  const stopped = await here.cli('sync');
  expect(stopped.code).toBe(4);
  expect(stopped.stdout).toMatch(
    /in 6 cells the table shows what was there before \d+ \w+ \d{4}.*, and 2 rows made or deleted since are as before it; nothing shows a newer value: is it an older copy\? Nothing was written/,
  );
  expect(stopped.stdout).toContain('leadsync sync --connection main --older-copy update');
  expect(stopped.stdout).toContain('leadsync sync --connection main --allow older-copy');
  expect(leadsWritten(here)).toBe(before);
  expect(readFileSync(here.sheet.path)).toEqual(copy);
});

test('--older-copy update: the table is brought forward, what was typed into the copy is carried over, nothing is lost', async () => {
  await using here = await Workspace.open(csv);
  const { copy, ids } = await aDayLater(here, { added: 2 });
  writeFileSync(here.sheet.path, copy);
  for (const id of ids.slice(10, 15))
    here.sheet.edit((row) => row['Lead ID'] === id, { Stage: 'typed into the copy' });
  expect(await here.sync()).toMatchObject({ status: 'stopped', problems: [{ code: 'guard.older-copy' }] });
  const run = await here.cli('sync', '--older-copy', 'update', '--json');
  expect(JSON.parse(run.stdout)).toMatchObject({
    status: 'succeeded',
    created: { leads: 0, rows: 2 },
    updated: { leads: 5, rows: 6 },
    receipt: { unexplained: 0 },
  });
  expectInStep(here);
  const stages = here.sandbox.leads.list().map(({ stage }) => stage);
  expect(stages.filter((stage) => stage === 'edited in the service')).toHaveLength(3);
  expect(stages.filter((stage) => stage === 'typed into the copy')).toHaveLength(5);
  expect(here.sandbox.leads.list().filter(({ city }) => city === 'typed')).toHaveLength(3);
  const before = leadsWritten(here);
  expect(await here.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
  expect(leadsWritten(here)).toBe(before);
});

test('--allow older-copy: what the copy shows is taken as edits', async () => {
  await using here = await Workspace.open(csv);
  const { copy } = await aDayLater(here);
  writeFileSync(here.sheet.path, copy);
  expect(await here.sync({ allow: ['older-copy'] })).toMatchObject({
    status: 'succeeded',
    updated: { leads: 6, rows: 0 },
  });
  expectInStep(here);
  expect(
    here.sandbox.leads
      .list()
      .filter(({ city, stage }) => city === 'typed' || stage === 'edited in the service'),
  ).toEqual([]);
});

test('as a run read the table before it wrote: saved over from a program that was open over night', async () => {
  await using here = await Workspace.open(csv);
  await here.sync();
  const ids = here.sandbox.leads.list().map(({ id }) => id);
  for (const id of ids.slice(0, 3)) here.sandbox.leads.edit(id, { stage: 'edited in the service' });
  // What was typed is in the copy, and went to the service that night.
  for (const id of ids.slice(3, 23)) here.sheet.edit((row) => row['Lead ID'] === id, { City: 'typed' });
  const copy = readFileSync(here.sheet.path);
  await here.sync();
  writeFileSync(here.sheet.path, copy);
  expect(await here.sync()).toMatchObject({ status: 'stopped', problems: [{ code: 'guard.older-copy' }] });
  await here.sync({ allow: ['older-copy:update'] });
  expectInStep(here);
  expect(here.sandbox.leads.list().filter(({ stage }) => stage === 'edited in the service')).toHaveLength(3);
});

test('nearly all edits are typed in the table, five more into the copy: still recognised', async () => {
  await using here = await Workspace.open(csv);
  const { copy, ids } = await aDayLater(here, { typed: 18, edited: 2 });
  writeFileSync(here.sheet.path, copy);
  for (const id of ids.slice(25, 30))
    here.sheet.edit((row) => row['Lead ID'] === id, { Company: `New name ${id}` });
  expect(await here.sync()).toMatchObject({ status: 'stopped', problems: [{ code: 'guard.older-copy' }] });
  expect(await here.sync({ allow: ['older-copy:update'] })).toMatchObject({
    status: 'succeeded',
    updated: { leads: 5, rows: 20 },
  });
  expectInStep(here);
});

test('two cells put back and nothing else: these are held, the rest goes on; resolve ends it', async () => {
  await using here = await Workspace.open({ ...csv, connection: { sync: { onRowDeleted: 'delete-lead' } } });
  const { copy, ids } = await aDayLater(here, { typed: 1, edited: 1 });
  writeFileSync(here.sheet.path, copy);
  here.sheet.edit((row) => row['Lead ID'] === ids[9], { City: 'an edit' });
  here.sheet.remove((row) => row['Lead ID'] === ids[8]);
  const report = await here.sync();
  expect(report).toMatchObject({ status: 'partial', held: 2, updated: { leads: 1, rows: 0 } });
  expect(report.problems.map(({ code }) => code).toSorted()).toEqual(['row.put-back', 'row.put-back']);
  // Other things move on, and the two stay held; while they are, no row that is missing counts as deleted.
  for (const id of ids.slice(20, 25)) here.sandbox.leads.edit(id, { region: 'moved' });
  for (let night = 0; night < 3; night++)
    expect(await here.sync()).toMatchObject({ held: 2, deleted: { leads: 0 } });
  expect(here.sandbox.leads.get(ids[8] ?? '')).toBeDefined();
  const held = await listConflicts(here.database.pool, connectionName);
  await here.cli('resolve', String(held[0]?.id), '--use', 'lead');
  await here.cli('resolve', String(held[1]?.id), '--use', 'target');
  expect(await here.sync()).toMatchObject({ held: 0, updated: { leads: 1, rows: 1 } });
});

test('a cell and a missing row are held while edits go on; brought forward later, the row comes back', async () => {
  await using here = await Workspace.open({
    sandbox: { leads: 12 },
    connection: { sync: { onRowDeleted: 'delete-lead' } },
  });
  const { copy, ids } = await aDayLater(here, { typed: 0, edited: 1, added: 1 });
  writeFileSync(here.sheet.path, copy);
  here.sandbox.leads.edit(ids[5] ?? '', { city: 'meanwhile' });
  const held = { status: 'partial', created: { rows: 0 }, problems: [{ code: 'row.put-back' }] };
  expect(await here.sync()).toMatchObject({ ...held, updated: { rows: 1 } });
  expect(await here.sync()).toMatchObject(held);
  const run = await here.cli('sync', '--older-copy', 'update', '--json');
  expect(JSON.parse(run.stdout)).toMatchObject({
    status: 'succeeded',
    created: { rows: 1 },
    updated: { rows: 1 },
    deleted: { leads: 0 },
  });
  expectInStep(here);
});

test('the service is put back to a backup: leads show earlier values and new ones are missing; both ways out', async () => {
  await using here = await Workspace.open(csv);
  await here.sync();
  const backup = here.sandbox.leads.list().map((lead) => ({ ...lead }));
  const ids = backup.map(({ id }) => id);
  for (const id of ids.slice(0, 3)) here.sandbox.leads.edit(id, { stage: 'edited in the service' });
  for (const id of ids.slice(3, 6)) here.sheet.edit((row) => row['Lead ID'] === id, { City: 'typed' });
  here.sandbox.leads.add({ companyName: 'Fresh AG', stage: 'new' });
  here.sheet.add({ Company: 'Typed AG', Stage: 'new' });
  await here.sync();
  const restore = (): void => {
    for (const { id } of here.sandbox.leads.list()) {
      const was = backup.find((lead) => lead.id === id);
      if (was === undefined) here.sandbox.leads.remove(id);
      else here.sandbox.leads.edit(id, was);
    }
  };
  restore();
  const table = here.sheet.grid();
  const stopped = await here.cli('sync');
  expect(stopped.code).toBe(4);
  expect(stopped.stdout).toMatch(
    /in 6 cells the service shows what was there before .*, and 2 leads made or deleted since/,
  );
  expect(here.sheet.grid()).toEqual(table);
  await here.cli('sync', '--older-copy', 'update');
  expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { leads: 2, rows: 0 } });
  expectInStep(here);
  expect(
    here.sandbox.leads.list().filter(({ companyName }) => /^(Fresh|Typed) AG$/.test(companyName ?? '')),
  ).toHaveLength(2);
  expect(
    here.sandbox.leads
      .list()
      .filter(({ city, stage }) => city === 'typed' || stage === 'edited in the service'),
  ).toHaveLength(6);
  restore();
  expect(await here.sync({ allow: ['older-service'] })).toMatchObject({ updated: { leads: 0, rows: 6 } });
  expect(
    here.sandbox.leads
      .list()
      .filter(({ city, stage }) => city === 'typed' || stage === 'edited in the service'),
  ).toEqual([]);
});

test('what an undo put back is no older copy', async () => {
  await using here = await Workspace.open(csv);
  await aDayLater(here, { typed: 4, edited: 4 });
  const { runId } = (await here.run({ mode: 'plan' })).report as { runId: string };
  expect((await here.cli('undo', String(Number(runId) - 1), '--yes')).code).toBe(0);
  expect(await here.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 4, rows: 4 } });
  expectInStep(here);
});

test('one way to the table: a restored table is written over, and no run stops; the service that was put back is told', async () => {
  await using here = await Workspace.open({ ...csv, connection: { sync: { direction: 'to-target' } } });
  const { copy, ids } = await aDayLater(here, { typed: 0, edited: 6 });
  writeFileSync(here.sheet.path, copy);
  expect(await here.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 6 } });
  expectInStep(here);
  for (const id of ids.slice(0, 6)) here.sandbox.leads.edit(id, { stage: 'another' });
  await here.sync();
  for (const id of ids.slice(0, 6)) here.sandbox.leads.edit(id, { stage: 'edited in the service' });
  const { problems } = await here.sync();
  expect(problems[0]).toMatchObject({
    code: 'guard.older-service',
    message: expect.not.stringContaining('update') as unknown,
  });
  // It cannot be brought forward, so that is refused too.
  expect(await here.sync({ allow: ['older-copy:update'] })).toMatchObject({ status: 'stopped' });
});

test('a field that went there and back by edits of leads is no older copy where the table follows', async () => {
  await using here = await Workspace.open(csv);
  const { ids } = await aDayLater(here, { typed: 0, edited: 6 });
  for (const stage of ['back', 'edited in the service', 'back']) {
    for (const id of ids.slice(0, 6)) here.sandbox.leads.edit(id, { stage: `${stage} ${id}` });
    const { status, problems } = await here.sync();
    // The third time each lead shows again what it showed before, all of them and nothing else: the service may be older.
    if (status === 'stopped') expect(problems[0]?.code).toBe('guard.older-service');
  }
});

test('leads that an older service lacks are made again of rows below an empty row, too', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 4 } });
  const { leads } = workspace.sandbox;
  await workspace.sync();
  const before = leads.list();
  for (const { id } of before.slice(0, 3)) leads.edit(id, { city: 'Rome' });
  const fresh = ['Ahorn AG', 'Birke AG'].map((companyName) => leads.add({ companyName, stage: 'new' }));
  await workspace.sync();
  const [head = [], ...rows] = workspace.sheet.grid();
  workspace.sheet.write([head, ...rows.slice(0, 4), head.map(() => ''), ...rows.slice(4)]);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', held: 0 });

  for (const { id } of fresh) leads.remove(id);
  for (const { id, city } of before.slice(0, 3)) leads.edit(id, { city });
  expect(await workspace.sync()).toMatchObject({ status: 'stopped' });
  for (let count = 0; count < 2; count++) await workspace.sync({ allow: ['older-copy:update'] });
  expect(
    leads
      .list()
      .map(({ companyName }) => companyName)
      .toSorted(),
  ).toEqual([...before, ...fresh].map(({ companyName }) => companyName).toSorted());
  const ids = new Set(leads.list().map(({ id }) => id));
  const filled = workspace.sheet.rows().filter((row) => row['Company'] !== '');
  expect(filled.every((row) => ids.has(row['Lead ID'] ?? ''))).toBe(true);
  expect(leads.list().filter(({ city }) => city === 'Rome')).toHaveLength(3);
});

import { expect, test } from 'vitest';
import { parseFaults } from '../../../src/demo/faults.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { Workspace } from '../../support/workspace.ts';

const company = 'Dorn AG';
const isDorn = (row: Readonly<Record<string, string>>): boolean => row['Company'] === company;
const dorns = (here: Workspace): readonly string[] =>
  here.sheet
    .rows()
    .filter(isDorn)
    .map((row) => row['Lead ID'] ?? '');

/** A row whose lead was deleted in the service. Returns the id that it keeps. */
async function withDeletedLead(here: Workspace): Promise<string> {
  const { id } = here.sandbox.leads.add({ companyName: company, city: 'Linz', stage: 'new' });
  await here.sync();
  here.sandbox.leads.remove(id);
  await here.sync();
  await here.sync();
  expect(dorns(here)).toEqual([id]);
  return id;
}

function expectHeld(report: SyncReport, newId: string): void {
  expect(report).toMatchObject({
    status: 'partial',
    created: { leads: 0, rows: 0 },
    deleted: { leads: 0, rows: 0 },
    held: 1,
    problems: [{ code: 'row.orphan', row: 7 }],
  });
  expect(report.problems[0]?.message).toContain(newId);
}

test.each(['restore', 'ignore', 'delete-lead'])(
  'the id of a deleted lead is typed back while the lead that was made of its row is in doubt (onRowDeleted %s): held, no second row',
  async (onRowDeleted) => {
    await using here = await Workspace.open({
      sandbox: { leads: 5 },
      connection: { sync: { onRowDeleted } },
    });
    const oldId = await withDeletedLead(here);
    here.sheet.edit(isDorn, { 'Lead ID': '' });
    here.sandbox.set({ faults: parseFaults('lost-reply:once=1,on=POST;503:after=2,on=list') });
    expect(await here.sync()).toMatchObject({ status: 'failed', putOff: 1 });
    here.sandbox.set({ faults: [] });
    const newId = here.sandbox.leads.list().at(-1)?.id ?? '';
    here.sheet.edit(isDorn, { 'Lead ID': oldId });

    for (let night = 0; night < 3; night++) expectHeld(await here.sync(), newId);
    here.sheet.edit(isDorn, { City: 'Graz' });
    expectHeld(await here.sync(), newId);
    expect(dorns(here)).toEqual([oldId]);

    here.sheet.edit(isDorn, { 'Lead ID': newId });
    await here.sync();
    expect(await here.sync()).toMatchObject({ updated: { leads: 0, rows: 0 }, held: 0 });
    expect(dorns(here)).toEqual([newId]);
    expect(here.sandbox.leads.get(newId)).toMatchObject({ city: 'Graz' });
    expect(here.sandbox.leads.size).toBe(6);
  },
);

test.each([1, 3])(
  'the id of a deleted lead is typed back %i nights after its row got a new one: held, no second row',
  async (nights) => {
    await using here = await Workspace.open({ sandbox: { leads: 5 } });
    const oldId = await withDeletedLead(here);
    here.sheet.edit(isDorn, { 'Lead ID': '' });
    for (let night = 0; night < nights; night++) await here.sync();
    const [newId = ''] = dorns(here);
    expect(newId).not.toMatch(new RegExp(`^(${oldId})?$`));
    here.sheet.edit(isDorn, { 'Lead ID': oldId });

    for (let night = 0; night < 3; night++) expectHeld(await here.sync(), newId);
    here.sheet.edit(isDorn, { 'Lead ID': newId });
    expect(await here.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
    expect(dorns(here)).toEqual([newId]);
    expect(here.sandbox.leads.size).toBe(6);
  },
);

test('the row of a deleted lead that stayed where it was is nobody else’s, though its company is a lead again', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 5 } });
  const oldId = await withDeletedLead(here);
  const { id } = here.sandbox.leads.add({ companyName: company, city: 'Linz', stage: 'new' });
  expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { rows: 1 } });
  here.sheet.remove((row) => row['Lead ID'] === id);
  expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { rows: 1 } });
  expect(dorns(here)).toEqual([oldId, id]);
});

test('the row that got the old id back is deleted: the new lead gets one of its own', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 5 } });
  const oldId = await withDeletedLead(here);
  here.sheet.edit(isDorn, { 'Lead ID': '' });
  await here.sync();
  const [newId = ''] = dorns(here);
  here.sheet.edit(isDorn, { 'Lead ID': oldId });
  expectHeld(await here.sync(), newId);
  here.sheet.remove(isDorn);
  expect(await here.sync()).toMatchObject({ created: { leads: 0, rows: 1 }, held: 0 });
  expect(dorns(here)).toEqual([newId]);
});

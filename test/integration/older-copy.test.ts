import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Workspace } from '../support/workspace.ts';

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

const csv = { sandbox: { leads: 40 } };

test('a restored CSV file is recognised: the run stops, nothing is written, the message names both ways out', async () => {
  await using here = await Workspace.open(csv);
  const { copy } = await aDayLater(here, { added: 2 });
  const before = leadsWritten(here);
  writeFileSync(here.sheet.path, copy);
  const stopped = await here.cli('sync');
  expect(stopped.code).toBe(4);
  expect(stopped.stdout).toMatch(
    /in 6 cells the table shows what was there before \d+ \w+ \d{4}.*, and 2 rows made or deleted since are as before it; nothing that changed since shows its newer value: is it an older copy\? Nothing was written/,
  );
  expect(stopped.stdout).toContain('leadsync sync --connection main --older-copy update');
  expect(stopped.stdout).toContain('leadsync sync --connection main --allow older-copy');
  expect(leadsWritten(here)).toBe(before);
  expect(readFileSync(here.sheet.path)).toEqual(copy);
}, 60_000);

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
}, 60_000);

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
}, 60_000);

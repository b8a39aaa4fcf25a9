import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runHandlers, syncQueue } from '../../../jobs/runs.ts';
import { lastRun } from '../../../src/store/runs.ts';
import { openStatusSite } from '../../support/status-site.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const headings = ['Lead ID', 'Company', 'City'];
const list = [headings, ['', 'Acme GmbH', 'Bonn'], ['', 'Summe', '']];

const connection = { fields: { companyName: 'Company', city: 'City' } };

test('the first sync of a table would make leads of its rows: it stops and shows them, until somebody allows it', async () => {
  await using workspace = await Workspace.open({ connection, sandbox: { leads: 2 } });
  const { sheet, sandbox } = workspace;
  sheet.write(list);
  for (const mode of ['plan', 'sync'] as const) {
    const run = await workspace.run({ mode, asks: true });
    expect(run).toMatchObject({ status: 'stopped', refusals: [{ code: 'first-leads' }] });
    const [refusal] = run.refusals;
    expect(refusal?.message).toMatch(
      /make 2 leads .*"Acme GmbH" \(row 2\), "Summe" \(row 3\)[^]*total[^]*no city/,
    );
  }
  expect(sandbox.leads.list()).toHaveLength(2);
  expect(sheet.rows()).toHaveLength(2);

  const acme = sandbox.leads.add({ companyName: 'ACME', city: 'Bonn' });
  const stopped = await workspace.cli('sync');
  sandbox.leads.remove(acme.id);
  expect(stopped.code).toBe(4);
  expect(stopped.stdout).toContain('"Acme GmbH" (row 2, lead "ACME")');
  expect(stopped.stdout).toMatch(
    /"Acme GmbH" \(row 2\)[^]*leadsync sync --connection main --allow first-leads\n/,
  );
  const allowed = await workspace.cli('sync', '--allow', 'first-leads', '--json');
  expect(allowed.json()).toMatchObject({ status: 'succeeded', created: { leads: 2, rows: 2 } });

  // From here on a new row is an ordinary one.
  sheet.write([...sheet.grid(), ['', 'Bolt AG', 'Ulm']]);
  expect(await workspace.sync({ asks: true })).toMatchObject({
    status: 'succeeded',
    created: { leads: 1, rows: 0 },
  });
});

test.each<[string, readonly (readonly string[])[] | null]>([
  ['a missing file', null],
  ['a table without rows', [headings]],
])('%s has nothing to ask about, and neither have the rows of the next day', async (_, grid) => {
  await using workspace = await Workspace.open({ connection, sandbox: { leads: 2 } });
  if (grid !== null) workspace.sheet.write(grid);
  expect(await workspace.sync({ asks: true })).toMatchObject({ status: 'succeeded', created: { rows: 2 } });
  workspace.sheet.write([...workspace.sheet.grid(), ['', 'Bolt AG', 'Ulm']]);
  expect(await workspace.sync({ asks: true })).toMatchObject({ status: 'succeeded', created: { leads: 1 } });
});

test('rows of leads that are there ask nothing, whatever differs', async () => {
  await using workspace = await Workspace.open({ connection, sandbox: { leads: 2 } });
  const [lead] = workspace.sandbox.leads.list();
  workspace.sheet.write([headings, [lead?.id ?? '', 'Another name', '']]);
  expect(await workspace.sync({ asks: true })).toMatchObject({ created: { leads: 0, rows: 1 } });
});

test('a column of customer numbers is no id column: the run stops before it holds each row and writes each lead below', async () => {
  await using workspace = await Workspace.open({
    connection: { ...connection, target: { idColumn: 'No.' } },
    sandbox: { leads: 4 },
  });
  const numbers = [
    ['No.', 'Company', 'City'],
    ...['10023', '10024', '10025'].map((id) => [id, `C${id}`, 'Bonn']),
  ];
  workspace.sheet.write(numbers);
  const run = await workspace.run({ asks: true });
  expect(run).toMatchObject({ status: 'stopped', refusals: [{ code: 'ids-unknown' }] });
  expect(run.refusals[0]?.message).toMatch(/none of the 3 ids in the column "No\." .*row 2 has "10023"/);
  expect(workspace.sheet.grid()).toEqual(numbers);

  const [lead] = workspace.sandbox.leads.list();
  workspace.sheet.write([...numbers, [lead?.id ?? '', 'Known AG', 'Bonn']]);
  expect(await workspace.sync({ asks: true })).toMatchObject({ status: 'partial', created: { rows: 3 } });
});

test('who applies a plan has looked at it; the lines that were left out are asked for the next time', async () => {
  await using workspace = await Workspace.open({ connection, sandbox: { leads: 0 } });
  workspace.sheet.write(list);
  const file = join(workspace.folder, 'plan.json');
  const planned = await workspace.cli('plan', '--out', file, '--json');
  expect(planned.code).toBe(4);
  const [first] = planned.json<{ actions: { id: string }[] }>().actions;
  const id = first?.id ?? '';
  const applied = await workspace.cli('apply', file, '--only', id, '--json');
  expect(applied.json()).toMatchObject({ created: { leads: 1 } });
  const [refusal] = (await workspace.run({ asks: true })).refusals;
  expect(refusal?.message).toContain('make 1 lead in the service of 1 row of the table: "Summe"');
});

test('a worker waits for the button of the status page', async () => {
  await using site = await openStatusSite({ connection, sandbox: { leads: 0 } });
  const { app, workspace } = site;
  const page = `/connections/${connectionName}`;
  workspace.sheet.write(list);
  const queue = (await app.queues()).queue(syncQueue);
  await using _worker = queue.work(runHandlers(app));
  const statusOf = async () => (await lastRun(app.pool, connectionName, 'sync'))?.status;
  expect((await site.ask(page)).body).not.toContain('Make these leads');
  await site.ask(`${page}/sync`, { form: {} });
  await expect.poll(statusOf).toBe('stopped');
  await expect.poll(() => queue.counts()).toMatchObject({ waiting: 0, active: 0 });
  expect((await site.ask(page)).body).toMatch(/Make these leads[^]*Acme GmbH/);
  expect((await site.ask(`${page}/make-leads`, { form: {} })).status).toBe(303);
  await expect.poll(statusOf).toBe('succeeded');
  expect(workspace.sandbox.leads.list()).toHaveLength(2);
  expect((await site.ask(page)).body).not.toContain('Make these leads');
});

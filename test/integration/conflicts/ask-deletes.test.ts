import { expect, test, vi } from 'vitest';
import { openStatusSite } from '../../support/status-site.ts';

// Each test starts many processes.
vi.setConfig({ testTimeout: 120_000 });

/** A row was deleted, and another lead; both are asked about. */
async function scene() {
  const site = await openStatusSite({
    sandbox: { leads: 20 },
    connection: { sync: { onRowDeleted: 'ask', onLeadDeleted: 'ask' } },
  });
  const { sandbox, sheet } = site.workspace;
  await site.workspace.sync();
  const [first, second] = sandbox.leads.list();
  if (first === undefined || second === undefined) throw new Error('no leads');
  sheet.remove((row) => row['Lead ID'] === first.id);
  sandbox.leads.remove(second.id);
  await site.workspace.sync();
  await site.workspace.sync();
  return { site, rowless: first, leadless: second };
}

test('a delete that is asked about is listed with both records, and settled by the command line', async () => {
  const { site, rowless, leadless } = await scene();
  await using _ = site;
  const { workspace } = site;
  const { conflicts } = JSON.parse((await workspace.cli('conflicts', '--json')).stdout);
  expect(conflicts).toMatchObject(
    [rowless, leadless].map(({ id, companyName, city }, nth) => ({
      kind: 'delete',
      code: nth === 0 ? 'row.deleted' : 'lead.deleted',
      leadId: id,
      company: companyName,
      choices: ['restore', 'deleted'],
      lead: { companyName, city },
      target: { companyName, city },
      resolution: null,
    })),
  );
  const [one, other] = conflicts as [{ id: string }, { id: string }];
  const listed = (await workspace.cli('conflicts')).stdout;
  expect(listed).toContain('--use restore|deleted');
  expect(listed).toContain(`Company: both ${JSON.stringify(rowless.companyName)}`);
  const wrong = await workspace.cli('resolve', one.id, '--use', 'lead');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--use restore or deleted') });
  const all = await workspace.cli('resolve', '--all', '--use', 'deleted');
  expect(all).toMatchObject({ code: 3, stdout: expect.stringContaining('2 items are left') });
  const decided = await workspace.cli('resolve', one.id, '--use', 'deleted');
  expect(decided.stdout).toContain('the lead is deleted too');
  expect((await workspace.cli('resolve', other.id, '--use', 'restore')).stdout).toContain(
    'the lead is made again of the row',
  );
  expect(await workspace.sync()).toMatchObject({
    deleted: { leads: 1, rows: 0 },
    updated: { rows: 1 },
    problems: [],
  });
  expect(await workspace.sync()).toMatchObject({ created: { leads: 1, rows: 0 }, deleted: { rows: 0 } });
  const names = workspace.sandbox.leads.list().map(({ companyName }) => companyName);
  expect(names).not.toContain(rowless.companyName);
  expect(names).toContain(leadless.companyName);
  const why = await workspace.cli('why', rowless.id);
  expect(why.stdout).toContain('the other side is deleted as well');
});

test('the status page shows both records with a button for each answer', async () => {
  const { site, rowless } = await scene();
  await using _ = site;
  const { body } = await site.ask('/conflicts');
  for (const said of [
    'Both as they were',
    'Delete the lead too',
    'Write the row again',
    'Delete the row too',
  ])
    expect(body).toContain(said);
  const card = /id="held-(\d+)"[\s\S]*?<\/form>/.exec(body)?.[0] ?? '';
  const [, id = ''] = /id="held-(\d+)"/.exec(card) ?? [];
  const [, seen = ''] = /name="seen" value="([^"]+)"/.exec(card) ?? [];
  const { status } = await site.ask(`/conflicts/${id}`, {
    method: 'POST',
    form: { use: 'restore', seen, back: '/conflicts' },
  });
  expect(status).toBe(303);
  expect((await site.ask('/conflicts')).body).toContain('what was deleted is written again');
  expect(await site.workspace.sync()).toMatchObject({ created: { leads: 0, rows: 1 } });
  expect(site.workspace.sheet.rows().map((row) => row['Lead ID'])).toContain(rowless.id);
});

test('a decision that no longer fits is told, and not carried out', async () => {
  const { site, rowless, leadless } = await scene();
  await using _ = site;
  const { workspace } = site;
  const { sheet, sandbox } = workspace;
  const { conflicts } = JSON.parse((await workspace.cli('conflicts', '--json')).stdout);
  for (const item of conflicts as { id: string }[])
    await workspace.cli('resolve', item.id, '--use', 'deleted');
  const { id, companyName } = rowless;
  sheet.add({ 'Lead ID': id, Company: companyName });
  sheet.edit((row) => row['Lead ID'] === leadless.id, { City: 'Ulm' });
  const report = await workspace.sync();
  expect(report).toMatchObject({ deleted: { leads: 0, rows: 0 } });
  const told = report.problems.filter(({ code }) => code === 'delete.dropped');
  expect(told.toSorted((a) => (a.leadId === id ? -1 : 1))).toMatchObject([
    { leadId: id, message: expect.stringMatching(/the other side is deleted as well.*row.*is there again/) },
    { leadId: leadless.id, message: expect.stringMatching(/changed since/) },
  ]);
  expect(sandbox.leads.list().map((lead) => lead.companyName)).toContain(companyName);
  const why = await workspace.cli('why', id);
  expect(why.stdout).toMatch(/the other side is deleted as well; not carried out: .*is there again/);
  expect((await workspace.sync()).problems.filter(({ code }) => code === 'delete.dropped')).toEqual([]);
});

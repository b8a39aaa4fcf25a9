import { expect, test } from 'vitest';
import { parseFaults } from '../../../src/demo/faults.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { Workspace } from '../../support/workspace.ts';

const posts = ({ sandbox }: Workspace): number =>
  sandbox.log.filter(({ method }) => method === 'POST').length;

async function reportOf(workspace: Workspace, ...args: string[]): Promise<SyncReport> {
  const { stdout, stderr } = await workspace.cli(...args, '--json');
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout) as SyncReport;
}

const echo = { Company: 'Echo', City: 'Ulm' };
const findOrCreate = { faults: parseFaults('find-or-create') };

test('a lead that another connection of the service keeps is named with its connection and row', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 0, ...findOrCreate },
    others: { wien: { leads: { query: { city: 'Wien' } } } },
  });
  const lead = workspace.sandbox.leads.add({ companyName: 'Acme GmbH', city: 'Berlin' });
  workspace.sandbox.leads.add({ companyName: 'Bolt AG', city: 'Wien' });
  await reportOf(workspace, 'sync', '--connection', 'main');
  await reportOf(workspace, 'sync', '--connection', 'wien');
  const wien = workspace.sheetOf('wien');
  wien.add({ Company: 'Acme GmbH', City: 'Wien' });

  for (let night = 0; night < 2; night++) {
    const report = await reportOf(workspace, 'sync', '--connection', 'wien');
    expect(report).toMatchObject({
      status: 'partial',
      created: { leads: 0 },
      held: 1,
      problems: [{ code: 'lead.exists', row: 3 }],
      receipt: { records: 2, equal: 1, held: 1, unexplained: 0 },
    });
    expect(report.problems[0]?.message).toContain(`${lead.id} ("Acme GmbH", connection main, row 2)`);
  }
  expect(posts(workspace)).toBe(1);
  expect(wien.rows().at(-1)).toMatchObject({ 'Lead ID': '' });
});

test.each([
  { id: '018f0000-0000-7000-8000-000000000018', key: 'another', exists: true },
  { id: '18', key: 'another', exists: false },
  { id: '18', key: 'the same', exists: true },
])('a lead with the id $id, which a connection with $key key keeps, exists: $exists', async (known) => {
  const isOther = known.key === 'another';
  await using workspace = await Workspace.open({
    sandbox: { leads: 0, ...findOrCreate },
    others: { wien: { leads: { query: { city: 'Wien' }, ...(isOther && { apiKey: '${OTHER_KEY}' }) } } },
    env: { OTHER_KEY: 'key-of-another-account' },
  });
  workspace.sandbox.leads.add({ id: known.id, companyName: 'Echo', city: 'Ulm' });
  await workspace.sync();
  if (isOther) workspace.sandbox.set({ apiKey: 'key-of-another-account' });
  await workspace.sync({ connection: 'wien' });
  workspace.sheetOf('wien').add(echo);
  expect(await workspace.sync({ connection: 'wien' })).toMatchObject(
    known.exists
      ? { created: { leads: 0 }, problems: [{ code: 'lead.exists' }] }
      : { status: 'succeeded', created: { leads: 1 }, problems: [] },
  );
});

test('two connections that send the same name at once: one of them has made the lead', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 1, faults: parseFaults('find-or-create;slow:ms=300,on=POST') },
    others: { wien: { leads: { query: { city: 'nowhere' } } } },
  });
  const both = ['main', 'wien'] as const;
  await Promise.all(both.map((name) => reportOf(workspace, 'sync', '--connection', name)));
  workspace.sheet.add(echo);
  workspace.sheetOf('wien').add(echo);
  const reports = await Promise.all(both.map((name) => reportOf(workspace, 'sync', '--connection', name)));
  expect(reports.reduce((sum, { created }) => sum + created.leads, 0)).toBe(1);
  expect(reports.flatMap(({ problems }) => problems.map(({ code }) => code))).toEqual(['lead.exists']);
  expect(workspace.sandbox.leads.list().filter(({ companyName }) => companyName === 'Echo')).toHaveLength(1);
});

test('what an upsert overwrote is in the history, and an undo of the run puts it back', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 0, faults: parseFaults('upsert') } });
  const lead = workspace.sandbox.leads.add({ companyName: 'Acme GmbH', city: 'Berlin' });
  await workspace.sync();
  workspace.sheet.add({ Company: 'Acme GmbH', City: 'Ulm' });
  const report = await workspace.sync();
  expect(report.problems).toMatchObject([{ code: 'lead.exists' }]);
  expect(report.problems[0]?.message).toContain(
    `It overwrote City, which was "Berlin" (leadsync why ${lead.id}`,
  );
  expect((await workspace.cli('why', lead.id, 'city')).stdout).toContain('Berlin');

  expect(await reportOf(workspace, 'undo', report.runId, '--yes')).toMatchObject({ updated: { leads: 1 } });
  expect(workspace.sandbox.leads.get(lead.id)).toMatchObject({ city: 'Berlin' });
  expect(await workspace.sync()).toMatchObject({
    updated: { leads: 0, rows: 0 },
    created: { leads: 0 },
    held: 1,
  });
  expect(posts(workspace)).toBe(1);
});

test('a person decides that the row is sent once more', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 0, ...findOrCreate } });
  workspace.sandbox.leads.add({ companyName: 'Echo', city: 'Berlin' });
  await workspace.sync();
  workspace.sheet.add(echo);
  await workspace.sync();
  const resolve = async (use: string): Promise<number | null> => {
    const said = await workspace.cli('conflicts', '--json');
    const { conflicts } = said.json<{ conflicts: { id: string }[] }>();
    return (await workspace.cli('resolve', conflicts[0]?.id ?? '', '--use', use)).code;
  };
  expect(await resolve('lead')).toBe(2);
  expect(await resolve('target')).toBe(0);
  expect(await workspace.sync()).toMatchObject({ held: 1, problems: [{ code: 'lead.exists' }] });
  expect(posts(workspace)).toBe(2);
  expect(await resolve('target')).toBe(0);
  workspace.sandbox.set({ faults: [] });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 1 } });
});

test('an approved create that the service answers with a lead that is there is held, too', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 0, ...findOrCreate } });
  workspace.sandbox.leads.add({ companyName: 'Echo', city: 'Berlin' });
  await workspace.sync();
  workspace.sheet.add(echo);
  await workspace.cli('plan', '--out', 'plan.json');
  expect(await reportOf(workspace, 'apply', 'plan.json')).toMatchObject({
    status: 'partial',
    created: { leads: 0 },
    problems: [{ code: 'lead.exists' }],
  });
  expect(await workspace.sync()).toMatchObject({ held: 1, created: { leads: 0 } });
  expect(posts(workspace)).toBe(1);
});

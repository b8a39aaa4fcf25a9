import { expect, test } from 'vitest';
import { parseFaults } from '../../../src/demo/faults.ts';
import { Workspace } from '../../support/workspace.ts';

const stages = ['new', 'won'];
const isEcho = (row: Readonly<Record<string, string>>): boolean => row['Company'] === 'Echo';
const fields = { companyName: 'Company', stage: 'Stage', nextFollowUpAt: 'Next follow-up' };

const posts = ({ sandbox }: Workspace): number =>
  sandbox.log.filter(({ method }) => method === 'POST').length;

/** What comes between two nights, or instead of one. */
const between: Readonly<Record<string, (workspace: Workspace, runId: string) => Promise<unknown> | void>> = {
  nothing: () => {},
  'a restart': (workspace) => workspace.rest(),
  'a plan that is applied': async (workspace) => {
    await workspace.cli('plan', '--out', 'plan.json');
    await workspace.cli('apply', 'plan.json');
  },
  'an undo of the night': async (workspace, runId) => {
    const { stdout } = await workspace.cli('undo', runId, '--yes');
    expect(stdout).toContain('nothing was put back');
  },
  'its row stands elsewhere': ({ sheet }) => {
    const [headings = [], ...records] = sheet.grid();
    sheet.write([headings, ...records.toReversed()]);
  },
  'another column': ({ sheet }) => {
    sheet.write(sheet.grid().map((record, nth) => [...record, nth === 0 ? 'Notes' : 'mine']));
  },
  'one more mapped field': (workspace) => {
    workspace.configure({ fields: { ...fields, region: 'Region' } });
  },
  'a cell that cannot be sent': ({ sheet }) => sheet.edit(isEcho, { 'Next follow-up': 'soon' }),
  'a night without its row': async (workspace) => {
    const before = workspace.sheet.grid();
    workspace.sheet.remove(isEcho);
    expect(await workspace.sync()).toMatchObject({ held: 0 });
    workspace.sheet.write(before);
  },
  'a night in which its id cell cannot be read': async (workspace) => {
    workspace.sheet.edit(isEcho, { 'Lead ID': '#REF!' });
    expect((await workspace.sync()).problems).toMatchObject([{ code: 'row.id-unreadable' }]);
    workspace.sheet.edit(isEcho, { 'Lead ID': '' });
  },
  'a night without a mapped column': async (workspace) => {
    const before = workspace.sheet.grid();
    const [headings = [], ...records] = before;
    workspace.sheet.write([headings.with(headings.indexOf('Stage'), 'Phase'), ...records]);
    expect((await workspace.sync()).problems).toContainEqual(
      expect.objectContaining({ code: 'row.column-missing' }),
    );
    workspace.sheet.write(before);
  },
  'a night in which it may be a lead': async (workspace) => {
    workspace.configure({ fields, sync: { match: 'propose', matchBy: ['companyName'] } });
    const { id } = workspace.sandbox.leads.add({ companyName: 'Echo' });
    expect((await workspace.sync()).problems).toMatchObject([{ code: 'match.proposed' }]);
    workspace.sandbox.leads.remove(id);
  },
  'another row that shows the same': ({ sheet }) => sheet.add({ Company: 'Echo', Stage: 'maybe' }),
};

test.each(Object.entries(between))('a refused create is sent once: %s', async (_, act) => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2, stages }, connection: { fields } });
  await workspace.sync();
  workspace.sheet.add({ Company: 'Echo', Stage: 'maybe' });
  const refused = await workspace.sync();
  expect(refused).toMatchObject({ held: 1, problems: [{ code: 'lead.create-refused' }] });
  await act(workspace, refused.runId);
  const report = await workspace.sync();
  expect(report.problems).toContainEqual(expect.objectContaining({ code: 'lead.create-refused' }));
  expect(posts(workspace)).toBe(1);
});

test('two rows that show the same are sent once, also the first time', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2, stages }, connection: { fields } });
  await workspace.sync();
  for (const _ of [1, 2, 3]) workspace.sheet.add({ Company: 'Echo', Stage: 'maybe' });
  const refused = [4, 5, 6].map((row) => ({ code: 'lead.create-refused', row }));
  for (const _ of [1, 2]) expect(await workspace.sync()).toMatchObject({ held: 3, problems: refused });
  expect(posts(workspace)).toBe(1);
});

test('a create whose reply was lost is sent again, and refused once', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2, stages }, connection: { fields } });
  await workspace.sync();
  workspace.sandbox.set({ faults: parseFaults('lost-reply:once=1,on=POST') });
  workspace.sheet.add({ Company: 'Echo', Stage: 'maybe' });
  for (const _ of [1, 2, 3]) await workspace.sync();
  expect(await workspace.sync()).toMatchObject({ held: 1, problems: [{ code: 'lead.create-refused' }] });
  expect(posts(workspace)).toBe(2);
});

test.each([400, 404, 405, 409, 410, 422, 451])('status %d is the fault of the row', async (status) => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 2, faults: parseFaults(`${status}:once=1,on=POST`) },
    connection: { fields },
  });
  await workspace.sync();
  workspace.sheet.add({ Company: 'Echo', Stage: 'new' });
  for (const _ of [1, 2])
    expect(await workspace.sync()).toMatchObject({ held: 1, problems: [{ code: 'lead.create-refused' }] });
  expect(posts(workspace)).toBe(1);
  workspace.sheet.edit(isEcho, { Stage: 'won' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 1 } });
});

import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

const fields = { companyName: 'Company', city: 'City', nextFollowUpAt: 'Next follow-up' };

/** Fifteen leads of which a part has a follow-up, in step with a file. */
async function inStep(): Promise<Workspace> {
  const workspace = await Workspace.open({ sandbox: { leads: 15 }, connection: { fields } });
  workspace.sandbox.leads.list().forEach(({ id }, index) => {
    const nextFollowUpAt = index < 12 ? `2027-03-0${1 + (index % 9)}T08:00:00.000Z` : null;
    workspace.sandbox.leads.edit(id, { nextFollowUpAt, city: `City ${index}` });
  });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 15 } });
  return workspace;
}

const followUps = ({ sandbox }: Workspace) =>
  sandbox.leads.list().map(({ nextFollowUpAt }) => nextFollowUpAt);

test('a field that is kept in another column from now on is a first sight: nothing is emptied', async () => {
  await using workspace = await inStep();
  const before = followUps(workspace);
  const [headings = [], ...records] = workspace.sheet.grid();
  workspace.sheet.write([[...headings, 'Due'], ...records.map((record) => [...record, ''])]);
  workspace.sheet.edit(({ City }) => City === 'City 14', { Due: '2028-01-01T08:00:00.000Z' });
  workspace.configure({ fields: { ...fields, nextFollowUpAt: 'Due' } });

  expect(await workspace.sync({ allow: ['max-changes'] })).toMatchObject({ held: 0 });
  const after = followUps(workspace);
  expect(after.slice(0, 14)).toEqual(before.slice(0, 14));
  expect(after[14]).toBe('2028-01-01T08:00:00.000Z');
  const due = new Map(workspace.sheet.rows().map(({ 'Lead ID': id, Due }) => [id, Due]));
  for (const { id, nextFollowUpAt } of workspace.sandbox.leads.list())
    expect(due.get(id)).toBe(nextFollowUpAt ?? '');

  workspace.sheet.edit(({ City }) => City === 'City 0', { Due: '' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 1, rows: 0 } });
  expect(followUps(workspace)[0]).toBeNull();
});

test('a column that was cleared, though not every row had something in it: the run stops', async () => {
  await using workspace = await inStep();
  const before = followUps(workspace);
  workspace.sheet.edit(() => true, { 'Next follow-up': '' });
  const run = await workspace.run({ allow: ['max-changes'] });
  expect(run.refusals.map(({ code }) => code)).toEqual(['whole-field']);
  expect(followUps(workspace)).toEqual(before);
});

import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

const fields = { companyName: 'Company', stage: 'Stage' };

async function inStep(): Promise<Workspace> {
  const workspace = await Workspace.open({ sandbox: { leads: 12 }, connection: { fields } });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 12 } });
  return workspace;
}

test('a field that is added to the mapping gets its column, filled from the leads; a plan only says so', async () => {
  await using workspace = await inStep();
  const before = workspace.sheet.grid();
  workspace.configure({ fields: { ...fields, city: 'City' } });

  const plan = await workspace.cli('plan');
  expect(plan.stdout).toContain('the next sync creates it');
  expect(plan.stdout).not.toContain('nothing to do');
  expect(workspace.sheet.grid()).toEqual(before);

  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', held: 0, problems: [] });
  const cities = workspace.sandbox.leads.list().map(({ id, city }) => [id, city]);
  expect(workspace.sheet.rows().map((row) => [row['Lead ID'], row['City']])).toEqual(cities);
  expect(workspace.sandbox.leads.list().every(({ city }) => city !== null && city !== '')).toBe(true);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
});

test('a heading that is renamed, or was missing from the first, is no new field', async () => {
  await using workspace = await inStep();
  workspace.configure({ fields: { ...fields, city: 'City' } });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded' });
  const [headings = [], ...records] = workspace.sheet.grid();
  const renamed = [headings.with(headings.indexOf('City'), 'Town'), ...records];
  workspace.sheet.write(renamed);
  for (const _ of [1, 2]) {
    const report = await workspace.sync();
    expect(report).toMatchObject({
      status: 'partial',
      problems: [{ code: 'target.column-missing', field: 'city' }],
    });
    expect(workspace.sheet.grid()).toEqual(renamed);
  }

  await using other = await Workspace.open({ sandbox: { leads: 2 }, connection: { fields } });
  other.sheet.write([['Lead ID', 'Company']]);
  for (const _ of [1, 2])
    expect((await other.sync()).problems).toMatchObject([
      { code: 'target.column-missing', field: 'stage' },
      { code: 'row.column-missing' },
    ]);
  expect(other.sheet.grid()[0]).toEqual(['Lead ID', 'Company']);
});

import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

/** A list that is behind: from now on it shows all leads as they are now, while each by itself is up to date. */
function freezeList({ sandbox }: Workspace): void {
  sandbox.set({ listedAs: new Map(sandbox.leads.list().map((lead) => [lead.id, lead])) });
}

/** Types a city into the first rows. */
function editRows({ sheet }: Workspace, count: number): void {
  for (const [nth, { 'Lead ID': id }] of sheet.rows().slice(0, count).entries())
    sheet.edit((row) => row['Lead ID'] === id, { City: `Ulm ${nth}` });
}

const nothing = {
  created: { leads: 0, rows: 0 },
  updated: { leads: 0, rows: 0 },
  deleted: { leads: 0, rows: 0 },
};

test.each([1, 2, 5, 45])(
  'the list does not show yet what was written into %i leads: no row gets the older value, and nothing is stopped or held',
  async (count) => {
    await using workspace = await Workspace.open({ sandbox: { leads: 100 } });
    await workspace.sync();
    freezeList(workspace);
    editRows(workspace, count);
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: count, rows: 0 } });
    const file = workspace.sheet.text();

    expect(await workspace.run({ mode: 'plan' })).toMatchObject({ refusals: [] });
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', ...nothing });
    expect(workspace.sheet.text()).toBe(file);

    workspace.sandbox.set({ listedAs: new Map() });
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', ...nothing });
    expect(workspace.sheet.text()).toBe(file);
  },
);

test('a lead that shows its earlier value by itself too was edited: its row gets that value', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 100 } });
  await workspace.sync();
  const [first] = workspace.sandbox.leads.list();
  const [row] = workspace.sheet.rows().filter((one) => one['Lead ID'] === first?.id);
  workspace.sheet.edit((one) => one['Lead ID'] === first?.id, { City: 'Ulm' });
  await workspace.sync();

  workspace.sandbox.leads.edit(first?.id ?? '', { city: first?.city ?? '' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  expect(workspace.sheet.rows().find((one) => one['Lead ID'] === first?.id)).toEqual(row);
});

import { expect } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import type { Sheet } from '../../support/sheet.ts';
import { Workspace } from '../../support/workspace.ts';

export const fields = { companyName: 'Company', city: 'City', stage: 'Stage' };

export const nothing = { leads: 0, rows: 0 };

export const pointTo = (workspace: Workspace, path: string, target: object = {}): void =>
  workspace.configure({ fields, target: { path, ...target } });

export async function inStep(leads = 12, path = './leads.csv'): Promise<Workspace> {
  const workspace = await Workspace.open({ sandbox: { leads } });
  pointTo(workspace, path);
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: { rows: leads },
    problems: [],
  });
  return workspace;
}

export const leadsOf = ({ sandbox }: Workspace) => structuredClone(sandbox.leads.list());
export const idOf = ({ sandbox }: Workspace, at: number): string => sandbox.leads.list()[at]?.id ?? '';
export const cityOf = (sheet: Sheet, id: string): string | undefined =>
  sheet.rows().find((row) => row['Lead ID'] === id)?.['City'];
export const codes = ({ problems }: SyncReport): readonly string[] => problems.map(({ code }) => code);

export async function reasonsOf({ database }: Workspace, runId: string): Promise<readonly string[]> {
  const { rows } = await database.pool.query<{ reason: string }>(
    'select distinct reason from actions where run_id = $1 order by 1',
    [runId],
  );
  return rows.map(({ reason }) => reason);
}

/** What the place of a kind of target is asked to show, of the row of a lead. */
export interface Where {
  /** Makes the settings name the place. */
  readonly point: () => void;
  readonly city: (leadId: string) => string | undefined | Promise<string | undefined>;
  readonly edit: (leadId: string, city: string) => void | Promise<void>;
}

/** Synced, switched, edited in the service, switched back: the newer values arrive, nothing is reverted. */
export async function switchAndBack(workspace: Workspace, here: Where, there: Where): Promise<void> {
  here.point();
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 8 }, problems: [] });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing, problems: [] });
  const [a, b, c] = [idOf(workspace, 0), idOf(workspace, 1), idOf(workspace, 2)];
  there.point();
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: { leads: 0, rows: 8 },
    problems: [{ code: 'place.first-sync' }],
  });
  workspace.sandbox.leads.edit(a, { city: 'Ulm' });
  await there.edit(b, 'Bonn');
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1, rows: 1 },
    problems: [],
  });
  await here.edit(c, 'Jena');
  here.point();
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: nothing,
    updated: { leads: 1, rows: 2 },
    problems: [{ code: 'place.switched' }],
  });
  expect(await Promise.all([a, b, c].map(async (id) => here.city(id)))).toEqual(['Ulm', 'Bonn', 'Jena']);
  expect([a, b, c].map((id) => workspace.sandbox.leads.get(id)?.['city'])).toEqual(['Ulm', 'Bonn', 'Jena']);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing, problems: [] });
}

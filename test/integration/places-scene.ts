import { expect } from 'vitest';
import type { SyncReport } from '../../src/sync/report.ts';
import type { Sheet } from '../support/sheet.ts';
import { Workspace } from '../support/workspace.ts';

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

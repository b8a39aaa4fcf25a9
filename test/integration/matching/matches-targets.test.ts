import { expect, test, vi } from 'vitest';
import type { FieldMapping } from '../../../src/core/lead/mapping.ts';
import { startHubSpotSandbox } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { makeCsvHarness } from '../../contract/csv-harness.ts';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import { makePostgresTableHarness } from '../../contract/postgres-table-harness.ts';
import type { TargetHarness } from '../../contract/target-harness.ts';
import { makeXlsxHarness } from '../../contract/xlsx-harness.ts';
import { answer, matchesIn } from '../../support/held.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

vi.setConfig({ testTimeout: 60_000 });

const field = (name: string, column: string): FieldMapping => ({
  field: name,
  column,
  type: 'text',
  direction: 'two-way',
});
const fields = [field('companyName', 'Company'), field('city', 'City')];
const exact = { match: 'exact', onFirstSync: 'leads-win' };

test.each<[string, () => Promise<TargetHarness>]>([
  ['a CSV file', makeCsvHarness],
  ['a workbook', () => makeXlsxHarness()],
  ['a Google spreadsheet', () => makeGoogleSheetsHarness({})],
  ['a Postgres table', () => makePostgresTableHarness()],
])(
  '%s: what is the same is linked, what may be is asked, and linked when a person says so',
  async (_, make) => {
    await using harness = await make();
    await using here = await Workspace.open({
      connection: { fields: { companyName: 'Company', city: 'City' }, sync: exact },
    });
    const acme = here.sandbox.leads.add({ companyName: 'Acme', city: 'Berlin' });
    const dorn = here.sandbox.leads.add({ companyName: 'Dorn Logistik', city: 'Linz' });
    await harness.edit(() => [
      ['Lead ID', 'Company', 'Notes', 'City'],
      ['', 'ACME GmbH', 'mine', 'berlin'],
      ['', 'Dorn Logisitk', '', 'Linz'],
      ['', 'Ernst Bau', '', 'Graz'],
    ]);
    const sync = async (): Promise<SyncReport> => {
      await using app = await here.openApp();
      const context = app.contexts.get(connectionName);
      if (context === undefined) throw new Error('the connection is not configured');
      const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 3 } as const;
      const target = harness.target({ fields });
      for (;;) {
        const result = await advanceRun({ ...context, target }, request, new AbortController().signal);
        if (result.kind === 'finished') return result.run.report as SyncReport;
      }
    };
    const rows = async () => (await harness.show())?.slice(1).map((row) => row.slice(0, 4));
    expect(await sync()).toMatchObject({ created: { leads: 1, rows: 0 }, held: 1 });
    const ernst = here.sandbox.leads.list().find(({ companyName }) => companyName === 'Ernst Bau')?.id;
    expect(await rows()).toEqual([
      [acme.id, 'Acme', 'mine', 'Berlin'],
      ['', 'Dorn Logisitk', '', 'Linz'],
      [ernst, 'Ernst Bau', '', 'Graz'],
    ]);
    const { pool } = here.database;
    const [match] = await matchesIn(pool);
    expect(match).toMatchObject({ leadId: dorn.id, state: 'proposed' });
    await answer(pool, match?.id, 'link');
    expect(await sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 0 }, held: 0 });
    expect((await rows())?.[1]).toEqual([dorn.id, 'Dorn Logistik', '', 'Linz']);
    expect(await sync()).toMatchObject({ updated: { leads: 0, rows: 0 }, created: { leads: 0, rows: 0 } });
    expect(here.sandbox.leads.list()).toHaveLength(3);
  },
);

test('HubSpot: companies that nobody asked a lead for get the id of theirs; of the others nothing is made, and nothing is written to them', async () => {
  await using portal = await startHubSpotSandbox({ limits: null });
  const { person } = portal;
  const target = { type: 'hubspot', token: '${HUBSPOT_TOKEN}', statusColumn: 'lead_status', path: undefined };
  await using here = await Workspace.open({
    connection: { target, sync: exact },
    env: { HUBSPOT_URL: portal.url, HUBSPOT_TOKEN: portal.token },
  });
  const acme = here.sandbox.leads.add({ companyName: 'Acme', city: 'Berlin', stage: 'won' });
  const dorn = here.sandbox.leads.add({ companyName: 'Dorn Logistik', city: 'Linz' });
  const ours = person.create({ name: 'ACME GmbH', city: 'berlin' });
  const alike = person.create({ name: 'Dorn Logisitk', city: 'Linz' });
  const other = person.create({ name: 'Nobody asked', city: 'Graz' });
  const shown = (id: string) => person.companies().find((company) => company.id === id);
  // Of properties that were made since it shows null.
  const filled = (id: string) =>
    Object.entries(shown(id)?.properties ?? {}).filter(([, value]) => value !== null);
  const before = filled(other);
  expect(await here.sync()).toMatchObject({
    created: { leads: 0, rows: 0 },
    held: 1,
    problems: [{ code: 'match.proposed', leadId: dorn.id }],
  });
  expect(shown(ours)?.properties).toMatchObject({ lead_id: acme.id, name: 'Acme', city: 'Berlin' });
  const { pool } = here.database;
  const [match] = await matchesIn(pool);
  await answer(pool, match?.id, 'link');
  expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 0 } });
  expect(shown(alike)?.properties).toMatchObject({ lead_id: dorn.id, name: 'Dorn Logistik' });
  expect(filled(other)).toEqual(before);
  expect(person.companies()).toHaveLength(3);
  expect(here.sandbox.leads.list()).toHaveLength(2);
  expect(await here.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });

  // One that lost its id gets it back, though nobody ever asked a lead for it.
  person.edit(ours, { lead_id: '' });
  expect(await here.sync()).toMatchObject({
    status: 'succeeded',
    created: { leads: 0, rows: 0 },
    updated: { rows: 1 },
  });
  expect(shown(ours)?.properties['lead_id']).toBe(acme.id);
});

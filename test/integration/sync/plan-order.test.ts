import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Action } from '../../../src/store/actions.ts';
import { parseFaults } from '../../../src/demo/faults.ts';
import { Workspace } from '../../support/workspace.ts';

const twin = { Company: 'Twin GmbH', City: 'Ulm' };

/** A workspace in which every kind of decision is due: edits, conflicts, deletes, new ones, and a create in doubt. */
async function openBusy(): Promise<Workspace> {
  const here = await Workspace.open({ sandbox: { leads: 16, order: 'random' } });
  const { leads } = here.sandbox;
  await here.sync();
  const ids = leads.list().map(({ id }) => id);
  const isRow = (at: number) => (row: Readonly<Record<string, string>>) => row['Lead ID'] === ids[at];
  leads.remove(ids[0] ?? '');
  leads.remove(ids[1] ?? '');
  here.sheet.edit(isRow(1), { City: 'edited after the lead was deleted' });

  // Misses the two once. Two rows alike: the reply of the first create is lost, and the service is gone before the second.
  here.sheet.add(twin);
  here.sheet.add(twin);
  here.sandbox.set({ faults: parseFaults('lost-reply:once=1,on=POST;503:after=2,on=list') });
  await here.sync();
  here.sandbox.set({ faults: [] });

  for (const at of [2, 3, 4]) leads.edit(ids[at] ?? '', { stage: 'from the lead' });
  for (const at of [4, 5, 6]) here.sheet.edit(isRow(at), { Stage: 'from the row' });
  here.sheet.edit(isRow(6), { 'Next follow-up': 'some day' });
  here.sheet.remove(isRow(7));
  here.sheet.remove(isRow(8));
  leads.edit(ids[8] ?? '', { city: 'edited after the row was deleted' });
  leads.add({ companyName: 'New in the service' });
  here.sheet.add({ Company: 'New in the file', Stage: 'new' });
  here.sheet.add({ City: 'without a name' });
  here.sheet.add({ 'Lead ID': 'nobody knows', Company: 'Orphan' });
  return here;
}

/** What the plan says; not where a row stands, which is for people alone. */
async function plannedActions(here: Workspace): Promise<readonly string[]> {
  const run = await here.run({ mode: 'plan' });
  expect(run.status).not.toBe('failed');
  const { rows } = await here.database.pool.query<Action>(
    `select kind, lead_id as "leadId", content_hash as "contentHash", changes, expect, reason, fingerprint from actions where run_id = $1`,
    [run.id],
  );
  return rows.map((action) => JSON.stringify(action)).toSorted();
}

test('same input, same plan: the order and the size of the pages and the order of the rows do not matter', async () => {
  await using here = await openBusy();
  const plan = await plannedActions(here);
  const kinds = plan.map((text) => (JSON.parse(text) as Action).kind);
  expect(new Set(kinds)).toEqual(
    new Set(['create-row', 'update-row', 'mark-row', 'create-lead', 'update-lead', 'hold', 'link']),
  );

  const [headings = [], ...records] = here.sheet.grid();
  const places = here.sandbox.leads.places('shuffled');
  const anyOrder = fc.shuffledSubarray(records, { minLength: records.length });
  const anySwaps = fc.array(fc.tuple(fc.nat(places.length - 1), fc.nat(places.length - 1)), {
    minLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(anyOrder, anySwaps, fc.integer({ min: 1, max: 20 }), async (rows, swaps, maxLimit) => {
      here.sheet.write([headings, ...rows]);
      for (const [place, other] of swaps) places.swap(place, other);
      here.sandbox.set({ maxLimit });
      expect(await plannedActions(here)).toEqual(plan);
    }),
    { numRuns: 10 },
  );
});

import { expect, test } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

/** A sync during which `meanwhile` happens in the table, just before the first write. */
async function syncWhile(here: Workspace, meanwhile: () => void): Promise<SyncReport> {
  await using app = await here.openApp();
  const context = app.contexts.get(connectionName);
  if (context === undefined) throw new Error('the connection is not configured');
  let isOver = false;
  const target = new Proxy(context.target, {
    get(real, name) {
      if (name === 'write' && !isOver) {
        isOver = true;
        meanwhile();
      }
      const value: unknown = Reflect.get(real, name, real);
      return typeof value === 'function' ? (value.bind(real) as unknown) : value;
    },
  });
  const request = { mode: 'sync', allow: [], maxAttempts: 1 } as const;
  const result = await advanceRun({ ...context, target }, request, new AbortController().signal);
  if (result.kind !== 'finished') throw new Error(`the run is to be taken up again: ${result.why}`);
  return result.run.report as SyncReport;
}

/** A lead that was edited in the service while its row lacks the id; the id comes back by hand during the next sync. */
async function editedWithoutId(alsoTyped: Readonly<Record<string, string>>) {
  const here = await Workspace.open({ sandbox: { leads: 3 } });
  await here.sync();
  const [lead] = here.sandbox.leads.list();
  if (lead === undefined) throw new Error('there are no leads');
  here.sheet.edit((row) => row['Lead ID'] === lead.id, { 'Lead ID': '' });
  here.sandbox.leads.edit(lead.id, { city: 'Moved in the service' });
  const putBack = (): void =>
    here.sheet.edit((row) => row['Lead ID'] === '', { 'Lead ID': lead.id, ...alsoTyped });
  const shown = () => ({
    lead: here.sandbox.leads.get(lead.id)?.city,
    row: here.sheet.rows().find((row) => row['Lead ID'] === lead.id)?.['City'],
  });
  return { here, putBack, shown };
}

test('an id that a person puts back while it is being written back: the edit of the lead reaches the row', async () => {
  const { here, putBack, shown } = await editedWithoutId({});
  await using _ = here;
  expect(await syncWhile(here, putBack)).toMatchObject({
    status: 'succeeded',
    updated: { leads: 0, rows: 1 },
  });
  expect(shown()).toEqual({ lead: 'Moved in the service', row: 'Moved in the service' });
  expect(await here.sync()).toMatchObject({ updated: { leads: 0, rows: 0 }, held: 0 });
});

test('a person puts the id back and edits the field that the lead changed too: a conflict, both values stay', async () => {
  const { here, putBack, shown } = await editedWithoutId({ City: 'Typed in the row' });
  await using _ = here;
  expect(await syncWhile(here, putBack)).toMatchObject({ status: 'partial', putOff: 1 });
  expect(await here.sync()).toMatchObject({ held: 1, problems: [{ code: 'conflict.both-edited' }] });
  expect(shown()).toEqual({ lead: 'Moved in the service', row: 'Typed in the row' });
});

import { pino } from 'pino';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { history } from '../../../src/store/history.ts';
import type { SyncContext } from '../../../src/sync/context.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { otherTarget } from '../../support/other-target.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

/** A sync whose writes to the target fail, after they were carried out or before; it gives up, or tries once more. */
async function syncInVain(
  workspace: Workspace,
  isCarriedOut: boolean,
  { maxAttempts = 1, meanwhile = () => {} }: { maxAttempts?: number; meanwhile?: () => void } = {},
): Promise<void> {
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  let isOver = false;
  const target = otherTarget(real.target, {
    write: async (...args) => {
      if (isOver) return real.target.write(...args);
      if (isCarriedOut) await real.target.write(...args);
      meanwhile();
      isOver = maxAttempts > 1;
      throw new LeadsyncError('target.unavailable', 'no reply', { retry: 'later', retryAfterMs: 1 });
    },
  });
  const context: SyncContext = { ...real, log: pino({ level: 'silent' }), target };
  const request = { mode: 'sync', allow: ['first-leads'], maxAttempts } as const;
  for (let turn = 0; turn < maxAttempts; turn++) {
    const { kind } = await advanceRun(context, request, new AbortController().signal);
    expect(kind).toBe(turn + 1 < maxAttempts ? 'again' : 'finished');
  }
}

test.each([true, false])(
  'no edit is lost: what a write replaced in a row is on record, though nobody heard of the write (it came about: %s)',
  async (isCarriedOut) => {
    await using here = await Workspace.open({
      sandbox: { leads: 2 },
      connection: { sync: { direction: 'to-target' } },
    });
    await here.sync();
    const [lead] = here.sandbox.leads.list();
    here.sheet.edit((row) => row['Lead ID'] === lead?.id, { City: 'typed' });
    await syncInVain(here, isCarriedOut);
    await here.sync();
    await here.sync();

    expect(here.sheet.rows().find((row) => row['Lead ID'] === lead?.id)?.['City']).toBe(lead?.city);
    const { rows } = await here.database.pool.query(
      `select distinct before::text, after::text from ${history} h where lead_id = $1 and field = 'city'`,
      [lead?.id],
    );
    expect(rows).toEqual([{ before: '"typed"', after: JSON.stringify(lead?.city) }]);
  },
);

test.each([1, 2])(
  'nothing twice: the ids of new rows are cleared before anybody heard that they were written (%i tries)',
  async (maxAttempts) => {
    await using here = await Workspace.open({ sandbox: { leads: 3 } });
    await syncInVain(here, true, {
      maxAttempts,
      meanwhile: () => here.sheet.edit(() => true, { 'Lead ID': '' }),
    });
    expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 0 } });
    expect(here.sandbox.leads.size).toBe(3);
    const ids = here.sandbox.leads.list().map(({ id }) => id);
    expect(new Set(here.sheet.rows().map((row) => row['Lead ID']))).toEqual(new Set(ids));
    expect(here.sheet.rows()).toHaveLength(3);
    expect(await here.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
  },
);

test('nothing twice: a new row that nobody heard of lost its id and was edited', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 3 } });
  await syncInVain(here, true);
  const [first] = here.sheet.rows();
  here.sheet.edit((row) => row['Lead ID'] === first?.['Lead ID'], {
    'Lead ID': '',
    City: 'typed',
  });
  expect(await here.sync()).toMatchObject({
    created: { leads: 0, rows: 0 },
    problems: [{ code: 'row.id-lost', row: 2 }],
  });
  here.sheet.edit((row) => row['Lead ID'] === '', { 'Lead ID': first?.['Lead ID'] ?? '' });
  await here.sync();
  expect(here.sandbox.leads.size).toBe(3);
  expect(here.sheet.rows()).toHaveLength(3);
});

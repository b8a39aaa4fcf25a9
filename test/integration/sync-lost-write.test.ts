import { pino } from 'pino';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../src/errors.ts';
import type { SyncContext } from '../../src/sync/context.ts';
import { advanceRun } from '../../src/sync/run.ts';
import type { Target } from '../../src/targets/target.ts';
import { connectionName, Workspace } from '../support/workspace.ts';

/** A sync whose writes to the target fail, after they were carried out or before; it gives up. */
async function syncInVain(workspace: Workspace, isCarriedOut: boolean): Promise<void> {
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  const target: Target = {
    name: real.target.name,
    batchSize: real.target.batchSize,
    get requests() {
      return real.target.requests;
    },
    open: (...args) => real.target.open(...args),
    write: async (...args) => {
      if (isCarriedOut) await real.target.write(...args);
      throw new LeadsyncError('target.unavailable', 'no reply', { retry: 'later', retryAfterMs: 1 });
    },
  };
  const context: SyncContext = { ...real, log: pino({ level: 'silent' }), target };
  const request = { mode: 'sync', allow: [], patience: 1 } as const;
  const { kind } = await advanceRun(context, request, new AbortController().signal);
  expect(kind).toBe('finished');
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
      `select distinct before::text, after::text from history where lead_id = $1 and field = 'city'`,
      [lead?.id],
    );
    expect(rows).toEqual([{ before: '"typed"', after: JSON.stringify(lead?.city) }]);
  },
);

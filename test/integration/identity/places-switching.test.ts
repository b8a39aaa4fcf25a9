import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { WorkerApp } from '../../../src/worker/open-worker.ts';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { planReminders } from '../../../src/reminders/plan/plan-reminders.ts';
import { forgetPlaces } from '../../../src/store/places.ts';
import type { Run } from '../../../src/store/runs.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { Sheet } from '../../support/sheet.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';
import { fields, nothing } from './places-scene.ts';

const never = new AbortController().signal;

const pointTo = (workspace: Workspace, path: string, more: object = {}): void =>
  workspace.configure({ fields, target: { path }, ...more });

const keysOf = async ({ database }: Workspace): Promise<unknown> =>
  (await database.pool.query(`select connection, count(*)::int from pairs group by 1 order by 1`)).rows;

const currentOf = async ({ database }: Workspace): Promise<string | undefined> =>
  (await database.pool.query<{ address: string }>(`select address from places where is_current`)).rows[0]
    ?.address;

test('killed in the middle of a switch: all of it is done, or none; and it goes on', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 40 } });
  pointTo(workspace, './leads.csv');
  await workspace.sync();
  const before = await keysOf(workspace);
  const other = new Sheet(join(workspace.folder, 'other.csv'));
  pointTo(workspace, './other.csv');

  // The switch waits for this lock when the pairs have changed their keys already.
  const client = await workspace.database.pool.connect();
  try {
    await client.query('begin');
    await client.query('lock table held in exclusive mode');
    const process = workspace.start(['sync']);
    await until('the switch has begun', async () => {
      const { rows } = await workspace.database.pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update held set connection%'`,
      );
      return rows.length > 0;
    });
    await process.kill();
  } finally {
    await client.query('rollback');
    client.release();
  }
  await until('its transaction is over', async () => {
    const { rows } = await workspace.database.pool.query(
      `select from pg_stat_activity where query like 'update held set connection%' and state <> 'idle' and pid <> pg_backend_pid()`,
    );
    return rows.length === 0;
  });
  expect(await keysOf(workspace)).toEqual(before);
  expect(await currentOf(workspace)).toContain('leads.csv');

  pointTo(workspace, './leads.csv');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: nothing, updated: nothing });
  pointTo(workspace, './other.csv');
  const killed = workspace.start(['sync']);
  await until('the switch is done', async () => (await currentOf(workspace))?.includes('other.csv') === true);
  await killed.kill();
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0 } });
  expect(other.rows()).toHaveLength(40);
  pointTo(workspace, './leads.csv');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: nothing, updated: nothing });
});

/** One app's sync to its end, as often as another one is in the way. */
async function syncOf(app: WorkerApp): Promise<Run> {
  const context = app.contexts.get('main');
  if (context === undefined) throw new Error('no connection');
  for (;;) {
    const result = await advanceRun(context, { mode: 'sync', allow: [], maxAttempts: 20 }, never);
    if (result.kind === 'finished') return result.run;
    await sleep(Math.min(result.afterMs, 100));
  }
}

test('a worker and a command with different targets on one state: each goes on from its own baseline', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 12 } });
  pointTo(workspace, './leads.csv');
  await using worker = await workspace.openApp();
  pointTo(workspace, './other.csv');
  await using command = await workspace.openApp();
  await syncOf(worker);
  await syncOf(command);
  const [here, there] = [workspace.sheet, new Sheet(join(workspace.folder, 'other.csv'))];
  const ids = workspace.sandbox.leads.list().map(({ id }) => id);
  const expected = new Map<string, string>();
  for (let round = 0; round < 3; round++) {
    const [a = '', b = '', c = ''] = ids.slice(3 * round);
    workspace.sandbox.leads.edit(a, { city: `service ${round}` });
    here.edit((row) => row['Lead ID'] === b, { City: `here ${round}` });
    there.edit((row) => row['Lead ID'] === c, { City: `there ${round}` });
    expected.set(a, `service ${round}`).set(b, `here ${round}`).set(c, `there ${round}`);
    await Promise.all([syncOf(worker), syncOf(command)]);
  }
  await syncOf(worker);
  await syncOf(command);
  await syncOf(worker);
  for (const [id, city] of expected) {
    expect(workspace.sandbox.leads.get(id)?.['city']).toBe(city);
    for (const sheet of [here, there])
      expect(sheet.rows().find((row) => row['Lead ID'] === id)?.['City']).toBe(city);
  }
  expect(await keysOf(workspace)).toHaveLength(2);
});

test('a run that was interrupted and finds itself in another place begins anew there', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 12 } });
  const link = join(workspace.folder, 'link');
  for (const folder of ['one', 'two']) mkdirSync(join(workspace.folder, folder));
  symlinkSync('one', link);
  pointTo(workspace, './link/leads.csv');
  await using app = await workspace.openApp();
  const context = app.contexts.get('main');
  if (context === undefined) throw new Error('no connection');
  const leads = Object.create(context.leads, {
    list: { value: () => Promise.reject(new LeadsyncError('leads.unavailable', 'away', { retry: 'now' })) },
    requests: { value: 0 },
    pacedMs: { value: 0 },
    answerMs: { value: 0 },
  }) as typeof context.leads;
  const request = { mode: 'sync', allow: [], maxAttempts: 9 } as const;
  expect(await advanceRun({ ...context, leads }, request, never)).toMatchObject({ kind: 'again' });
  const { pool } = workspace.database;
  const places = 'select r.id, p.identity from runs r join places p on p.id = r.place order by 1';
  expect((await pool.query(places)).rows).toEqual([
    { id: 1, identity: expect.stringContaining('/one/leads.csv') },
  ]);
  rmSync(link);
  symlinkSync('two', link);
  await pool.query(`update runs set progress_at = now() - interval '2 minutes'`);
  expect(await syncOf(app)).toMatchObject({ id: 1, status: 'succeeded' });
  expect((await pool.query(places)).rows).toEqual([
    { id: 1, identity: expect.stringContaining('/two/leads.csv') },
  ]);
  expect(existsSync(join(workspace.folder, 'one', 'leads.csv'))).toBe(false);
  expect(readFileSync(join(workspace.folder, 'two', 'leads.csv'), 'utf8')).toContain('Lead ID');
});

test('reminders stand while a new place is filled', async () => {
  const reminders = { to: ['sales@example.com'], before: ['1d'] };
  const all = { companyName: 'Company', nextFollowUpAt: 'Next follow-up' };
  await using workspace = await Workspace.open({ sandbox: { leads: 8 } });
  const point = (path: string): void => workspace.configure({ fields: all, target: { path }, reminders });
  point('./leads.csv');
  for (const { id } of workspace.sandbox.leads.list())
    workspace.sandbox.leads.edit(id, { nextFollowUpAt: '2035-01-05T09:00:00.000Z' });
  const plan = async (): Promise<unknown> => {
    await using app = await workspace.openApp();
    const context = app.contexts.get('main');
    if (context === undefined) throw new Error('no connection');
    await planReminders(workspace.database.pool, context.connection);
    return (
      await workspace.database.pool.query(
        `select state, count(*)::int from mails where kind <> 'digest' group by 1 order by 1`,
      )
    ).rows;
  };
  await workspace.sync();
  expect(await plan()).toEqual([{ state: 'scheduled', count: 8 }]);
  point('./other.csv');
  await using app = await workspace.openApp();
  const context = app.contexts.get('main');
  if (context === undefined) throw new Error('no connection');
  // As long as the target asks to wait no row is written.
  const { target } = context;
  const slow = Object.create(target, {
    write: {
      value: () => Promise.reject(new LeadsyncError('target.rate-limited', 'later', { retry: 'later' })),
    },
    open: { value: target.open.bind(target) },
    place: { value: target.place?.bind(target) },
    isLeft: { value: target.isLeft?.bind(target) },
    version: { value: () => null },
    contentTag: { value: () => null },
    conflictCopies: { value: target.conflictCopies?.bind(target) },
    batchSize: { value: 100 },
    requests: { value: 0 },
    name: { value: target.name },
  }) as typeof target;
  const request = { mode: 'sync', allow: [], maxAttempts: 1 } as const;
  expect(await advanceRun({ ...context, target: slow }, request, never)).toMatchObject({ kind: 'again' });
  expect(await currentOf(workspace)).toContain('other.csv');
  expect(await plan()).toEqual([{ state: 'scheduled', count: 8 }]);
  await workspace.sync();
  expect(await plan()).toEqual([{ state: 'scheduled', count: 8 }]);
});

test('a former place is forgotten 90 days after it was left, at the least', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 5 } });
  pointTo(workspace, './leads.csv');
  await workspace.sync();
  pointTo(workspace, './other.csv');
  await workspace.sync();
  const { pool } = workspace.database;
  const never = new AbortController().signal;
  const age = (days: number) =>
    pool.query(
      `update places set switched_at = now() - $1 * interval '1 day', seen_at = now() - $1 * interval '1 day' where not is_current`,
      [days],
    );
  await age(89);
  expect(await forgetPlaces(pool, 'main', 30, never)).toBe(0);
  await age(91);
  expect(await forgetPlaces(pool, 'main', 120, never)).toBe(0);
  expect(await forgetPlaces(pool, 'main', 30, never)).toBe(1);
  expect(await keysOf(workspace)).toEqual([{ connection: 'main', count: 5 }]);
  pointTo(workspace, './leads.csv');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: nothing, updated: nothing });
});

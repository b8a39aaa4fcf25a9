import { pino } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { WorkerApp } from '../../../src/worker/open-worker.ts';
import { type ListedAction, listActions } from '../../../src/store/run-list.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import type { RowOutcome, Target } from '../../../src/ports/target.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

type Write = Target['write'];

/** A first sync of five leads into a table with scripted writes. Returns their ids in the order of the service. */
async function firstSync(
  workspace: Workspace,
  write: (real: Write, app: WorkerApp, ...args: Parameters<Write>) => ReturnType<Write>,
): Promise<SyncReport> {
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  const written: Write = (...args) => real.target.write(...args);
  const target = Object.create(real.target, {
    write: { value: (...args: Parameters<Write>) => write(written, app, ...args) },
    open: { value: real.target.open.bind(real.target) },
    version: { value: real.target.version?.bind(real.target) },
    place: { value: real.target.place?.bind(real.target) },
    conflictCopies: { value: real.target.conflictCopies?.bind(real.target) },
    standingWrites: { value: real.target.standingWrites?.bind(real.target) },
    contentTag: { value: real.target.contentTag?.bind(real.target) },
    batchSize: { value: 2 },
    requests: { get: () => real.target.requests },
    name: { value: real.target.name },
  }) as Target;
  const context = { ...real, log: pino({ level: 'silent' }), target };
  for (;;) {
    const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 5 } as const;
    const result = await advanceRun(context, request, new AbortController().signal);
    if (result.kind === 'finished') return result.run.report as SyncReport;
    await sleep(result.afterMs);
  }
}

async function linesOf(workspace: Workspace) {
  const { pool } = workspace.database;
  const own = await pool.query(
    `select lead_id as "leadId", state, receipt from actions where body is null order by id`,
  );
  const pages = await pool.query(
    `select leads, state, receipt from actions where body is not null order by id`,
  );
  return { own: own.rows, pages: pages.rows };
}

const writtenPages = (...leads: readonly number[]) =>
  leads.map((count) => ({ leads: count, state: 'done', receipt: 'equal' }));

/** All that a run did, as it is listed, some at a time. */
async function pagesOf({ database }: Workspace, { runId }: SyncReport, size: number) {
  const run = { id: Number(runId), round: 1, undoOf: null };
  const listed: ListedAction[] = [];
  for (;;) {
    const last = listed.at(-1)?.id ?? 0;
    const some = await listActions(database.pool, run, last, size);
    for (const { id } of some) expect(Number.isSafeInteger(id) && id > last).toBe(true);
    if (some.length === 0) return listed;
    listed.push(...some);
  }
}

const ids = ({ sandbox }: Workspace): readonly string[] => sandbox.leads.list().map(({ id }) => id);

test('new leads are one line of the plan and become pairs when their rows are written', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 5 } });
  const report = await firstSync(workspace, async (write, { pool }, ...args) => {
    // None of those that are about to be written.
    const { rows } = await pool.query('select from pairs where lead_id = any($1)', [
      args[0].map(({ leadId }) => leadId),
    ]);
    expect(rows).toEqual([]);
    return write(...args);
  });
  expect(report).toMatchObject({
    status: 'succeeded',
    created: { rows: 5 },
    receipt: { records: 5, equal: 5 },
  });
  expect(await linesOf(workspace)).toEqual({ own: [], pages: writtenPages(2, 2, 1) });
});

test('a new row that the table does not take has an action of its own, and the next sync makes it', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 5 } });
  const [, second = '', third = ''] = ids(workspace);
  const refused = new Map<string, RowOutcome['status']>([
    [second, 'held'],
    [third, 'deferred'],
  ]);
  const report = await firstSync(workspace, async (write, _, changes, ...rest) => {
    const taken = changes.filter(({ leadId }) => !refused.has(leadId ?? ''));
    const outcomes = new Map((await write(taken, ...rest)).map((outcome) => [outcome.key, outcome]));
    return changes.map(({ key, leadId }): RowOutcome => {
      const status = refused.get(leadId ?? '');
      const left = { key, code: 'row.refused', message: 'not today' };
      return status === 'held' || status === 'deferred'
        ? { ...left, status }
        : (outcomes.get(key) as RowOutcome);
    });
  });
  expect(report).toMatchObject({
    status: 'partial',
    created: { rows: 3 },
    held: 1,
    putOff: 1,
    receipt: { records: 5, equal: 3, held: 1, putOff: 1, unexplained: 0 },
  });
  expect(await linesOf(workspace)).toEqual({
    own: [
      { leadId: second, state: 'held', receipt: null },
      { leadId: third, state: 'deferred', receipt: null },
    ],
    pages: writtenPages(1, 1, 1),
  });
  const listed = await pagesOf(workspace, report, 2);
  expect(listed.map(({ leadId }) => leadId)).toEqual([
    second,
    third,
    ...ids(workspace).filter((id) => !refused.has(id)),
  ]);
  expect(listed.at(-1)).toMatchObject({
    kind: 'create-row',
    state: 'done',
    changes: { city: { from: null } },
  });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 2 } });
  expect(workspace.sheet.rows()).toHaveLength(5);
});

test('new rows that are not as they were written are named one by one', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 5 } });
  const [first = '', , , fourth = ''] = ids(workspace);
  const report = await firstSync(workspace, async (write, _, changes, ...rest) => {
    const outcomes = await write(changes, ...rest);
    const [headings = [], ...rows] = workspace.sheet.grid();
    const [id, city] = [headings.indexOf('Lead ID'), headings.indexOf('City')];
    const left = rows.filter((row) => row[id] !== first);
    for (const row of left) if (row[id] === fourth) row[city] = 'Elsewhere';
    workspace.sheet.write([headings, ...left]);
    return outcomes;
  });
  expect(report).toMatchObject({
    status: 'failed',
    receipt: { records: 5, equal: 3, putOff: 1, unexplained: 1 },
  });
  expect(report.problems.map(({ code, leadId }) => [code, leadId])).toEqual([
    ['receipt.unexplained', first],
    ['receipt.changed', fourth],
  ]);
  expect((await linesOf(workspace)).pages).toEqual(writtenPages(1, 1, 1));
});

test('a lead that has become a pair before its row was written keeps that pair', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 5 } });
  const [, second = ''] = ids(workspace);
  const report = await firstSync(workspace, async (write, { pool }, ...args) => {
    await pool.query(
      `insert into pairs (connection, lead_id, base) values ($1, $2, '{"stage": "old"}') on conflict do nothing`,
      [connectionName, second],
    );
    return write(...args);
  });
  // A baseline that this run did not make: the audit says so.
  expect(report).toMatchObject({
    status: 'partial',
    created: { rows: 5 },
    receipt: { equal: 5 },
    problems: [{ code: 'audit.unexplained', leadId: second }],
  });
  expect((await linesOf(workspace)).own).toEqual([{ leadId: second, state: 'done', receipt: null }]);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
});

test('a row that somebody adds before the first rows are written is not taken for ours: its lead is made', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 5 } });
  let isTyped = false;
  const report = await firstSync(workspace, (write, _app, ...args) => {
    if (!isTyped) workspace.sheet.add({ Company: 'Typed GmbH' });
    isTyped = true;
    return write(...args);
  });
  expect(report).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 5 } });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 1, rows: 0 } });
});

import { pino } from 'pino';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { withCalls } from '../../../src/leads-api/leads-client.ts';
import type { LeadsPort } from '../../../src/ports/leads-service.ts';
import { history } from '../../../src/store/history.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { CrashPoints } from '../../chaos/crash-points.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

/** A sync over `leadsOf` of the real port, taken up again until it has ended. */
async function syncOver(
  workspace: Workspace,
  leadsOf: (leads: LeadsPort) => LeadsPort,
  onAgain = async (): Promise<void> => {},
  points = new CrashPoints(null),
): Promise<SyncReport> {
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  const pool = points.pool(real.pool);
  const context = { ...real, pool, log: pino({ level: 'silent' }), leads: leadsOf(real.leads) };
  const request = { mode: 'sync', allow: ['whole-field', 'max-changes'], maxAttempts: 5 } as const;
  for (;;) {
    const result = await advanceRun(context, request, new AbortController().signal);
    if (result.kind === 'finished') return result.run.report as SyncReport;
    await onAgain();
  }
}

/** A port with four lanes in which `around` stands around each request but those of the scan. */
function fourLanes(
  leads: LeadsPort,
  around: <T>(what: string, leadId: string, request: () => Promise<T>) => Promise<T>,
): LeadsPort {
  return withCalls(leads, {
    lanes: 4,
    get: (...args) => around('get', args[0], () => leads.get(...args)),
    create: (...args) => around('create', '', () => leads.create(...args)),
    update: (...args) => around('update', args[0], () => leads.update(...args)),
    delete: (...args) => around('delete', args[0], () => leads.delete(...args)),
  });
}

test('four leads are written at a time, one request for each; creates one after the other', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 40 },
    connection: { sync: { onRowDeleted: 'delete-lead', limits: { maxDeletes: '50%' } } },
  });
  const { sandbox, sheet } = workspace;
  await workspace.sync();
  const ids = sandbox.leads.list().map(({ id }) => id);
  const gone = ids.slice(0, 3);
  sheet.remove((row) => gone.includes(row['Lead ID'] ?? ''));
  await workspace.sync();
  sheet.edit(() => true, { City: 'Ulm' });
  for (let number = 0; number < 3; number++) sheet.add({ Company: 'Neu GmbH', City: 'Bonn' });

  const underWay = new Map<string, number>();
  const [most, written] = [{ inAll: 0, ofOne: 0 }, [] as string[]];
  const report = await syncOver(workspace, (leads) =>
    fourLanes(leads, async (what, leadId, request) => {
      const ofOne = (underWay.get(leadId) ?? 0) + 1;
      underWay.set(leadId, ofOne);
      const inAll = [...underWay.values()].reduce((sum, count) => sum + count);
      most.inAll = Math.max(most.inAll, inAll);
      most.ofOne = Math.max(most.ofOne, ofOne);
      if (what !== 'get') written.push(`${what} ${leadId}`);
      try {
        return await request();
      } finally {
        underWay.set(leadId, (underWay.get(leadId) ?? 0) - 1);
      }
    }),
  );
  expect(report).toMatchObject({
    created: { leads: 3 },
    updated: { leads: 37 },
    deleted: { leads: 3 },
    problems: [],
  });
  expect(most).toEqual({ inAll: 4, ofOne: 1 });
  const each = ids.map((id) => `${gone.includes(id) ? 'delete' : 'update'} ${id}`);
  const creates = ['create ', 'create ', 'create '];
  expect(written.toSorted()).toEqual([...each, ...creates].toSorted());
});

test('what became of twenty leads is stored at once, with the beginning of the next twenty; so is what is read of them again', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 60, updateReply: 'nothing-204' } });
  const { sheet } = workspace;
  await workspace.sync();
  sheet.edit(() => true, { City: 'Ulm' });
  const points = new CrashPoints(null);
  const report = await syncOver(
    workspace,
    (leads) => leads,
    async () => {},
    points,
  );
  expect(report).toMatchObject({ status: 'succeeded', updated: { leads: 60 } });
  const commits = (step: string): number => points.names.filter((name) => name.startsWith(step)).length;
  // The first twenty begin alone; at the end it is asked whether more was written.
  expect([commits('push-leads'), commits('verify')]).toEqual([1 + 3, 3 + 1]);
});

test('a pause in the middle of four: what was not sent is no try and leaves no line, the rest is done once', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 30 } });
  const { sandbox, sheet, database } = workspace;
  await workspace.sync();
  sheet.edit(() => true, { City: 'Ulm' });
  let updates = 0;
  const pauses: { unsent: number; attempts: number }[] = [];
  const report = await syncOver(
    workspace,
    (leads) =>
      fourLanes(leads, (what, _leadId, request) => {
        if (what !== 'update' || ++updates !== 6) return request();
        throw new LeadsyncError('leads.rate-limited', 'wait', { retry: 'later', retryAfterMs: 0 });
      }),
    async () => {
      const { rows } = await database.pool.query<{ unsent: number; attempts: number }>(
        `select sum((state = 'done')::int - (select count(distinct action_id) from ${history} h where h.action_id = a.id))::int as unsent,
           sum(attempts) filter (where state <> 'done')::int as attempts from actions a where kind = 'update-lead'`,
      );
      pauses.push(...rows);
    },
  );
  expect(report).toMatchObject({ status: 'succeeded', updated: { leads: 30 } });
  expect([updates, pauses]).toEqual([31, [{ unsent: 0, attempts: 0 }]]);
  expect(sandbox.leads.list().filter(({ city }) => city !== 'Ulm')).toEqual([]);
  const { rows } = await database.pool.query(
    `select count(*)::int as lines, count(distinct lead_id)::int as leads from ${history} h where side = 'lead' and field = 'city'`,
  );
  expect(rows).toEqual([{ lines: 30, leads: 30 }]);
});

test('replies that are not what is read afterwards: all that they showed is read again, in later runs, too', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 8 } });
  const { sandbox, sheet } = workspace;
  await workspace.sync();
  const gets = async (city: string): Promise<number> => {
    sheet.edit(() => true, { City: city });
    const before = sandbox.stats.byRoute.get;
    await workspace.sync({ allow: ['whole-field', 'max-changes'], maxAttempts: 5 });
    return sandbox.stats.byRoute.get - before;
  };
  // Each is looked at before; of true replies three are checked.
  expect(await gets('Ulm')).toBe(8 + 3);

  const edit = sandbox.leads.edit.bind(sandbox.leads);
  const [first] = sandbox.leads.list();
  sandbox.leads.edit = (id, fields) => {
    if (id === first?.id) setImmediate(() => edit(id, { city: 'Somewhere else' }));
    return edit(id, fields);
  };
  expect(await gets('Bonn')).toBe(8 + 8);
  sandbox.leads.edit = edit;
  // One lead differs on both sides now.
  expect(await gets('Kiel')).toBe(7 + 7);
  await workspace.database.pool.query(`update services set doubted_at = now() - interval '31 days'`);
  expect(await gets('Jena')).toBe(7 + 3);
});

test.each([
  ['an echo of what was sent', { city: 'Ulm' }],
  ['not every mapped field', { city: 'Ulm', companyName: 'Any', notes: 'x' }],
])('a reply that shows %s is no receipt', async (_what, shown) => {
  await using workspace = await Workspace.open({ sandbox: { leads: 6 } });
  const { sandbox, sheet } = workspace;
  await workspace.sync();
  sheet.edit(() => true, { City: 'Ulm' });
  const before = sandbox.stats.byRoute.get;
  await syncOver(workspace, (leads) =>
    fourLanes(leads, async (what, leadId, request) => {
      const answer = await request();
      return (what === 'update' ? { id: leadId, fields: shown } : answer) as typeof answer;
    }),
  );
  expect(sandbox.stats.byRoute.get - before).toBe(6 + 6);
});

test('a PATCH of which nobody heard, and a pause at the next try: what it may have replaced stays on record', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  const { sheet, database } = workspace;
  await workspace.sync();
  sheet.edit(() => true, { City: 'Ulm' });
  let [updates, looks] = [0, 0];
  const lines: number[] = [];
  await syncOver(
    workspace,
    (leads) =>
      fourLanes(leads, async (what, _leadId, request) => {
        if (what === 'update' && ++updates <= 2) {
          await request();
          throw new LeadsyncError('leads.unavailable', 'the reply was lost', { retry: 'now' });
        }
        if (what === 'get' && updates >= 2 && ++looks <= 2)
          throw new LeadsyncError('leads.rate-limited', 'wait', { retry: 'later', retryAfterMs: 0 });
        return request();
      }),
    async () => {
      const { rows } = await database.pool.query<{ count: number }>(
        `select count(distinct action_id)::int as count from ${history} h where side = 'lead' and field = 'city'`,
      );
      lines.push(...rows.map(({ count }) => count));
    },
  );
  expect(lines.length).toBeGreaterThan(1);
  expect(new Set(lines)).toEqual(new Set([2]));
});

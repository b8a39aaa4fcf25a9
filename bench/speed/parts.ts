import pg from 'pg';
import { runHandlers, syncQueue } from '../../jobs/runs.ts';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import { type PairState, planPair } from '../../src/core/merge/plan.ts';
import type { Cells } from '../../src/core/lead/value.ts';
import { runPolicy } from '../../src/review/run-policy.ts';
import { LiveScan } from '../../src/core/merge/live-scan.ts';
import { loadBaselines } from '../../src/store/load-baselines.ts';
import { insertRun } from '../../src/store/runs.ts';
import { finishReading } from '../../src/sync/read-target.ts';
import { decide } from '../../src/sync/decide.ts';
import { ScanMemory } from '../../src/sync/scan-bounds.ts';
import { acquireLease } from '../../src/store/leases.ts';
import { median } from './measure.ts';
import { Stage } from './stage.ts';

/** Ours over the floor, in the middle of several tries; both in the unit that is named. */
export interface Part {
  readonly what: string;
  readonly floor: string;
  readonly unit: string;
  readonly ours: readonly number[];
  readonly floors: readonly number[];
  /** What limits it now. */
  readonly limitedBy: string;
}

const never = new AbortController().signal;
const name = 'default';

/** Records that are merged in a second on one core: pairs of which one field was edited in the row. */
export function mergesASecond(times: number): Part {
  const policy = {
    fields: defaultFields,
    unseen: [],
    direction: 'two-way',
    onConflict: 'hold',
    onFirstSync: 'hold',
    onLeadDeleted: 'mark',
    onRowDeleted: 'restore',
  } as const;
  const base = {
    companyName: 'Acme Handels GmbH',
    segment: 'smb',
    city: 'Ulm',
    region: 'BW',
    stage: 'new',
    nextFollowUpAt: '2031-03-01T08:00:00.000Z',
  };
  const states = Array.from(
    { length: 1_000 },
    (_, nth): PairState => ({
      leadId: `lead-${nth}`,
      base,
      lead: base,
      row: { row: nth, cells: { ...base, city: `Village ${nth}` } },
      memo: {},
      leadAbsences: 0,
      rowAbsences: 0,
      deletionDone: false,
    }),
  );
  const count = 1_000_000;
  const ours = Array.from({ length: times }, () => {
    const from = performance.now();
    let actions = 0;
    for (let nth = 0; nth < count; nth++) {
      const state = states[nth % states.length];
      if (state !== undefined) actions += planPair(state, policy).length;
    }
    if (actions !== count) throw new Error(`${actions} actions`);
    return (count / (performance.now() - from)) * 1000;
  });
  const limitedBy = 'the objects that are made for each record';
  return { what: 'merge of one record, pure', floor: '', unit: 'a second', ours, floors: [], limitedBy };
}

/** `leadsync status` and a Node that does nothing, ms. */
export async function startOfStatus(times: number): Promise<Part> {
  await using stage = await Stage.open(100);
  await stage.clear();
  await stage.sync();
  const [ours, floors]: [number[], number[]] = [[], []];
  for (let nth = 0; nth < times; nth++) {
    floors.push(await stage.wallOfNothing());
    ours.push(await stage.wallOf(['status', '--json']));
  }
  const limitedBy = 'loading some 220 modules, 95 of them of zod, and the first answers of Postgres';
  return { what: 'start of `leadsync status`', floor: '`node -e 0`', unit: 'ms', ours, floors, limitedBy };
}

/** A run of so many leads in which nothing changed: as a job, and the job's function called directly; ms. */
export async function queueOverhead(leads: number, times: number): Promise<Part> {
  await using stage = await Stage.open(leads);
  await stage.clear();
  await stage.sync();
  await using app = await stage.openApp();
  const queue = (await app.queues()).queue(syncQueue);
  await using _worker = queue.work(runHandlers(app));
  const request = { connection: name, allow: [], maxAttempts: 1 };
  const [ours, floors]: [number[], number[]] = [[], []];
  const direct = async (): Promise<void> => {
    const from = performance.now();
    await runHandlers(app).sync(request, { requestedAt: Date.now() }, never);
    floors.push(performance.now() - from);
  };
  const asJob = async (): Promise<void> => {
    const from = performance.now();
    const job = await queue.add('sync', request);
    await job.finished(never);
    ours.push(performance.now() - from);
  };
  // In turn the first: each run finds what the ones before left for Postgres to clear away.
  for (let nth = 0; nth < times; nth++) {
    for (const run of nth % 2 === 0 ? [direct, asJob] : [asJob, direct]) await run();
  }
  return {
    what: `a run of ${leads} leads as a BullMQ job`,
    floor: 'the same function called directly',
    unit: 'ms',
    ours,
    floors,
    limitedBy: 'the statements that add, take and finish a job',
  };
}

/** The plan of so many leads against as many rows, 1 % of them changed, and one hash join of the same records; ms. */
export async function planOf(records: number, times: number): Promise<Part> {
  await using stage = await Stage.open(0);
  await stage.clear();
  await using app = await stage.openApp();
  const context = app.contexts.get(name);
  if (context === undefined) throw new Error('the connection is not configured');
  const { pool, connection } = context;
  const run = await insertRun(pool, {
    connection: name,
    mode: 'plan',
    baseUrl: connection.leads.baseUrl,
    settingsHash: '',
    allow: [],
  });
  await pool.query(
    `create table records as select '01a1ff75-0000-7000-8000-' || lpad(to_hex(n), 12, '0') as lead_id, n + 1 as row_number,
       jsonb_build_object('companyName', 'Company ' || n, 'segment', 'smb', 'city', 'Ulm', 'region', 'BW', 'stage', 'new',
         'nextFollowUpAt', '2031-03-01T08:00:00.000Z') as cells, md5(n::text) as hash
     from generate_series(1, ${records}) n`,
  );
  await pool.query(
    `create table edited as select lead_id, row_number,
       cells || case when row_number % 100 = 0 then jsonb_build_object('city', 'Village ' || row_number) else '{}' end as cells,
       case when row_number % 100 = 0 then 'edited' else hash end as hash from records`,
  );
  await pool.query(
    `insert into pairs (connection, lead_id, base, row_number) select '${name}', lead_id, cells, row_number from records`,
  );
  await pool.query('create index on records (row_number)');
  await pool.query('create index on edited (row_number)');
  await pool.query('vacuum analyze pairs, records, edited');
  const from = performance.now();
  const scan = new LiveScan(await loadBaselines(pool, name, defaultFields, () => {}));
  await seeAll(pool, scan);
  const seen = performance.now() - from;
  await using lease = await acquireLease(pool, 'bench');
  if (lease === null) throw new Error('no lease');
  using memory = new ScanMemory();
  memory.scan = scan;
  const step = {
    ...context,
    lease,
    stop: never,
    cut: never,
    isAsked: true,
    runPolicy: runPolicy(run),
    memory,
  };
  const [ours, floors]: [number[], number[]] = [[], []];
  const client = new pg.Client({ connectionString: stage.databaseUrl, options: '-c search_path=leadsync' });
  await client.connect();
  for (let nth = 0; nth < times; nth++) {
    let begun = performance.now();
    await client.query(
      `select count(*) from records l full join edited t using (lead_id) where l.hash is distinct from t.hash`,
    );
    floors.push(performance.now() - begun);
    begun = performance.now();
    const table = { rows: records, problems: [], mark: null };
    await decide(step, await finishReading(step, { ...run, pulled: records }, table, scan));
    ours.push(performance.now() - begun);
  }
  await client.end();
  return {
    what: `plan of ${records} leads against as many rows, 1 % changed`,
    floor: 'one hash join of the same records',
    unit: 'ms',
    ours,
    floors,
    limitedBy: `counting all pairs, and a line for each record that differs; which those are is found as they come: ${Math.round(((seen / records) * 1000) / 2)} µs a record, the reading of ${2 * records} of them from this test's tables included`,
  };
}

/** Both sides as a scan sees them, batch by batch. */
async function seeAll(pool: pg.Pool, scan: LiveScan): Promise<void> {
  const seeing = { isWhole: true, usualStatus: null };
  for (let from = 0; ; from += batch) {
    const { rows: some } = await pool.query<{ leadId: string; row: number; cells: Cells; edited: Cells }>(
      `select r.lead_id as "leadId", row_number as row, r.cells, e.cells as edited from records r join edited e using (row_number)
       where r.row_number > $1 and r.row_number <= $1 + $2 order by row_number`,
      [from + 1, batch],
    );
    if (some.length === 0) return;
    for (const { leadId, cells } of some) scan.seeLead(leadId, cells);
    for (const [nth, { leadId, row, edited }] of some.entries())
      scan.seeRow({ ordinal: from + nth, leadId, row, cells: edited, status: null }, seeing);
  }
}

const batch = 800;

/** Ours over the floor. */
export const ratio = ({ ours, floors }: Part): number => median(ours) / median(floors);

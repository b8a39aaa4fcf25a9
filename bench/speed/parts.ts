import pg from 'pg';
import { syncQueue } from '../../jobs/sync.ts';
import { runHandlers } from '../../src/cli/run-job.ts';
import { defaultFields } from '../../src/lead/mapping.ts';
import { type PairState, planPair } from '../../src/merge/plan.ts';
import { insertRun } from '../../src/store/runs.ts';
import { makePlan } from '../../src/sync/make-plan.ts';
import { advanceRun } from '../../src/sync/run.ts';
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
    floors.push((await stage.nothing()).wallMs);
    ours.push((await stage.leadsync(['status', '--json'])).wallMs);
  }
  const limitedBy = 'loading some 250 modules, 95 of them of zod, and the first answers of Postgres';
  return { what: 'start of `leadsync status`', floor: '`node -e 0`', unit: 'ms', ours, floors, limitedBy };
}

/** A run of 10,000 leads in which nothing changed: as a job, and its steps called one after the other; ms. */
export async function queueOverhead(times: number): Promise<Part> {
  await using stage = await Stage.open(10_000);
  await stage.clear();
  await stage.sync();
  await using app = await stage.openApp();
  const context = app.contexts.get(name);
  if (context === undefined) throw new Error('the connection is not configured');
  const queue = app.queues.queue(syncQueue(name));
  await using _worker = queue.work(runHandlers(app));
  const request = { mode: 'sync', allow: [], patience: 1 } as const;
  const [ours, floors]: [number[], number[]] = [[], []];
  const direct = async (): Promise<void> => {
    const from = performance.now();
    await advanceRun(context, request, never);
    floors.push(performance.now() - from);
  };
  const asJob = async (): Promise<void> => {
    const from = performance.now();
    const job = await queue.add('sync', { connection: name, allow: [], patience: 1 });
    await job.finished(never);
    ours.push(performance.now() - from);
  };
  // In turn the first: each run finds what the ones before left for Postgres to clear away.
  for (let nth = 0; nth < times; nth++) {
    for (const run of nth % 2 === 0 ? [direct, asJob] : [asJob, direct]) await run();
  }
  return {
    what: 'a run of 10,000 leads as a BullMQ job',
    floor: 'its steps called directly',
    unit: 'ms',
    ours,
    floors,
    limitedBy:
      'the statements that add, take and finish a job, and the look of who waits for it, which comes a little late',
  };
}

/** The plan of so many leads against as many rows, 1 % of them changed, and one hash join of the same tables; ms. */
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
  const cells = `jsonb_build_object('companyName', 'Company ' || n, 'segment', 'smb', 'city', 'Ulm', 'region', 'BW',
    'stage', 'new', 'nextFollowUpAt', '2031-03-01T08:00:00.000Z')`;
  const id = `'01a1ff75-0000-7000-8000-' || lpad(to_hex(n), 12, '0')`;
  const hash = `md5(n::text)`;
  const changed = `case when n % 100 = 0 then jsonb_build_object('city', 'Village ' || n) else '{}' end`;
  await pool.query(
    `insert into pairs (connection, lead_id, base) select '${name}', ${id}, ${cells} from generate_series(1, ${records}) n`,
  );
  await pool.query(
    `insert into staged_leads select ${run.id}, ${id}, ${cells}, ${hash} from generate_series(1, ${records}) n`,
  );
  await pool.query(
    `insert into staged_rows (run_id, ordinal, row_number, lead_id, cells, hash, row_key)
     select ${run.id}, n, n + 1, ${id}, ${cells} || ${changed}, case when n % 100 = 0 then 'changed' else ${hash} end, ''
     from generate_series(1, ${records}) n`,
  );
  await pool.query('vacuum analyze pairs, staged_leads, staged_rows');
  await using lease = await acquireLease(pool, 'bench');
  if (lease === null) throw new Error('no lease');
  const step = { ...context, lease, stop: never, cut: never };
  const planned = { ...run, pulled: records, targetRows: records };
  const [ours, floors]: [number[], number[]] = [[], []];
  const join = `select count(*) from (select * from staged_leads where run_id = ${run.id}) l
    full join (select * from staged_rows where run_id = ${run.id}) t using (lead_id) where l.hash is distinct from t.hash`;
  const client = new pg.Client({ connectionString: stage.databaseUrl, options: '-c search_path=leadsync' });
  await client.connect();
  for (let nth = 0; nth < times; nth++) {
    let from = performance.now();
    await client.query(join);
    floors.push(performance.now() - from);
    from = performance.now();
    await makePlan(step, planned);
    ours.push(performance.now() - from);
  }
  await client.end();
  return {
    what: `plan of ${records} leads against as many rows, 1 % changed`,
    floor: 'one hash join of the same tables',
    unit: 'ms',
    ours,
    floors,
    limitedBy:
      'the join: it is read through a cursor, which one process of Postgres works on, while the floor is shared by several',
  };
}

/** Ours over the floor. */
export const ratio = ({ ours, floors }: Part): number => median(ours) / median(floors);

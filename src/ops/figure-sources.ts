import type pg from 'pg';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import {
  heldFigures,
  lastRunFigures,
  mailFigures,
  openRunFigures,
  scheduleFigures,
  successFigures,
  throttleFigures,
} from '../store/figures.ts';
import { lastAgreedDue } from '../queue/due-times.ts';
import type { Timing } from '../store/connections.ts';
import type { Activity } from './activity.ts';
import type { ClockDifference } from './clock-differences.ts';
import type { OutageWatch } from './outage-watch.ts';

export interface WatchedConnection {
  readonly name: string;
  /** The row of `services` that its requests obey. */
  readonly throttleScope: string;
  /** Of this configuration; what counts is what workers have agreed on. */
  readonly timing: Timing;
  readonly hasReminders: boolean;
}

export type QueueCounts = Readonly<Record<'waiting' | 'active' | 'delayed' | 'failed', number>>;

export interface FigureOrigins {
  readonly log: Logger;
  readonly pool: pg.Pool;
  readonly database: Pick<OutageWatch, 'awayMs'>;
  /** Where the jobs are. */
  readonly queue: Pick<OutageWatch, 'awayMs'>;
  readonly version: string;
  readonly connections: readonly WatchedConnection[];
  readonly activity: Activity;
  readonly queueCounts: () => Promise<ReadonlyMap<string, QueueCounts>>;
  readonly clocks: () => Promise<readonly ClockDifference[]>;
}

const kind = ['reminder', 'digest'] as const;
const state = ['failed', 'missed'] as const;

type Labels = Readonly<Record<string, string>>;

/** The value of a row, or several, each with labels besides those of the row. Null: the row has none. */
type Shown = number | null | readonly (readonly [labels: Labels, value: number])[];

/** One query and the gauges that show its rows. */
export class FigureSource<Row extends object = object> {
  /** The label of `leadsync_scrape_error`. */
  readonly name: string;
  readonly query: () => Promise<readonly Row[]>;
  /** What the gauges show. Null: the query failed, they are empty. */
  rows: readonly Row[] | null = null;
  readonly #registry: Registry;

  constructor(registry: Registry, name: string, query: () => Promise<readonly Row[]>) {
    [this.#registry, this.name, this.query] = [registry, name, query];
  }

  /**
   * Adds the gauge `leadsync_<name>`. `labels` are properties of the row; those that have values here are shown as 0
   * when no row has them. Of samples with the same labels the last one is shown.
   */
  show(
    name: string,
    labels: Readonly<Record<string, readonly string[]>>,
    help: string,
    shown: (row: Row) => Shown,
  ): this {
    const labelNames = Object.keys(labels);
    const rowsNow = (): readonly Row[] | null => this.rows;
    new Gauge({
      name: `leadsync_${name}`,
      help: `${help}.`,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        const rows = rowsNow();
        if (rows === null) return;
        for (const known of combinations(labels)) this.set(known, 0);
        for (const row of rows) {
          const value = shown(row);
          const own = Object.entries(row).filter(([property]) => labelNames.includes(property));
          for (const [more, one] of typeof value === 'number' ? [[{}, value] as const] : (value ?? []))
            this.set({ ...(Object.fromEntries(own) as Labels), ...more }, one);
        }
      },
    });
    return this;
  }
}

/**
 * The sources whose figures the database holds, in the order of their queries, and the queues. Every worker shows them all,
 * also one that ran nothing itself. They count what the history still has and fall when it is pruned: all are gauges.
 */
export function figureSources(
  registry: Registry,
  { pool, connections, queueCounts, clocks }: FigureOrigins,
): { readonly stored: readonly FigureSource[]; readonly queues: FigureSource } {
  const connection = connections.map(({ name }) => name);
  const reminding = connections.filter(({ hasReminders }) => hasReminders).map(({ name }) => name);
  const ofConnection = { connection: [] };
  const source = <Row extends object>(
    name: string,
    query: () => Promise<readonly Row[]>,
  ): FigureSource<Row> => new FigureSource(registry, name, query);
  const stored = [
    // In one source: an alert compares both.
    source('runs', async () => {
      const ages = new Map((await successFigures(pool, connection)).map((run) => [run.connection, run.age]));
      const stored = await scheduleFigures(pool, connection);
      const agreed = new Map(stored.map((one) => [one.connection, one]));
      return connections.map(({ name, timing }) => ({
        connection: name,
        age: ages.get(name) ?? Number.POSITIVE_INFINITY,
        due: (lastAgreedDue(agreed.get(name) ?? null, timing, Date.now()) ?? 0) / 1000,
      }));
    })
      .show(
        'last_success_age_seconds',
        ofConnection,
        'Time since the end of the newest sync that was carried out; +Inf: none was',
        (run) => run.age,
      )
      .show(
        'last_due_timestamp_seconds',
        ofConnection,
        'When the schedule was last due; 0: not since it was changed',
        (run) => run.due,
      ),
    source('last_run', () => lastRunFigures(pool, connection))
      .show('last_run_status', { connection: [], status: [] }, 'Always 1; how the newest sync ended', () => 1)
      .show('last_run_duration_seconds', ofConnection, 'Duration of the newest sync', (run) => run.duration),
    source('open_run', () => openRunFigures(pool, connection)).show(
      'open_run_progress_timestamp_seconds',
      { connection: [], mode: [] },
      'When the open run last made progress',
      (run) => run.progressAt,
    ),
    source('held', () => heldFigures(pool, connection)).show(
      'held_items',
      { connection },
      'Held fields and records, which wait for a person',
      (held) => held.count,
    ),
    source('reminders', () => mailFigures(pool, reminding))
      .show(
        'reminders',
        { connection: reminding, kind, state },
        'Reminders and digests in the history that were not sent, by state',
        ({ failed, missed }) => [
          [{ state: 'failed' }, failed],
          [{ state: 'missed' }, missed],
        ],
      )
      .show(
        'reminder_lateness_seconds',
        { connection: reminding, kind },
        'How late the oldest unsent mail is; 0: none is',
        (mails) => mails.lateSeconds,
      ),
    source('throttles', async () => {
      const scopes = connections.map((one) => one.throttleScope);
      const until = new Map((await throttleFigures(pool, scopes)).map((row) => [row.scope, row.until]));
      return connections.map((one) => ({ connection: one.name, until: until.get(one.throttleScope) ?? 0 }));
    }).show(
      'throttled_until_timestamp_seconds',
      ofConnection,
      'No request leaves for the service before this moment; 0: none',
      (throttle) => throttle.until,
    ),
    source('clocks', async () => (await clocks()).map((one) => ({ connection: '', ...one }))).show(
      'clock_ahead_seconds',
      { clock: [], connection: [] },
      "How far the clock of this machine, of Redis or of a service is ahead of the database's; below 0: behind",
      (clock) => clock.aheadMs / 1000,
    ),
  ];
  // Those that this process has opened; a worker opens the queues of all its connections.
  const queues = source('queues', async () =>
    [...(await queueCounts())].flatMap(([queue, counts]) =>
      Object.entries(counts).map(([jobs, count]) => ({ queue, state: jobs, count })),
    ),
  ).show('queue_jobs', { queue: [], state: [] }, 'Jobs in a queue', (jobs) => jobs.count);
  return { stored, queues };
}

function combinations(labels: Readonly<Record<string, readonly string[]>>): readonly Labels[] {
  let all: readonly Labels[] = [{}];
  for (const [name, values] of Object.entries(labels))
    all = all.flatMap((known) => values.map((value) => ({ ...known, [name]: value })));
  return all;
}

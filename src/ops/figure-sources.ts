import { Gauge, type Registry } from 'prom-client';
import {
  actionFigures,
  heldFigures,
  lastRunFigures,
  mailFigures,
  type OutcomeFigures,
  openRunFigures,
  outcomeFigures,
  throttleFigures,
} from '../store/figures.ts';
import { previousRun } from '../queue/due-times.ts';
import type { FigureOrigins, WatchedConnection } from './metrics.ts';

const mode = ['sync', 'plan', 'edit'] as const;
const status = ['succeeded', 'partial', 'stopped', 'failed'] as const;
const kind = ['reminder', 'digest'] as const;
const state = ['scheduled', 'sending', 'sent', 'missed', 'failed'] as const;
const stats = ['median', 'p95', 'max'] as const;

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
   * Adds the gauge `leadsync_<name>`. `labels` are properties of the row; those that have values here are shown as `initial`
   * when no row has them. Of samples with the same labels the last one is shown.
   */
  show(
    name: string,
    labels: Readonly<Record<string, readonly string[]>>,
    help: string,
    shown: (row: Row) => Shown,
    initial: (known: Labels) => number = () => 0,
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
        for (const known of combinations(labels)) this.set(known, initial(known));
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
  const byName = new Map(connections.map((one) => [one.name, one]));
  const ofConnection = { connection: [] };
  const ofSide = { connection: [], side: [] };
  const ofOpenRun = { connection: [], mode: [] };
  const source = <Row extends object>(
    name: string,
    query: () => Promise<readonly Row[]>,
  ): FigureSource<Row> => new FigureSource(registry, name, query);
  const stored = [
    source('runs', async () =>
      (await outcomeFigures(pool, connection)).toSorted((a, b) => (a.lastAt ?? 0) - (b.lastAt ?? 0)),
    )
      .show(
        'runs',
        { connection, mode, status },
        'Finished runs in the history, by outcome',
        (run) => run.count,
      )
      .show(
        'last_success_timestamp_seconds',
        ofConnection,
        'End of the newest sync that was carried out (succeeded or partial); missing when there is none',
        (run) => (isSuccess(run) ? run.lastAt : null),
      )
      .show(
        'last_success_age_seconds',
        { connection },
        'Time since that end by the clock of the database; +Inf when there is none',
        (run) => (isSuccess(run) ? run.lastAge : null),
        () => Number.POSITIVE_INFINITY,
      )
      // Beside the successes: an alert compares both.
      .show(
        'last_due_timestamp_seconds',
        { connection },
        'When the schedule was last due',
        () => null,
        (known) => lastDue(byName.get(known['connection'] ?? '')) / 1000,
      ),
    source('last_run', () => lastRunFigures(pool, connection))
      .show(
        'last_run_status',
        { connection: [], status: [] },
        'Outcome of the newest sync: 1 for that, 0 for the others',
        (run) => status.map((one) => [{ status: one }, Number(one === run.status)]),
      )
      .show('last_run_timestamp_seconds', ofConnection, 'End of the newest sync', (run) => run.finishedAt)
      .show('last_run_duration_seconds', ofConnection, 'Duration of the newest sync', (run) => run.duration)
      .show('last_run_waited_seconds', ofConnection, 'Waits of the newest sync', (run) => run.waited)
      .show('last_run_records', ofSide, 'Leads and rows that the newest sync read', (run) =>
        bySide(run.pulled, run.targetRows),
      )
      .show('last_run_requests', ofSide, 'Requests of the newest sync', (run) =>
        bySide(run.leadRequests, run.targetRequests),
      )
      .show('last_run_put_off', ofConnection, 'Changes that the newest sync put off', (run) => run.putOff),
    source('open_run', () => openRunFigures(pool, connection))
      .show('run_open', { connection, mode }, '1 while a run is under way or interrupted', () => 1)
      .show('open_run_started_timestamp_seconds', ofOpenRun, 'Start of the open run', (run) => run.startedAt)
      .show(
        'open_run_progress_timestamp_seconds',
        ofOpenRun,
        'When the open run last made progress',
        (run) => run.progressAt,
      ),
    source('actions', () => actionFigures(pool, connection)).show(
      'last_run_actions',
      { connection: [], kind: [], state: [] },
      'Actions of the newest sync that ended, by their outcome',
      (actions) => actions.count,
    ),
    source('held', () => heldFigures(pool, connection)).show(
      'held_items',
      { connection },
      'Held fields and records, which wait for a person',
      (held) => held.count,
    ),
    source('reminders', () => mailFigures(pool, connection))
      .show(
        'reminders',
        { connection, kind, state },
        'Reminders and digests in the history, by state',
        (mails) => mails.count,
      )
      .show(
        'reminder_lateness_seconds',
        { connection, kind },
        'How late the oldest unsent mail is; 0: none is',
        // A kind has a row for `scheduled` and one for `sending`: the query returns the later one last.
        (mails) => mails.lateSeconds,
      )
      .show(
        'reminder_sent_lateness_seconds',
        { connection: [], kind: [], stat: [] },
        'How late the mails of the last 24 hours were sent',
        (mails) => (mails.sentLateSeconds ?? []).map((seconds, nth) => [{ stat: stats[nth] ?? '' }, seconds]),
      ),
    source('throttles', async () => {
      const scopes = connections.map((one) => one.throttleScope);
      const until = new Map((await throttleFigures(pool, scopes)).map((row) => [row.scope, row.until]));
      return connections.map((one) => ({ connection: one.name, until: until.get(one.throttleScope) ?? 0 }));
    }).show(
      'throttled_until_timestamp_seconds',
      ofConnection,
      'No request leaves for the Leads service before this moment, at its request; 0: none',
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

/** When (epoch ms) the schedule was last due before now. */
function lastDue(watched: WatchedConnection | undefined): number {
  return watched === undefined ? 0 : previousRun(watched.schedule, watched.timeZone, Date.now());
}

function isSuccess({ status: ended }: OutcomeFigures): boolean {
  return ended === 'succeeded' || ended === 'partial';
}

function bySide(leads: number, target: number) {
  return [
    [{ side: 'leads' }, leads],
    [{ side: 'target' }, target],
  ] as const;
}

function combinations(labels: Readonly<Record<string, readonly string[]>>): readonly Labels[] {
  let all: readonly Labels[] = [{}];
  for (const [name, values] of Object.entries(labels))
    all = all.flatMap((known) => values.map((value) => ({ ...known, [name]: value })));
  return all;
}

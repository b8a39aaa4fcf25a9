import { Gauge, type Registry } from 'prom-client';
import {
  actionFigures,
  heldFigures,
  lastRunFigures,
  mailFigures,
  type LastRunFigures,
  type OutcomeFigures,
  openRunFigures,
  outcomeFigures,
  throttleFigures,
} from '../store/figures.ts';
import type { FigureOrigins } from './metrics.ts';

const mode = ['sync', 'plan'] as const;
const status = ['succeeded', 'partial', 'stopped', 'failed'] as const;
const kind = ['reminder', 'digest'] as const;
const state = ['scheduled', 'sending', 'sent', 'missed', 'failed'] as const;
const stats = ['median', 'p95', 'max'] as const;

type Samples = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

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

  /** Adds the gauge `leadsync_<name>`. Of samples with the same labels the last one is shown. */
  show(
    name: string,
    labelNames: readonly string[],
    help: string,
    samples: (rows: readonly Row[]) => Samples,
  ): this {
    const read = (): Samples => (this.rows === null ? [] : samples(this.rows));
    new Gauge({
      name: `leadsync_${name}`,
      help: `${help}.`,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });
    return this;
  }

  /**
   * As `show`, with a sample of each row whose `value` is not null. The labels are properties of the row; `labels` has the
   * values that are shown as `initial` when no row has them.
   */
  each(
    name: string,
    labels: Readonly<Record<string, readonly string[]>>,
    help: string,
    value: (row: Row) => number | null,
    initial = 0,
  ): this {
    const names = Object.keys(labels);
    return this.show(name, names, help, (rows) => [
      ...combinations(labels).map((known) => [known, initial] as const),
      ...rows.flatMap((row) => {
        const shown = value(row);
        const own = Object.entries(row).filter(([property]) => names.includes(property));
        return shown === null ? [] : [[Object.fromEntries(own) as Record<string, string>, shown] as const];
      }),
    ]);
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
  const [ofConnection, ofSide, ofOpenRun] = [
    { connection: [] },
    ['connection', 'side'],
    { connection: [], mode: [] },
  ];
  const source = <Row extends object>(
    name: string,
    query: () => Promise<readonly Row[]>,
  ): FigureSource<Row> => new FigureSource(registry, name, query);
  const stored = [
    source('runs', async () =>
      (await outcomeFigures(pool, connection)).toSorted((a, b) => (a.lastAt ?? 0) - (b.lastAt ?? 0)),
    )
      .each(
        'runs',
        { connection, mode, status },
        'Finished runs in the history, by outcome',
        (run) => run.count,
      )
      .each(
        'last_success_timestamp_seconds',
        ofConnection,
        'End of the newest sync that was carried out (succeeded or partial); missing when there is none',
        (run) => (isSuccess(run) ? run.lastAt : null),
      )
      .each(
        'last_success_age_seconds',
        { connection },
        'Time since that end by the clock of the database; +Inf when there is none',
        (run) => (isSuccess(run) ? run.lastAge : null),
        Number.POSITIVE_INFINITY,
      )
      .show('last_due_timestamp_seconds', ['connection'], 'When the schedule was last due', () =>
        connections.map(({ name, lastDue }) => [{ connection: name }, lastDue() / 1000]),
      ),
    source('last_run', () => lastRunFigures(pool, connection))
      .show(
        'last_run_status',
        ['connection', 'status'],
        'Outcome of the newest sync: 1 for that, 0 for the others',
        (runs) =>
          runs.flatMap((run) =>
            status.map(
              (one) => [{ connection: run.connection, status: one }, Number(one === run.status)] as const,
            ),
          ),
      )
      .each('last_run_timestamp_seconds', ofConnection, 'End of the newest sync', (run) => run.finishedAt)
      .each('last_run_duration_seconds', ofConnection, 'Duration of the newest sync', (run) => run.duration)
      .each('last_run_waited_seconds', ofConnection, 'Waits of the newest sync', (run) => run.waited)
      .show('last_run_records', ofSide, 'Leads and rows that the newest sync read', (runs) =>
        bySide(runs, 'pulled', 'targetRows'),
      )
      .show('last_run_requests', ofSide, 'Requests of the newest sync', (runs) =>
        bySide(runs, 'leadRequests', 'targetRequests'),
      )
      .each('last_run_put_off', ofConnection, 'Changes that the newest sync put off', (run) => run.putOff),
    source('open_run', () => openRunFigures(pool, connection))
      .each('run_open', { connection, mode }, '1 while a run is under way or interrupted', () => 1)
      .each('open_run_started_timestamp_seconds', ofOpenRun, 'Start of the open run', (run) => run.startedAt)
      .each(
        'open_run_progress_timestamp_seconds',
        ofOpenRun,
        'When the open run last made progress',
        (run) => run.progressAt,
      ),
    source('actions', () => actionFigures(pool, connection)).each(
      'last_run_actions',
      { connection: [], kind: [], state: [] },
      'Actions of the newest sync that ended, by their outcome',
      (actions) => actions.count,
    ),
    source('held', () => heldFigures(pool, connection)).each(
      'held_items',
      { connection },
      'Held fields and records, which wait for a person',
      (held) => held.count,
    ),
    source('reminders', () => mailFigures(pool, connection))
      .each(
        'reminders',
        { connection, kind, state },
        'Reminders and digests in the history, by state',
        (mails) => mails.count,
      )
      .each(
        'reminder_lateness_seconds',
        { connection, kind },
        'How late the oldest unsent mail is; 0: none is',
        // A kind has a row for `scheduled` and one for `sending`: the query returns the later one last.
        (mails) => mails.lateSeconds,
      )
      .show(
        'reminder_sent_lateness_seconds',
        ['connection', 'kind', 'stat'],
        'How late the mails of the last 24 hours were sent',
        (rows) =>
          rows.flatMap((mails) =>
            (mails.sentLateSeconds ?? []).map(
              (seconds, index) =>
                [
                  { connection: mails.connection, kind: mails.kind, stat: stats[index] ?? '' },
                  seconds,
                ] as const,
            ),
          ),
      ),
    source('throttles', () =>
      throttleFigures(
        pool,
        connections.map((one) => one.throttleScope),
      ),
    ).show(
      'throttled_until_timestamp_seconds',
      ['connection'],
      'No request leaves for the Leads service before this moment, at its request; 0: none',
      (rows) => {
        const until = new Map(rows.map((row) => [row.scope, row.until]));
        return connections.map(({ name, throttleScope }) => [
          { connection: name },
          until.get(throttleScope) ?? 0,
        ]);
      },
    ),
    source('clocks', async () => (await clocks()).map((one) => ({ connection: '', ...one }))).each(
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
  ).each('queue_jobs', { queue: [], state: [] }, 'Jobs in a queue', (jobs) => jobs.count);
  return { stored, queues };
}

function isSuccess({ status: ended }: OutcomeFigures): boolean {
  return ended === 'succeeded' || ended === 'partial';
}

type Counted = 'pulled' | 'targetRows' | 'leadRequests' | 'targetRequests';

function bySide(runs: readonly LastRunFigures[], ofLeads: Counted, ofTarget: Counted): Samples {
  return runs.flatMap(
    (run) =>
      [
        [{ connection: run.connection, side: 'leads' }, run[ofLeads]],
        [{ connection: run.connection, side: 'target' }, run[ofTarget]],
      ] as const,
  );
}

function combinations(
  labels: Readonly<Record<string, readonly string[]>>,
): readonly Readonly<Record<string, string>>[] {
  let all: readonly Readonly<Record<string, string>>[] = [{}];
  for (const [name, values] of Object.entries(labels))
    all = all.flatMap((known) => values.map((value) => ({ ...known, [name]: value })));
  return all;
}

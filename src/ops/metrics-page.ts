import { setTimeout as sleep } from 'node:timers/promises';
import type { Observable } from '@opentelemetry/api';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { Count, Activity } from './activity.ts';
import type pg from 'pg';
import type { Logger } from 'pino';
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
import type { JobCounts } from '../queue/queue.ts';
import type { Timing } from '../store/connections.ts';
import type { ClockDifference } from '../store/database-time.ts';
import type { OutageWatch } from './outage-watch.ts';

const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Prometheus ends a scrape after 10 s by default: figures that take longer than this (ms) are missing from the page. */
const patienceMs = 7_000;

/** A page is shown again for this time (ms): several Prometheus servers must not multiply the queries. */
const freshMs = 1_000;

/** The metrics of this process and of the database, made at each scrape. All workers show the same figures of the database: aggregate them with `max by`. */
export class MetricsPage {
  readonly #registry = new Registry();
  readonly #log: FigureOrigins['log'];
  readonly #version: string;
  readonly #database: FigureOrigins['database'];
  /** Read one after the other: a scrape takes one connection of the database, not seven. */
  readonly #stored: readonly FigureSource[];
  readonly #queues: FigureSource;
  /** Running queries: a late one is not sent again before it ends. */
  readonly #unanswered = new Set<FigureSource>();
  readonly #failing = new Set<FigureSource>();
  #shown: { readonly page: Promise<string>; until: number } | null = null;

  constructor(origins: FigureOrigins) {
    const { log, database, queue, version, activity } = origins;
    const registry = this.#registry;
    this.#log = log;
    this.#version = version;
    collectDefaultMetrics({ register: registry });
    // Gauges named like counters, which `promtool check metrics` rejects.
    for (const name of misnamed) registry.removeSingleMetric(name);
    const build = new Gauge({
      name: 'leadsync_build_info',
      help: 'Always 1; what runs here.',
      labelNames: ['version', 'node'],
      registers: [registry],
    });
    build.set({ version, node: process.versions.node }, 1);
    this.#database = database;
    for (const [name, watch, help] of [
      ['database', database, 'the database; 0: away, and what is read in it is missing here'],
      ['queue', queue, 'the server with the jobs; 0: away'],
    ] as const)
      new Gauge({
        name: `leadsync_${name}_up`,
        help: `1 while this process can use ${help}.`,
        registers: [registry],
        collect() {
          this.set(watch.awayMs === 0 ? 1 : 0);
        },
      });
    const byReason = ['connection', 'reason'];
    const byStatus = ['side', 'connection', 'status'];
    const requests =
      'Requests to the Leads service, targets and mail servers, by status of the reply or fault';
    for (const [name, labels, counts, help] of [
      ['requests', byStatus, activity.requests, requests],
      ['wait_seconds', byReason, activity.waitSeconds, 'Seconds that runs waited'],
    ] as const)
      addCounter(registry, `leadsync_${name}_total`, labels, counts, `${help}, of this process.`);
    const { stored, queues } = figureSources(registry, origins);
    [this.#stored, this.#queues] = [stored, queues];
    new Gauge({
      name: 'leadsync_scrape_error',
      help: '1 when these figures could not be read for this page.',
      labelNames: ['source'],
      registers: [registry],
      collect() {
        for (const { name, rows } of [...stored, queues]) this.set({ source: name }, rows === null ? 1 : 0);
      },
    });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** In Prometheus' text format. Rejects never: `leadsync_scrape_error` names what failed. One page at a time is made, and shown for a second. */
  render(): Promise<string> {
    if (this.#shown !== null && performance.now() < this.#shown.until) return this.#shown.page;
    const shown = { page: this.#make(), until: Number.POSITIVE_INFINITY };
    this.#shown = shown;
    void shown.page.finally(() => {
      shown.until = performance.now() + freshMs;
    });
    return shown.page;
  }

  /** Until it is disposed of, OpenTelemetry gets the same counters and gauges whenever it asks; afterwards those that were read last. */
  async observe(): Promise<AsyncDisposable> {
    const { metrics } = await import('@opentelemetry/api');
    const meter = metrics.getMeter('leadsync', this.#version);
    const instruments = new Map<string, Observable>();
    // The package declares its `MetricType` as numbers, and uses names.
    for (const { name, help: description, type } of await this.#registry.getMetricsAsJSON()) {
      const kind = String(type);
      if (kind === 'counter') instruments.set(name, meter.createObservableCounter(name, { description }));
      if (kind === 'gauge') instruments.set(name, meter.createObservableGauge(name, { description }));
    }
    let reading = Promise.resolve();
    let isEnded = false;
    meter.addBatchObservableCallback(
      async (result) => {
        if (!isEnded) await (reading = this.#read());
        for (const { name, values } of await this.#registry.getMetricsAsJSON()) {
          const instrument = instruments.get(name);
          if (instrument === undefined) continue;
          // An event loop that was never looked at has no lag, and OTLP's JSON no NaN.
          for (const { value, labels } of values)
            if (Number.isFinite(value)) result.observe(instrument, value, { ...labels });
        }
      },
      [...instruments.values()],
    );
    // The SDK asks once more at its end, when the database is closed: for the counters, and the figures as they were read last.
    return {
      async [Symbol.asyncDispose]() {
        isEnded = true;
        await reading;
      },
    };
  }

  async #make(): Promise<string> {
    await this.#read();
    return this.#registry.metrics();
  }

  async #read(): Promise<void> {
    const end = performance.now() + patienceMs;
    await Promise.all([this.#readStored(end), this.#refresh(this.#queues, end)]);
  }

  async #readStored(end: number): Promise<void> {
    for (const source of this.#stored) {
      // No query during an outage: the page comes at once, and the log has its line.
      if (this.#database.awayMs > 0) source.rows = null;
      else await this.#refresh(source, end);
    }
  }

  async #refresh(source: FigureSource, end: number): Promise<void> {
    let fault: unknown = 'no answer in time';
    source.rows = await this.#answer(source, end).catch((error: unknown) => {
      fault = error;
      return null;
    });
    if (source.rows !== null) this.#failing.delete(source);
    else if (!this.#failing.has(source)) {
      this.#failing.add(source);
      this.#log.warn({ source: source.name, err: fault }, 'figures for /metrics cannot be read');
    }
  }

  /** Null: not in time. */
  async #answer(source: FigureSource, end: number): Promise<FigureSource['rows']> {
    const left = end - performance.now();
    if (left <= 0 || this.#unanswered.has(source)) return null;
    this.#unanswered.add(source);
    const answer = source.query().finally(() => this.#unanswered.delete(source));
    return Promise.race([answer, sleep(left, null, { ref: false })]);
  }
}

/** A counter that shows what `counts` hold at the moment of a scrape. */
function addCounter(
  registry: Registry,
  name: string,
  labelNames: readonly string[],
  counts: Iterable<Count>,
  help: string,
): void {
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, value } of counts) this.inc({ ...labels }, value);
    },
  });
}

export interface WatchedConnection {
  readonly name: string;
  /** The row of `services` that its requests obey. */
  readonly throttleScope: string;
  /** Of this configuration; what counts is what workers have agreed on. */
  readonly timing: Timing;
  readonly hasReminders: boolean;
}

export interface FigureOrigins {
  readonly log: Logger;
  readonly pool: pg.Pool;
  readonly database: Pick<OutageWatch, 'awayMs'>;
  /** Where the jobs are. */
  readonly queue: Pick<OutageWatch, 'awayMs'>;
  readonly version: string;
  readonly connections: readonly WatchedConnection[];
  readonly activity: Activity;
  readonly queueCounts: () => Promise<ReadonlyMap<string, JobCounts>>;
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
function figureSources(
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

import { setTimeout as sleep } from 'node:timers/promises';
import type { Observable } from '@opentelemetry/api';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { Count } from './activity.ts';
import { type FigureOrigins, type FigureSource, figureSources } from './figure-sources.ts';

const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Prometheus ends a scrape after 10 s by default: figures that take longer than this (ms) are missing from the page. */
const patienceMs = 7_000;

/** A page is shown again for this time (ms): several Prometheus servers must not multiply the queries. */
const freshMs = 1_000;

/** The metrics of this process and of the database, made at each scrape. */
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

  /** Rejects never; see `Metrics`. */
  render(): Promise<string> {
    if (this.#shown !== null && performance.now() < this.#shown.until) return this.#shown.page;
    const shown = { page: this.#make(), until: Number.POSITIVE_INFINITY };
    this.#shown = shown;
    void shown.page.finally(() => {
      shown.until = performance.now() + freshMs;
    });
    return shown.page;
  }

  /** Counters and gauges; see `Metrics`. */
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

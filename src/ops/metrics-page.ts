import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { Activity, Count } from './activity.ts';
import type { ClockDifference } from './clock-differences.ts';
import { clockSource } from './clock-gauges.ts';
import type { FigureSource, WatchedConnection } from './figure-source.ts';
import { runSources } from './run-gauges.ts';
import type { DatabaseWatch } from './database-watch.ts';
import { type QueueCounts, queueSource, waitingSources } from './waiting-gauges.ts';

const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Where the numbers come from. */
export interface FigureSources {
  readonly log: Logger;
  readonly pool: pg.Pool;
  readonly database: Pick<DatabaseWatch, 'awayMs'>;
  /** Of this leadsync. */
  readonly version: string;
  readonly connections: readonly WatchedConnection[];
  readonly activity: Activity;
  /** By the name of the queue. */
  readonly queueCounts: () => Promise<ReadonlyMap<string, QueueCounts>>;
  readonly clocks: () => Promise<readonly ClockDifference[]>;
}

/** Prometheus gives a scrape 10 s by default: what has not come in this time (ms) is missing from the page. */
const patienceMs = 7_000;

/** So long (ms) a page is good for whoever asks again: two Prometheus servers, or an impatient person. */
const freshMs = 1_000;

/** The metrics of this process and of the database, as a page that is made when somebody asks for it. */
export class MetricsPage {
  readonly #registry = new Registry();
  readonly #log: Logger;
  readonly #database: FigureSources['database'];
  /** Asked one after the other: a scrape takes one connection of the database, not seven. */
  readonly #stored: readonly FigureSource[];
  readonly #queues: FigureSource;
  readonly #errors: Gauge;
  /** Questions that were not answered in time, and are not asked again before they are. */
  readonly #unanswered = new Set<FigureSource>();
  readonly #failing = new Set<FigureSource>();
  #shown: { readonly page: Promise<string>; until: number } | null = null;

  constructor({ log, pool, database, version, connections, activity, queueCounts, clocks }: FigureSources) {
    const registry = this.#registry;
    this.#log = log;
    collectDefaultMetrics({ register: registry });
    // Gauges that are named like counters, of which `promtool check metrics` complains.
    for (const name of misnamed) registry.removeSingleMetric(name);
    const build = new Gauge({
      name: 'leadsync_build_info',
      help: 'Always 1; what runs here.',
      labelNames: ['version', 'node'],
      registers: [registry],
    });
    build.set({ version, node: process.versions.node }, 1);
    this.#database = database;
    new Gauge({
      name: 'leadsync_database_up',
      help: '1 while this process can use the database; 0: away, and what is read in it is missing here.',
      registers: [registry],
      collect() {
        this.set(database.awayMs === 0 ? 1 : 0);
      },
    });
    count(
      registry,
      'requests',
      ['side', 'connection', 'status'],
      activity.requests,
      'Requests of this process to the Leads service, to targets and of mails, by the status of the reply or why there was none',
    );
    count(
      registry,
      'waits',
      ['connection', 'reason'],
      activity.waits,
      'Times that a run of this process had to wait',
    );
    count(
      registry,
      'wait_seconds',
      ['connection', 'reason'],
      activity.waitSeconds,
      'Seconds that runs of this process were told to wait',
    );
    this.#errors = new Gauge({
      name: 'leadsync_scrape_error',
      help: '1 when these figures could not be read for this page, which then lacks them.',
      labelNames: ['source'],
      registers: [registry],
    });
    this.#stored = [
      ...runSources(registry, pool, connections),
      ...waitingSources(registry, pool, connections),
      clockSource(registry, clocks),
    ];
    this.#queues = queueSource(registry, queueCounts);
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

  async #make(): Promise<string> {
    const end = performance.now() + patienceMs;
    await Promise.all([this.#readStored(end), this.#refresh(this.#queues, end)]);
    return this.#registry.metrics();
  }

  async #readStored(end: number): Promise<void> {
    for (const source of this.#stored) {
      // Not asked while it is away: the page is there at once, and the log has its line.
      if (this.#database.awayMs > 0) this.#show(source, null);
      else await this.#refresh(source, end);
    }
  }

  async #refresh(source: FigureSource, end: number): Promise<void> {
    let set: (() => void) | null = null;
    let reason: unknown = 'no answer in time';
    try {
      set = await this.#answer(source, end);
    } catch (error) {
      reason = error;
    }
    this.#show(source, set);
    if (set !== null) this.#failing.delete(source);
    else if (!this.#failing.has(source)) {
      this.#failing.add(source);
      this.#log.warn({ source: source.name, err: reason }, 'figures for /metrics cannot be read');
    }
  }

  #show({ name, gauges }: FigureSource, set: (() => void) | null): void {
    for (const gauge of gauges) gauge.reset();
    set?.();
    this.#errors.set({ source: name }, set === null ? 1 : 0);
  }

  /** Null: not in time. */
  async #answer(source: FigureSource, end: number): Promise<(() => void) | null> {
    const left = end - performance.now();
    if (left <= 0 || this.#unanswered.has(source)) return null;
    this.#unanswered.add(source);
    const answer = source.read().finally(() => this.#unanswered.delete(source));
    using stop = new DisposableStack();
    const timer = new AbortController();
    stop.defer(() => timer.abort());
    const late = sleep(left, null, { signal: timer.signal, ref: false }).catch(() => null);
    return await Promise.race([answer, late]);
  }
}

/** A counter that shows what `counts` hold at the moment of a scrape. */
function count(
  registry: Registry,
  name: string,
  labelNames: readonly string[],
  counts: Iterable<Count>,
  help: string,
): void {
  new Counter({
    name: `leadsync_${name}_total`,
    help: `${help}.`,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, value } of counts) this.inc({ ...labels }, value);
    },
  });
}

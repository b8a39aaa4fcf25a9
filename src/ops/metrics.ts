import type pg from 'pg';
import type { Logger } from 'pino';
import type { Activity } from './activity.ts';
import type { ClockDifference } from './clock-differences.ts';
import type { DatabaseWatch } from './database-watch.ts';

/** A connection whose figures are shown. */
export interface WatchedConnection {
  readonly name: string;
  /** The row of `throttles` that its requests obey. */
  readonly throttleScope: string;
  /** Epoch ms at which its schedule was last due before now. */
  readonly lastDue: () => number;
}

/** Jobs of a queue by state. */
export type QueueCounts = Readonly<Record<'waiting' | 'active' | 'delayed' | 'failed', number>>;

/** Where the figures come from. */
export interface FigureOrigins {
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

/** What Prometheus scrapes. Several workers show the same numbers of the database: `max by` is right over them. */
export interface Metrics {
  readonly contentType: string;
  /**
   * The page in Prometheus' text format. It never rejects because a source does not answer: what is missing is told by
   * `leadsync_scrape_error`. At most one is made at a time, and one is shown for a second.
   */
  render(): Promise<string>;
}

/** Nothing is loaded, measured or asked before the first scrape: most commands are never scraped. */
export function createMetrics(origins: FigureOrigins): Metrics {
  let page: Promise<{ render(): Promise<string> }> | null = null;
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async render() {
      page ??= import('./metrics-page.ts').then(({ MetricsPage }) => new MetricsPage(origins));
      return (await page).render();
    },
  };
}

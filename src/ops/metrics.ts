import type pg from 'pg';
import type { Logger } from 'pino';
import type { Activity } from './activity.ts';
import type { ClockDifference } from './clock-differences.ts';
import type { OutageWatch } from './outage-watch.ts';

/** A connection whose figures are shown. */
export interface WatchedConnection {
  readonly name: string;
  /** The row of `services` that its requests obey. */
  readonly throttleScope: string;
  /** A cron pattern, in the time zone. */
  readonly schedule: string;
  readonly timeZone: string;
  readonly hasReminders: boolean;
}

/** Jobs of a queue by state. */
export type QueueCounts = Readonly<Record<'waiting' | 'active' | 'delayed' | 'failed', number>>;

/** Where the figures come from. */
export interface FigureOrigins {
  readonly log: Logger;
  readonly pool: pg.Pool;
  readonly database: Pick<OutageWatch, 'awayMs'>;
  /** Where the jobs are. */
  readonly queue: Pick<OutageWatch, 'awayMs'>;
  /** Of this leadsync. */
  readonly version: string;
  readonly connections: readonly WatchedConnection[];
  readonly activity: Activity;
  /** By the name of the queue. */
  readonly queueCounts: () => Promise<ReadonlyMap<string, QueueCounts>>;
  readonly clocks: () => Promise<readonly ClockDifference[]>;
}

/** What Prometheus scrapes. All workers show the same figures of the database: aggregate them with `max by`. */
export interface Metrics {
  readonly contentType: string;
  /**
   * The page in Prometheus' text format. A failing source does not reject: `leadsync_scrape_error` names it. One page at a time
   * is made, and shown for a second.
   */
  render(): Promise<string>;
}

/** Loads and measures nothing before the first scrape: most commands are never scraped. */
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

import type { FigureOrigins } from './figure-sources.ts';
import type { MetricsPage } from './metrics-page.ts';

/** What Prometheus scrapes. All workers show the same figures of the database: aggregate them with `max by`. */
export interface Metrics {
  readonly contentType: string;
  /**
   * The page in Prometheus' text format. A failing source does not reject: `leadsync_scrape_error` names it. One page at a time
   * is made, and shown for a second.
   */
  render(): Promise<string>;
  /** Until it is disposed of, OpenTelemetry gets the same figures whenever it asks; afterwards those that were read last. */
  observe(): Promise<AsyncDisposable>;
}

/** Loads and measures nothing before the first scrape: most commands are never scraped. */
export function createMetrics(origins: FigureOrigins): Metrics {
  let page: Promise<MetricsPage> | null = null;
  const open = () =>
    (page ??= import('./metrics-page.ts').then(({ MetricsPage }) => new MetricsPage(origins)));
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    render: async () => (await open()).render(),
    observe: async () => (await open()).observe(),
  };
}

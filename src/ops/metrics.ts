import type { FigureOrigins } from './figure-sources.ts';

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

import type { FigureSources } from './metrics-page.ts';

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
export function createMetrics(sources: FigureSources): Metrics {
  let page: Promise<{ render(): Promise<string> }> | null = null;
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async render() {
      page ??= import('./metrics-page.ts').then(({ MetricsPage }) => new MetricsPage(sources));
      return (await page).render();
    },
  };
}

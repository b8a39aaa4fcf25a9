import pg from 'pg';
import { pino } from 'pino';
import { Activity } from '../../src/ops/activity.ts';
import { MetricsPage } from '../../src/ops/metrics-page.ts';
import { compact } from './table.ts';

/** Every metric as a Markdown table, for docs/monitoring.md: what a scrape says of it. Connects to nothing. */
export async function metricsTable(): Promise<string> {
  const away = { awayMs: 1 };
  const page = await new MetricsPage({
    log: pino({ enabled: false }),
    pool: new pg.Pool(),
    database: away,
    queue: away,
    version: '',
    connections: [],
    activity: new Activity([]),
    queueCounts: async () => new Map(),
    clocks: async () => [],
  }).render();
  const rows = [...page.matchAll(/^# HELP (leadsync_\w+) (.+)\.$/gm)].map(([, name = '', help = '']) => [
    `\`${name}\``,
    help,
  ]);
  return compact([['metric', 'shows'], ['---', '---'], ...rows]);
}

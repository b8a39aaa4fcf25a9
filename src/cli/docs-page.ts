import { docsPath } from '../version.ts';

/** The page that helps with an error, by its code or the part before the point; the code goes first. */
export const docsPages: Readonly<Record<string, string>> = {
  alert: 'monitoring.md#alerts',
  audit: 'problems.md#what-a-report-says-of-a-run',
  caldav: 'caldav.md#set-up',
  chat: 'chat.md#when-the-chat-fails',
  config: 'configuration.md',
  'config.database-pooler': 'operations.md#postgres',
  'config.missing': 'getting-started.md#2-your-own-table-in-two-minutes',
  connection: 'operations.md#several-workers',
  database: 'operations.md#postgres',
  'database.in-use': 'backup.md#restore',
  'database.lost': 'operations.md#when-the-database-or-redis-is-away',
  'database.migration-changed': 'upgrade.md',
  'database.migration-failed': 'upgrade.md',
  'database.newer-schema': 'upgrade.md#the-way-back',
  'database.restore-failed': 'backup.md#restore',
  'database.unavailable': 'operations.md#when-the-database-or-redis-is-away',
  'database.unreachable': 'operations.md#when-the-database-or-redis-is-away',
  edit: 'follow-up-links.md#limits',
  guard: 'edits.md#what-stops-a-run',
  http: 'monitoring.md#the-status-page',
  init: 'getting-started.md#2-your-own-table-in-two-minutes',
  lead: 'edits.md#what-people-do-and-what-happens',
  leads: 'getting-started.md#what-you-need',
  'leads.rate-limited': 'operations.md#limits-of-the-service',
  mail: 'reminders.md#when-the-mail-server-fails',
  'mail.template-broken': 'reminders.md#templates',
  match: 'matching.md',
  place: 'identity.md#places',
  'place.encoding': 'csv.md#only-csv',
  plan: 'commands.md#review-carry-out-put-back',
  queue: 'operations.md#jobs-in-redis',
  receipt: 'commands.md#review-carry-out-put-back',
  row: 'edits.md#ids',
  run: 'operations.md#several-workers',
  'run.waiting': 'operations.md#limits-of-the-service',
  sandbox: 'getting-started.md#try-settings-without-your-data',
  setup: 'getting-started.md#2-your-own-table-in-two-minutes',
  target: 'getting-started.md#1-choose-a-target',
  'target.busy': 'excel.md#limits',
  'target.gone': 'identity.md#places',
  undo: 'commands.md#review-carry-out-put-back',
  usage: 'commands.md',
  'usage.backup-broken': 'backup.md#restore',
  'usage.backup-missing': 'backup.md#restore',
  'usage.configured': 'operations.md#data',
  'usage.init-answer': 'getting-started.md#2-your-own-table-in-two-minutes',
  'usage.init-exists': 'getting-started.md#2-your-own-table-in-two-minutes',
  'usage.init-missing': 'getting-started.md#2-your-own-table-in-two-minutes',
  'usage.match-taken': 'matching.md',
  'usage.no-feeds': 'reminders.md#calendar-feed',
  'usage.state-not-empty': 'backup.md#restore',
};

/**
 * The page for an error code. Null when no page helps.
 */
export function docsPage(code: string): string | null {
  const page = docsPages[code] ?? docsPages[code.split('.', 1)[0] ?? ''];
  return page === undefined ? null : docsPath(page);
}

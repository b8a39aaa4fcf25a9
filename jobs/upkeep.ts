import type { App } from '../src/app.ts';
import { runHousekeeping } from '../src/worker/housekeeping.ts';
import { planMails, calendarQueue } from '../src/worker/plan-mails.ts';
import { syncCalendars } from '../src/worker/sync-calendars.ts';

/**
 * The scheduled jobs for all connections, by name; their patterns are in UTC. Each has a queue of its own: planning goes on while
 * no mail can be sent, and no reminder waits for the housekeeping.
 */
export const upkeep = {
  /** Every hour; jobs are made for two hours ahead. */
  'plan-reminders': { queue: 'reminders', pattern: '0 * * * *', run: (app: App) => planMails(app) },
  /** Every five minutes, and after each sync and each edit. No mail waits for a calendar. */
  'sync-calendars': { queue: calendarQueue, pattern: '*/5 * * * *', run: syncCalendars },
  /** Every day, at an hour at which syncs are rare. */
  'prune-history': { queue: 'housekeeping', pattern: '40 4 * * *', run: runHousekeeping },
} as const;

import type { App } from '../src/app.ts';
import type { JobResult } from '../src/queue/queue.ts';
import { followUpField } from '../src/reminders/plan/plan-reminders.ts';
import { forgetConnection, leftConnections } from '../src/store/forget.ts';
import { type Pruned, prune } from '../src/store/retention.ts';
import { reminderQueue } from './reminder-jobs.ts';
import { syncQueue } from './sync.ts';

/** A queue of its own, so that no reminder waits for it. */
export const pruneQueue = 'housekeeping';

/** What is kept of a connection is kept for so long after it left the configuration: it may come back. */
const leftDays = 90;

/** Every day, at an hour (UTC) that is none of the usual ones for a sync. */
export const pruneHistoryPattern = '40 4 * * *';

/**
 * Deletes the history, the finished runs and the like of every connection that are older than its retention. What is
 * left when `stop` aborts, or when the database fails, is for the next time.
 */
export async function pruneHistory(
  app: App,
  stop: AbortSignal,
): Promise<JobResult<Readonly<Record<string, Pruned>>>> {
  const done: Record<string, Pruned> = {};
  for (const { connection, pool, log } of app.contexts.values()) {
    try {
      const pruned = await prune(pool, connection, followUpField, stop);
      done[connection.name] = pruned;
      if (Object.values(pruned).some((count) => count > 0))
        log.info({ retentionDays: connection.retentionDays, ...pruned }, 'old history was deleted');
    } catch (error) {
      log.warn(
        { err: error },
        'old history could not be deleted; it is tried again tomorrow or after the next sync',
      );
    }
  }
  await forgetLeft(app, stop);
  return { done };
}

/** Forgets connections that left the configuration long ago. */
async function forgetLeft({ pool, log, config, queues }: App, stop: AbortSignal): Promise<void> {
  try {
    for (const name of await leftConnections(pool, config.configured, leftDays * 24)) {
      for (const queue of [syncQueue(name), reminderQueue(name)]) await queues.queue(queue).forget();
      const deleted = await forgetConnection(pool, name, stop);
      const rows = Object.fromEntries(deleted.map((one) => [one.table, one.rows]));
      log.info(
        { connection: name, leftDays, rows },
        'a connection that left the configuration was forgotten',
      );
    }
  } catch (error) {
    log.warn(
      { err: error },
      'a connection that left the configuration could not be forgotten; it is tried again',
    );
  }
}

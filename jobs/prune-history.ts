import type { App } from '../src/app.ts';
import type { JobResult } from '../src/queue/queue.ts';
import { followUpField } from '../src/reminders/plan-reminders.ts';
import { type Pruned, prune } from '../src/store/retention.ts';

/** A queue of its own, so that no reminder waits for it. */
export const pruneQueue = 'housekeeping';

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
  return { done };
}

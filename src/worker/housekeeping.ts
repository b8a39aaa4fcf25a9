import { syncQueue } from '../../jobs/runs.ts';
import type { App } from '../app.ts';
import { followUpField } from '../core/lead/mapping.ts';
import {
  forgetConnection,
  forgetOldDigests,
  leftConnections,
  prune,
  type Pruned,
} from '../store/retention.ts';
import type { Queues } from '../queue/queue.ts';
import { mailQueue } from './mail-jobs.ts';

/** Days for which the data of a connection is kept after it left the configuration: it may come back. */
const leftDays = 90;

/**
 * Deletes the history, the finished runs and the like of every connection that are older than its retention, and the data of
 * connections that left the configuration long ago. The next call deletes the rest when `stop` aborts, or when the
 * database fails.
 */
export async function runHousekeeping(
  app: App,
  stop: AbortSignal,
): Promise<Readonly<Record<string, Pruned>>> {
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
        'old history was not deleted; leadsync tries again tomorrow or after the next sync',
      );
    }
  }
  await forgetLeft(app, stop);
  return done;
}

export async function forgetJobs(queues: Queues, connection: string): Promise<void> {
  for (const queue of [syncQueue, mailQueue]) await queues.queue(queue).forget(connection);
}

async function forgetLeft({ pool, log, config, queues }: App, stop: AbortSignal): Promise<void> {
  try {
    const configured = config.configured.map(({ name }) => name);
    await forgetOldDigests(pool, configured);
    for (const name of await leftConnections(pool, configured, leftDays * 24)) {
      await forgetJobs(await queues(), name);
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
      'a connection that left the configuration was not forgotten; leadsync tries again',
    );
  }
}

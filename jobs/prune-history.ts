import type { App } from '../src/app.ts';
import type { JobResult } from '../src/queue/queue.ts';
import type { Pruned } from '../src/store/retention.ts';
import { keepHouse } from '../src/worker/keep-house.ts';

/** A queue of its own: no reminder waits for it. */
export const pruneQueue = 'housekeeping';

/** Every day, at an hour (UTC) at which syncs are rare. */
export const pruneHistoryPattern = '40 4 * * *';

/** Deletes what is older than the retention, of every connection. */
export async function pruneHistory(
  app: App,
  stop: AbortSignal,
): Promise<JobResult<Readonly<Record<string, Pruned>>>> {
  return { done: await keepHouse(app, stop) };
}

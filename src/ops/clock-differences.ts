import type pg from 'pg';
import type { Queues } from '../queue/queue.ts';
import { aheadMs, databaseNow, machineNow } from '../store/database-time.ts';
import type { Activity } from './activity.ts';

/** How far (ms) a clock is ahead of the database's; below zero: behind. */
export interface ClockDifference {
  readonly clock: 'worker' | 'redis' | 'service';
  /** Whose service it is. */
  readonly connection?: string;
  readonly aheadMs: number;
}

/**
 * The clocks of this machine, of Redis if it holds the jobs, and of each service whose replies to this process had a time. Throws
 * what the database and the queues throw.
 */
export async function clockDifferences({
  pool,
  queues,
  activity,
}: {
  readonly pool: pg.Pool;
  readonly queues: () => Promise<Pick<Queues, 'clock'>>;
  readonly activity: Activity;
}): Promise<readonly ClockDifference[]> {
  const database = await aheadMs(() => databaseNow(pool), Date.now);
  const { clock } = await queues();
  return [
    { clock: 'worker', aheadMs: machineNow() - Date.now() - database },
    ...(clock === null
      ? []
      : [{ clock: 'redis', aheadMs: (await aheadMs(clock, Date.now)) - database } as const]),
    ...[...activity.serviceAheadMs].map(
      ([connection, ahead]) => ({ clock: 'service', connection, aheadMs: ahead - database }) as const,
    ),
  ];
}

import { setTimeout as sleep } from 'node:timers/promises';
import { ErrorCode } from 'bullmq';
import type { BullQueue } from './backend.ts';

/** How often a schedule is set again that another process is setting at the same moment. */
const collisionsBorne = 5;

/**
 * Of processes that set one schedule at once, BullMQ lets one through; the others find its job in their way. When it stays
 * there, it has run already and the clock was set back: then the schedule is as it should be.
 */
export async function upsertSchedule(
  queue: BullQueue,
  ...args: Parameters<BullQueue['upsertJobScheduler']>
): Promise<void> {
  for (let collisions = 0; collisions < collisionsBorne; collisions++) {
    try {
      await queue.upsertJobScheduler(...args);
      return;
    } catch (error) {
      const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code !== ErrorCode.SchedulerJobIdCollision) throw error;
      await sleep(20 * Math.random());
    }
  }
}

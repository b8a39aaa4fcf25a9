import { setTimeout as sleep } from 'node:timers/promises';
import { ErrorCode } from 'bullmq';
import type { BullQueue } from './backend.ts';

/** How often a schedule is set again that other processes are setting at the same moment. */
const mostTries = 6;

/** Postgres: deadlock_detected. */
const deadlock = '40P01';

/**
 * Of processes that set one schedule at once, BullMQ lets one through; the others find its job in their way, or each other.
 * When the job stays there, it has run already and the clock was set back: then the schedule is as it should be.
 */
export async function upsertSchedule(
  queue: BullQueue,
  ...args: Parameters<BullQueue['upsertJobScheduler']>
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await queue.upsertJobScheduler(...args);
      return;
    } catch (error) {
      const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === ErrorCode.SchedulerJobIdCollision && tries === mostTries) return;
      if ((code !== ErrorCode.SchedulerJobIdCollision && code !== deadlock) || tries === mostTries)
        throw error;
      await sleep(20 * tries * Math.random());
    }
  }
}

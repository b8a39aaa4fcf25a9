import { type AdvancedOptions, ErrorCode } from 'bullmq';
import pRetry from 'p-retry';
import type { BullQueue } from './backend.ts';
import { nextRun } from './due-times.ts';

/** Replaces BullMQ's own strategy, which is cron-parser's alone. */
export const scheduleSettings: Pick<AdvancedOptions, 'repeatStrategy'> = {
  repeatStrategy: (now, { pattern, tz }) =>
    pattern === undefined ? undefined : nextRun(pattern, tz ?? 'UTC', now),
};

/** The second one is deadlock_detected of Postgres. */
const concurrent: ReadonlySet<unknown> = new Set([ErrorCode.SchedulerJobIdCollision, '40P01']);

/**
 * Of processes that set one schedule at once, BullMQ lets one through; the others collide with its job, or deadlock. A job that
 * stays has run already, and the clock was set back: then the schedule is as it should be.
 */
export async function upsertSchedule(
  queue: BullQueue,
  ...args: Parameters<BullQueue['upsertJobScheduler']>
): Promise<void> {
  const codeOf = (error: unknown): unknown =>
    error instanceof Error && 'code' in error ? error.code : undefined;
  try {
    await pRetry(() => queue.upsertJobScheduler(...args), {
      retries: 5,
      minTimeout: 10,
      randomize: true,
      shouldRetry: ({ error }) => concurrent.has(codeOf(error)),
    });
  } catch (error) {
    if (codeOf(error) !== ErrorCode.SchedulerJobIdCollision) throw error;
    if (await removeStray(queue, args[0])) await queue.upsertJobScheduler(...args);
  }
}

/** Removes the next job of a schedule when it is in no list: Redis has lost that part of it (an eviction). */
async function removeStray(queue: BullQueue, schedule: string): Promise<boolean> {
  const next = (await queue.getJobScheduler(schedule))?.next;
  const job = next === undefined ? undefined : await queue.getJob(`repeat:${schedule}:${next}`);
  if (job === undefined || (await job.getState()) !== 'unknown') return false;
  // A job of a schedule cannot be removed.
  await queue.removeJobScheduler(schedule);
  await job.remove();
  return true;
}

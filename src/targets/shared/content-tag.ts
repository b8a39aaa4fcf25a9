import { LeadsyncError } from '../../lib/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ContentTag } from '../../ports/target.ts';

/** So long (ms) after a change a service may not show it everywhere; with a margin for clocks that differ. */
const settledMs = 10 * 60_000;

/** Whether a service that shows this as the last change (epoch ms) shows it everywhere by now. */
export function isSettled(changedAt: number, clock: Pick<Clock, 'now'>): boolean {
  return clock.now() - changedAt >= settledMs;
}

/** Null as well where asking fails: reading the table reports what is wrong. Throws the signal's reason. */
export async function tagUnlessFailed(
  ask: () => Promise<ContentTag | null>,
  signal: AbortSignal,
): Promise<ContentTag | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof LeadsyncError && !signal.aborted) return null;
    throw error;
  }
}

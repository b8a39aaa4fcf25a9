import type { Clock } from '../../ports/clock.ts';

/** So long (ms) after a change a service may not show it everywhere; with a margin for clocks that differ. */
const settledMs = 10 * 60_000;

/** Whether a service that shows this as the last change (epoch ms) shows it everywhere by now. */
export function isSettled(changedAt: number, clock: Pick<Clock, 'now'>): boolean {
  return clock.now() - changedAt >= settledMs;
}

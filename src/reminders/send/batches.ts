import type { Reminder } from '../../store/reminders.ts';

/** A reminder as a job names it. */
export interface Planned {
  readonly id: number;
  /** Of a job of before it was scheduled anew there is nothing to do. */
  readonly round: number;
  /** Epoch ms. */
  readonly sendAt: number;
}

/** Reminders that one job sends, soonest first: never none. */
export type Batch = readonly [Planned, ...Planned[]];

/** So many at most: while they are sent, the other jobs of the connection's queue may wait. */
const mostInBatch = 500;

/**
 * Puts reminders, soonest first, into jobs: those of one second together, and of what is late already as many as one job
 * takes. What was tried before stays alone, because it waits for its own next try.
 */
export function batchesOf(reminders: readonly Reminder[], now: number): readonly Batch[] {
  const batches: [Planned, ...Planned[]][] = [];
  const open = new Map<number, [Planned, ...Planned[]]>();
  for (const reminder of reminders) {
    const { id, round, sendAt } = reminder;
    const planned = { id, round, sendAt };
    const second = sendAt <= now ? 0 : Math.ceil(sendAt / 1_000);
    const batch = isUntried(reminder) ? open.get(second) : undefined;
    if (batch !== undefined && batch.length < mostInBatch) {
      batch.push(planned);
      continue;
    }
    const next: [Planned, ...Planned[]] = [planned];
    batches.push(next);
    if (isUntried(reminder)) open.set(second, next);
  }
  return batches;
}

/** Whether nobody has tried to send it: then it has no job of its own. */
export function isUntried({ state, attempts }: Pick<Reminder, 'state' | 'attempts'>): boolean {
  return state === 'scheduled' && attempts === 0;
}

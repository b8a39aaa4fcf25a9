import type { Digest, Reminder } from '../../store/mails.ts';

export interface Planned {
  readonly id: number;
  /** Jobs of an earlier round are obsolete. */
  readonly round: number;
  /** Epoch ms. */
  readonly sendAt: number;
}

/** The reminders of one job, soonest first; never empty. */
export type Batch = readonly [Planned, ...Planned[]];

/** Maximum per job: the connection's other jobs may wait for it. */
const mostInBatch = 500;

/** One per second, and late ones together. Tried ones stay alone: each waits for its own next attempt. */
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

/** Whether no attempt was made yet: then it has no job of its own. */
export function isUntried({ state, attempts }: Pick<Reminder | Digest, 'state' | 'attempts'>): boolean {
  return state === 'scheduled' && attempts === 0;
}

import type { Batch, Planned } from '../src/reminders/send/batches.ts';

/** The queue of the mails of a connection: whoever does not know the connection leaves them to others. */
export const reminderQueue = (connection: string): string => `reminders-${connection}`;

/** A job of `sendReminder`; of the same reminder there is never a second one. `requestedAt`: of the job before (epoch ms). */
export function singleJob(
  connection: string,
  { id, round }: Pick<Planned, 'id' | 'round'>,
  delayMs: number,
  requestedAt?: number,
) {
  const since = requestedAt === undefined ? {} : { requestedAt };
  return {
    payload: { connection, reminderId: id, round, ...since },
    id: `reminder-${id}-${round}`,
    delayMs,
  };
}

/** Of the job of `sendDigest`. */
export const digestJobId = ({ id, sendAt }: { readonly id: number; readonly sendAt: number }): string =>
  `digest-${id}-${sendAt}`;

/** The payload of `sendReminders`, which holds ids and moments alone. */
export const batchPayload = (connection: string, batch: Batch): object => ({ connection, reminders: batch });

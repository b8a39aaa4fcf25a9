import type { Planned } from '../src/reminders/send/batches.ts';

/** The queue of a connection's mails: only workers that know the connection take them. */
export const reminderQueue = (connection: string): string => `reminders-${connection}`;

/** A job `send-reminder`; a reminder never has two. `requestedAt`: of the job before (epoch ms). */
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

/** The id of a job `send-digest`. */
export const digestJobId = ({ id, sendAt }: { readonly id: number; readonly sendAt: number }): string =>
  `digest-${id}-${sendAt}`;

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

/** A job `send-digest` in the queue of the digest's connection; a digest never has two of a round. */
export function digestJob(
  { id, connection, round }: { readonly id: number; readonly connection: string; readonly round: number },
  delayMs: number,
) {
  return { payload: { connection, digestId: id, round }, id: `digest-${id}-${round}`, delayMs };
}

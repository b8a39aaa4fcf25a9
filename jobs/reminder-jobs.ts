import type { ConnectionConfig } from '../src/config/config.ts';
import type { Planned } from '../src/reminders/send/batches.ts';

export const mailQueue = 'mails';

/** The queue of a connection's chat messages: they wait for each other and for the chat, and no mail waits for them. */
export const chatQueue = (connection: string): string => `chat-${connection}`;

/** The queue of what goes to a recipient. A channel that is not set any more is settled among the mails. */
export function queueFor({ name, reminders }: ConnectionConfig, recipient: string): string {
  return reminders?.chat?.recipient === recipient ? chatQueue(name) : mailQueue;
}

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

import { digestJob, mailQueue, queueFor, singleJob } from '../../jobs/reminder-jobs.ts';
import { isChannel } from '../config/chat-webhook.ts';
import type { ConnectionConfig } from '../config/config.ts';
import { shortHash } from '../core/lead/content-hash.ts';
import type { JobQueue, Queues } from '../queue/queue.ts';
import { batchesOf } from '../reminders/send/batches.ts';
import type { Digest, Reminder } from '../store/mails.ts';

const jobsAtOnce = 1_000;

type Jobs = Parameters<JobQueue['addAll']>[1];

/**
 * Jobs for reminders: one for all of a second, and one for each that was tried before or goes to a chat, which takes one message
 * at a time. `salt`: known jobs, which a dead worker may have, count as others.
 */
export async function addReminders(
  queues: Queues,
  connection: ConnectionConfig,
  reminders: readonly Reminder[],
  salt = '',
): Promise<void> {
  const now = Date.now();
  const mails = reminders.filter(({ recipient }) => !isChannel(recipient));
  const batches = batchesOf(mails, now);
  const alone = new Set(batches.filter(({ length }) => length === 1).map(([{ id }]) => id));
  // Retries first: they are the oldest, and some may have been cut off.
  const singles = reminders.filter(({ id, recipient }) => isChannel(recipient) || alone.has(id));
  await addSingles(queues, connection, singles, salt);
  const several = batches.filter(({ length }) => length > 1);
  const jobs = several.map((batch) => ({
    payload: { connection: connection.name, reminders: batch },
    id: `reminders-${shortHash(JSON.stringify(batch))}${salt}`,
    delayMs: Math.max(0, batch[0].sendAt - now),
  }));
  await addJobs(queues.queue(mailQueue), 'send-reminders', jobs);
}

/** A job for each reminder, in its recipient's queue. */
export function addSingles(
  queues: Queues,
  connection: ConnectionConfig,
  reminders: readonly Reminder[],
  salt = '',
): Promise<void> {
  return addEach(queues, connection, 'send-reminder', reminders, (one) => {
    const job = singleJob(connection.name, one, waitFor(one));
    return { ...job, id: job.id + salt };
  });
}

/** The same for digests of the `configured` connections. */
export async function addDigests(
  queues: Queues,
  configured: readonly ConnectionConfig[],
  digests: readonly Digest[],
  salt = '',
): Promise<void> {
  const byHome = Map.groupBy(digests, ({ connection }) => connection);
  for (const connection of configured) {
    const own = byHome.get(connection.name) ?? [];
    await addEach(queues, connection, 'send-digest', own, (one) => {
      const job = digestJob(one, waitFor(one));
      return { ...job, id: job.id + salt };
    });
  }
}

async function addEach<Mail extends Reminder | Digest>(
  queues: Queues,
  connection: ConnectionConfig,
  name: string,
  mails: readonly Mail[],
  jobOf: (mail: Mail) => Jobs[number],
): Promise<void> {
  const byQueue = Map.groupBy(mails, ({ recipient }) => queueFor(connection, recipient));
  for (const [queue, some] of byQueue) await addJobs(queues.queue(queue), name, some.map(jobOf));
}

/** Adds jobs in parts. The queue ignores known ones. */
async function addJobs(queue: JobQueue, name: string, jobs: Jobs): Promise<void> {
  for (let from = 0; from < jobs.length; from += jobsAtOnce)
    await queue.addAll(name, jobs.slice(from, from + jobsAtOnce));
}

function waitFor({ sendAt }: { readonly sendAt: number }): number {
  return Math.max(0, sendAt - Date.now());
}

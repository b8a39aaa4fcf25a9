import { digestJob, queueFor, singleJob } from '../../jobs/reminder-jobs.ts';
import type { ConnectionConfig } from '../config/config.ts';
import type { JobQueue, Queues } from '../queue/queue.ts';
import type { Digest, Reminder } from '../store/mails.ts';

/** Jobs that are added to the queue in one call. */
const jobsAtOnce = 1_000;

type Jobs = Parameters<JobQueue['addAll']>[1];

/** Adds jobs in parts. The queue ignores known ones. */
export async function addJobs(queue: JobQueue, name: string, jobs: Jobs): Promise<void> {
  for (let from = 0; from < jobs.length; from += jobsAtOnce)
    await queue.addAll(name, jobs.slice(from, from + jobsAtOnce));
}

/** A job for each reminder, in its recipient's queue. */
export function addSingles(
  queues: Queues,
  connection: ConnectionConfig,
  reminders: readonly Reminder[],
): Promise<void> {
  const jobOf = (one: Reminder) => singleJob(connection.name, one, waitFor(one));
  return addEach(queues, connection, 'send-reminder', reminders, jobOf);
}

/** The same for digests of the `configured` connections. */
export async function addDigests(
  queues: Queues,
  configured: readonly ConnectionConfig[],
  digests: readonly Digest[],
): Promise<void> {
  const byHome = Map.groupBy(digests, ({ connection }) => connection);
  for (const connection of configured) {
    const own = byHome.get(connection.name) ?? [];
    await addEach(queues, connection, 'send-digest', own, (one) => digestJob(one, waitFor(one)));
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

function waitFor({ sendAt }: { readonly sendAt: number }): number {
  return Math.max(0, sendAt - Date.now());
}

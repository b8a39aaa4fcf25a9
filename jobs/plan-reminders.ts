import type { App } from '../src/app.ts';
import type { JobQueue, JobResult } from '../src/queue/queue.ts';
import { shortHash } from '../src/lead/fingerprint.ts';
import { batchesOf } from '../src/reminders/batches.ts';
import { planDigests } from '../src/reminders/plan-digests.ts';
import { planReminders as plan } from '../src/reminders/plan-reminders.ts';
import { forgetRead } from '../src/store/follow-ups.ts';
import { reminderQueue, singleJob } from './send-reminder.ts';
import { batchPayload } from './send-reminders.ts';

/** A queue of its own, so that planning goes on while no mail can be sent. */
export const planQueue = 'reminders';

/** Every hour; jobs are made for two hours ahead. */
export const planRemindersPattern = '0 * * * *';

/** So many jobs are added at once. */
const jobsAtOnce = 1_000;

/**
 * Plans the reminders and digests of every connection, and puts a delayed job into the connection's queue for those that
 * fall due soon, one for all of a second; one that is there is not added again. `synced`: a connection that has just been
 * synced, so that what was agreed on is all that counts.
 */
export async function planReminders(
  app: App,
  synced: string | null = null,
): Promise<JobResult<{ scheduled: number; digests: number }>> {
  let [scheduled, digests] = [0, 0];
  if (synced !== null) await forgetRead(app.pool, synced);
  for (const { connection } of app.contexts.values()) {
    const queue = app.queues.queue(reminderQueue(connection.name));
    const { name } = connection;
    const reminders = await plan(app.pool, connection);
    const now = Date.now();
    const batches = batchesOf(reminders, now);
    // First those that were tried before: they are the oldest, and some may have been cut off.
    const singles = batches.filter(({ length }) => length === 1).map(([reminder]) => reminder);
    await addInParts(
      queue,
      'send-reminder',
      singles.map((reminder) => singleJob(name, reminder, Math.max(0, reminder.sendAt - now))),
    );
    scheduled += reminders.length;
    const several = batches.filter(({ length }) => length > 1);
    await addInParts(
      queue,
      'send-reminders',
      several.map((batch) => ({
        payload: batchPayload(name, batch),
        id: `reminders-${shortHash(JSON.stringify(batch))}`,
        delayMs: Math.max(0, batch[0].sendAt - now),
      })),
    );
    const due = await planDigests(app.pool, connection);
    const jobs = due.map(({ id, sendAt }) => ({
      payload: { connection: name, digestId: id },
      id: `digest-${id}-${sendAt}`,
      delayMs: Math.max(0, sendAt - Date.now()),
    }));
    await queue.addAll('send-digest', jobs);
    digests += due.length;
  }
  return { done: { scheduled, digests } };
}

async function addInParts(
  queue: JobQueue,
  name: string,
  jobs: Parameters<JobQueue['addAll']>[1],
): Promise<void> {
  for (let from = 0; from < jobs.length; from += jobsAtOnce) {
    await queue.addAll(name, jobs.slice(from, from + jobsAtOnce));
  }
}

import type { App } from '../src/app.ts';
import type { ConnectionConfig } from '../src/config/config.ts';
import type { JobQueue, JobResult } from '../src/queue/queue.ts';
import { shortHash } from '../src/core/lead/fingerprint.ts';
import { batchesOf } from '../src/reminders/send/batches.ts';
import { planDigests } from '../src/reminders/plan/plan-digests.ts';
import { planReminders as plan } from '../src/reminders/plan/plan-reminders.ts';
import { forgetRead } from '../src/store/follow-ups.ts';
import { noteSchedule } from '../src/store/schedules.ts';
import { batchPayload, digestJobId, reminderQueue, singleJob } from './reminder-jobs.ts';

/** A queue of its own, so that planning goes on while no mail can be sent. */
export const planQueue = 'reminders';

/** Every hour; jobs are made for two hours ahead. */
export const planRemindersPattern = '0 * * * *';

/** So many jobs are added at once. */
const jobsAtOnce = 1_000;

/** Plans the reminders and digests of every connection, and notes that these are configured. */
export async function planReminders(
  app: App,
): Promise<JobResult<{ readonly scheduled: number; readonly digests: number }>> {
  let [scheduled, digests] = [0, 0];
  for (const { connection } of app.contexts.values()) {
    const { schedule: pattern, timeZone } = connection.sync;
    await noteSchedule(app.pool, connection.name, { pattern, timeZone });
    const planned = await planConnection(app, connection);
    scheduled += planned.scheduled;
    digests += planned.digests;
  }
  return { done: { scheduled, digests } };
}

/** Plans those of a connection that has just been synced: what was agreed on is all that counts. */
export async function planSynced(app: App, name: string): Promise<void> {
  await forgetRead(app.pool, name);
  const context = app.contexts.get(name);
  if (context !== undefined) await planConnection(app, context.connection);
}

/**
 * Puts a delayed job into the connection's queue for what falls due soon, one for all reminders of a second; one that is
 * there is not added again.
 */
async function planConnection(
  app: App,
  connection: ConnectionConfig,
): Promise<{ readonly scheduled: number; readonly digests: number }> {
  const { name } = connection;
  const queue = app.queues.queue(reminderQueue(name));
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
  const digests = await planDigests(app.pool, connection);
  const jobs = digests.map((digest) => ({
    payload: { connection: name, digestId: digest.id },
    id: digestJobId(digest),
    delayMs: Math.max(0, digest.sendAt - Date.now()),
  }));
  await queue.addAll('send-digest', jobs);
  return { scheduled: reminders.length, digests: digests.length };
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

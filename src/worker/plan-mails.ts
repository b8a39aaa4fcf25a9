import { digestJob, reminderQueue, singleJob } from '../../jobs/reminder-jobs.ts';
import type { App } from '../app.ts';
import type { ConnectionConfig } from '../config/config.ts';
import { shortHash } from '../core/lead/content-hash.ts';
import type { JobQueue } from '../queue/queue.ts';
import { planDigests } from '../reminders/plan/plan-digests.ts';
import { planFromRead, planReminders } from '../reminders/plan/plan-reminders.ts';
import { batchesOf } from '../reminders/send/batches.ts';
import { forgetRead } from '../store/follow-ups.ts';
import { noteEditsPlanned, unplannedEdits } from '../store/requested-edits.ts';
import { noteSchedule } from '../store/connections.ts';

interface PlannedMails {
  readonly scheduled: number;
  readonly digests: number;
}

/** Jobs that are added to the queue in one call. */
const jobsAtOnce = 1_000;

/** Plans the reminders and digests of every connection, and stores that these are configured. */
export async function planMails(app: App): Promise<PlannedMails> {
  let scheduled = 0;
  for (const { connection } of app.contexts.values()) {
    const { schedule: pattern, timeZone } = connection.sync;
    await noteSchedule(app.pool, connection.name, { pattern, timeZone });
    scheduled += await planConnection(app, connection);
  }
  return { scheduled, digests: await addDigests(app) };
}

/** Plans the reminders of a connection after its sync, and all digests, from the baselines alone. */
export async function planSynced(app: App, name: string): Promise<void> {
  await forgetRead(app.pool, name);
  const context = app.contexts.get(name);
  if (context === undefined) return;
  await planConnection(app, context.connection);
  await addDigests(app);
}

/** Plans the mails of leads with a new follow-up by a requested edit, so that none leaves for the old one. */
export async function planEdited(app: App, name: string): Promise<void> {
  const context = app.contexts.get(name);
  if (context === undefined) return;
  const { connection, pool } = context;
  const unplanned = Map.groupBy(await unplannedEdits(pool, name), ({ leadId }) => leadId);
  for (const [leadId, edits] of unplanned) {
    const { base } = edits[0] ?? { base: null };
    const edited = Object.fromEntries(edits.map(({ field, to }) => [field, to]));
    const due = await planFromRead(pool, connection, leadId, { ...base, ...edited });
    const jobs = due.map((one) => singleJob(name, one, Math.max(0, one.sendAt - Date.now())));
    await addInParts(app.queues.queue(reminderQueue(name)), 'send-reminder', jobs);
    await noteEditsPlanned(pool, name, leadId);
  }
}

/** Adds a delayed job for each reminder that is due soon, one for all of a second. The queue ignores known jobs. */
async function planConnection(app: App, connection: ConnectionConfig): Promise<number> {
  const { name } = connection;
  const queue = app.queues.queue(reminderQueue(name));
  const reminders = await planReminders(app.pool, connection);
  const now = Date.now();
  const batches = batchesOf(reminders, now);
  // Retries first: they are the oldest, and some may have been cut off.
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
      payload: { connection: name, reminders: batch },
      id: `reminders-${shortHash(JSON.stringify(batch))}`,
      delayMs: Math.max(0, batch[0].sendAt - now),
    })),
  );
  return reminders.length;
}

/**
 * Adds a delayed job for each digest that is due soon. Of all connections, also when this process works for one alone: what a
 * person gets does not depend on the process that plans it.
 */
async function addDigests(app: App): Promise<number> {
  const digests = await planDigests(app.pool, app.config.configured);
  for (const [home, own] of Map.groupBy(digests, ({ connection }) => connection)) {
    const jobs = own.map((digest) => digestJob(digest, Math.max(0, digest.sendAt - Date.now())));
    await addInParts(app.queues.queue(reminderQueue(home)), 'send-digest', jobs);
  }
  return digests.length;
}

async function addInParts(
  queue: JobQueue,
  name: string,
  jobs: Parameters<JobQueue['addAll']>[1],
): Promise<void> {
  for (let from = 0; from < jobs.length; from += jobsAtOnce)
    await queue.addAll(name, jobs.slice(from, from + jobsAtOnce));
}

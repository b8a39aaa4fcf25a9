import type { App } from '../src/app.ts';
import { dueDigests } from '../src/store/digests.ts';
import { dueReminders } from '../src/store/reminders.ts';
import { digestJobId, reminderQueue, singleJob } from './reminder-jobs.ts';

/**
 * Tries now what the mail server did not take: a worker that starts may have other settings, or somebody has put the
 * server right. What fails again waits again.
 */
export async function endMailPause(app: App, connection: string, stop: AbortSignal): Promise<void> {
  const queue = app.queues.queue(reminderQueue(connection));
  const [reminders, digests] = await Promise.all([
    dueReminders(app.pool, connection, 0),
    dueDigests(app.pool, connection, 0),
  ]);
  const isTried = (mail: { readonly state: string; readonly attempts: number }): boolean =>
    mail.state === 'scheduled' && mail.attempts > 0;
  const ids = [
    ...reminders.filter(isTried).map((reminder) => singleJob(connection, reminder, 0).id),
    ...digests.filter(isTried).map(digestJobId),
  ];
  await queue.endPause(ids, stop);
}

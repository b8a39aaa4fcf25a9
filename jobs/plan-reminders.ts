import type { App } from '../src/app.ts';
import type { JobResult } from '../src/queue/queue.ts';
import { planDigests } from '../src/reminders/plan-digests.ts';
import { planReminders as plan } from '../src/reminders/plan-reminders.ts';
import { reminderQueue } from './send-reminder.ts';

/** Every hour; jobs are made for two hours ahead. */
export const planRemindersPattern = '0 * * * *';

/** So many jobs are added at once. */
const batchSize = 50;

/**
 * Plans the reminders and digests of every connection, and puts a delayed job into the queue for each that falls due
 * soon; one that is there is not added again.
 */
export async function planReminders(app: App): Promise<JobResult<{ scheduled: number; digests: number }>> {
  const queue = app.queues.queue(reminderQueue);
  let [scheduled, digests] = [0, 0];
  for (const { connection } of app.contexts.values()) {
    const reminders = await plan(app.pool, connection);
    for (let from = 0; from < reminders.length; from += batchSize) {
      await Promise.all(
        reminders
          .slice(from, from + batchSize)
          .map(({ id, round, sendAt }) =>
            queue.add(
              'send-reminder',
              { reminderId: id, round },
              { id: `reminder-${id}-${round}`, delayMs: Math.max(0, sendAt - Date.now()) },
            ),
          ),
      );
    }
    scheduled += reminders.length;
    const due = await planDigests(app.pool, connection);
    for (const { id, sendAt } of due) {
      const delayMs = Math.max(0, sendAt - Date.now());
      await queue.add('send-digest', { digestId: id }, { id: `digest-${id}-${sendAt}`, delayMs });
    }
    digests += due.length;
  }
  return { done: { scheduled, digests } };
}

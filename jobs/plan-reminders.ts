import type { App } from '../src/app.ts';
import type { JobResult } from '../src/queue/queue.ts';
import { planReminders as plan } from '../src/reminders/plan-reminders.ts';
import { reminderQueue } from './send-reminder.ts';

/** Every hour; jobs are made for two hours ahead. */
export const planRemindersPattern = '0 * * * *';

/** Puts a delayed job into the queue for each reminder that falls due soon; one that is there is not added again. */
export async function planReminders(app: App): Promise<JobResult<{ scheduled: number }>> {
  const queue = app.queues.queue(reminderQueue);
  let scheduled = 0;
  for (const { connection } of app.contexts.values()) {
    for (const { id, dueAt } of await plan(app.pool, connection)) {
      const delayMs = Math.max(0, dueAt - Date.now());
      await queue.add('send-reminder', { reminderId: id }, { id: `reminder-${id}`, delayMs });
      scheduled += 1;
    }
  }
  return { done: { scheduled } };
}

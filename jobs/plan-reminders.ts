import type { App } from '../src/app.ts';
import type { JobResult } from '../src/queue/queue.ts';
import { planDigests } from '../src/reminders/plan-digests.ts';
import { planReminders as plan } from '../src/reminders/plan-reminders.ts';
import { reminderQueue } from './send-reminder.ts';

/** A queue of its own, so that planning goes on while no mail can be sent. */
export const planQueue = 'reminders';

/** Every hour; jobs are made for two hours ahead. */
export const planRemindersPattern = '0 * * * *';

/** So many jobs are added at once. */
const batchSize = 1_000;

/**
 * Plans the reminders and digests of every connection, and puts a delayed job into the connection's queue for each that
 * falls due soon; one that is there is not added again.
 */
export async function planReminders(app: App): Promise<JobResult<{ scheduled: number; digests: number }>> {
  let [scheduled, digests] = [0, 0];
  for (const { connection } of app.contexts.values()) {
    const queue = app.queues.queue(reminderQueue(connection.name));
    const { name } = connection;
    const reminders = await plan(app.pool, connection);
    for (let from = 0; from < reminders.length; from += batchSize) {
      const jobs = reminders.slice(from, from + batchSize).map(({ id, round, sendAt }) => ({
        payload: { connection: name, reminderId: id, round },
        id: `reminder-${id}-${round}`,
        delayMs: Math.max(0, sendAt - Date.now()),
      }));
      await queue.addAll('send-reminder', jobs);
    }
    scheduled += reminders.length;
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

import type { App } from '../src/app.ts';
import type { JobResult } from '../src/queue/queue.ts';
import { planMails } from '../src/worker/plan-mails.ts';

/** A queue of its own: planning goes on while no mail can be sent. */
export const planQueue = 'reminders';

/** Every hour; jobs are made for two hours ahead. */
export const planRemindersPattern = '0 * * * *';

/** Plans the reminders and digests of every connection. */
export async function planReminders(
  app: App,
): Promise<JobResult<{ readonly scheduled: number; readonly digests: number }>> {
  return { done: await planMails(app) };
}

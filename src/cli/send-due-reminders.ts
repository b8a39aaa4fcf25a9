import { setTimeout as sleep } from 'node:timers/promises';
import { planReminders } from '../../jobs/plan-reminders.ts';
import { reminderQueue, sendReminder } from '../../jobs/send-reminder.ts';
import type { App } from '../app.ts';
import { countDueReminders } from '../store/reminders.ts';

const pollMs = 100;

/** Ms without any reminder leaving before the rest is left to the worker. */
const patienceMs = 15_000;

/**
 * Sends the reminders that are due now, for a sync that nobody's worker follows. What cannot be sent stays scheduled.
 * Returns how many are left.
 */
export async function sendDueReminders(app: App, stop: AbortSignal): Promise<number> {
  const names = [...app.contexts.keys()];
  let left = await countDueReminders(app.pool, names);
  if (left === 0) return 0;
  await using _worker = app.queues.queue(reminderQueue).work({
    'send-reminder': (payload, job, signal) => sendReminder(app, payload, job, signal),
    'plan-reminders': () => planReminders(app),
  });
  let changedAt = Date.now();
  while (left > 0 && Date.now() - changedAt < patienceMs && !stop.aborted) {
    await sleep(pollMs);
    const now = await countDueReminders(app.pool, names);
    if (now !== left) changedAt = Date.now();
    left = now;
  }
  return left;
}

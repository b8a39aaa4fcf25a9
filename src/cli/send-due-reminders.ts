import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import { countDueMails } from '../store/sending.ts';
import { workReminders } from '../worker/work-reminders.ts';

const pollMs = 100;

/** Ms without any mail leaving before the rest is given up. */
const patienceMs = 15_000;

/** Sends the reminders and digests that are due now, for the demo. What cannot be sent stays scheduled. */
export async function sendDueReminders(app: App, stop: AbortSignal): Promise<void> {
  const names = [...app.contexts.keys()];
  let left = await countDueMails(app.pool, names);
  if (left === 0) return;
  await using _worker = workReminders(app);
  let changedAt = Date.now();
  while (left > 0 && Date.now() - changedAt < patienceMs && !stop.aborted) {
    await sleep(pollMs);
    const now = await countDueMails(app.pool, names);
    if (now !== left) changedAt = Date.now();
    left = now;
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import { countDueMails } from '../store/sending.ts';
import { workReminders } from './work-reminders.ts';

const pollMs = 100;

/** Ms without any mail leaving before the rest is left to the worker. */
const patienceMs = 15_000;

/**
 * Sends the reminders and digests that are due now, for a sync that nobody's worker follows. What cannot be sent stays scheduled.
 * Returns how many are left.
 */
export async function sendDueReminders(app: App, stop: AbortSignal): Promise<number> {
  const names = [...app.contexts.keys()];
  let left = await countDueMails(app.pool, names);
  if (left === 0) return 0;
  await using _worker = workReminders(app);
  let changedAt = Date.now();
  while (left > 0 && Date.now() - changedAt < patienceMs && !stop.aborted) {
    await sleep(pollMs);
    const now = await countDueMails(app.pool, names);
    if (now !== left) changedAt = Date.now();
    left = now;
  }
  return left;
}

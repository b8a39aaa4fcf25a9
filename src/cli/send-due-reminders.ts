import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import { countDueMails } from '../store/sending.ts';
import { workReminders } from '../worker/work-reminders.ts';

const pollMs = 100;

/** Ms without a mail sent before giving up. */
const patienceMs = 15_000;

/** Sends due reminders and digests, for the demo. The rest stays scheduled. */
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

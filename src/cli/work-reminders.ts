import { sendDigest } from '../../jobs/send-digest.ts';
import { reminderQueue, sendReminder } from '../../jobs/send-reminder.ts';
import type { App } from '../app.ts';

/** Mails of a connection that are made and sent at once; the leads are read one after the other all the same. */
const concurrency = 8;

/** Sends the reminders and digests of all connections as they fall due, until it is disposed. */
export function workReminders(app: App): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  for (const connection of app.contexts.keys()) {
    stack.use(
      app.queues.queue(reminderQueue(connection)).work(
        {
          'send-reminder': (payload, job, signal) => sendReminder(app, payload, job, signal),
          'send-digest': (payload, job, signal) => sendDigest(app, payload, job, signal),
        },
        concurrency,
      ),
    );
  }
  return stack;
}

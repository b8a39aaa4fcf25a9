import { sendDigest } from '../../jobs/send-digest.ts';
import { endMailPause } from '../../jobs/end-mail-pause.ts';
import { reminderQueue } from '../../jobs/reminder-jobs.ts';
import { sendReminder } from '../../jobs/send-reminder.ts';
import { sendReminders } from '../../jobs/send-reminders.ts';
import type { App } from '../app.ts';
import { Semaphore } from '../semaphore.ts';

/** Jobs of a connection that are worked on at once. */
const concurrency = 8;

/** Mails of all its batches that are made and sent at once; the leads are read one after the other all the same. */
const mailsAtOnce = 16;

/** Sends the reminders and digests of all connections as they fall due, until it is disposed. Ends their pauses first. */
export function workReminders(app: App): AsyncDisposable {
  const stop = new AbortController();
  const ending = [...app.contexts].map(([connection, { log }]) =>
    endMailPause(app, connection, stop.signal).catch((error: unknown) => {
      log.warn({ err: error }, 'a pause of the mails could not be ended: they go on when it is over');
    }),
  );
  const working = [...app.contexts.keys()].map((connection) => {
    const lanes = { turn: new Semaphore(1), mails: new Semaphore(mailsAtOnce), pausedUntil: 0 };
    return app.queues.queue(reminderQueue(connection)).work(
      {
        'send-reminder': (payload, job, signal) => sendReminder(app, payload, job, signal),
        'send-reminders': (payload, job, signal) => sendReminders(app, payload, job, signal, lanes),
        'send-digest': (payload, job, signal) => sendDigest(app, payload, job, signal),
      },
      concurrency,
    );
  });
  return {
    // All at once: each may need some seconds for what is under way.
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all([...ending, ...working.map((one) => one[Symbol.asyncDispose]())]);
    },
  };
}

import { digestJobId, reminderQueue, singleJob } from '../../jobs/reminder-jobs.ts';
import { sendDigest } from '../../jobs/send-digest.ts';
import { sendReminder } from '../../jobs/send-reminder.ts';
import { sendReminders } from '../../jobs/send-reminders.ts';
import type { App } from '../app.ts';
import { Semaphore } from '../semaphore.ts';
import { dueDigests } from '../store/digests.ts';
import { dueReminders } from '../store/reminders.ts';

/** Jobs of a connection that run at once. */
const concurrency = 8;

/** Mails of all batches of a connection that are composed and sent at once; their leads are read one after the other. */
const mailsAtOnce = 16;

/** Sends the reminders and digests of all connections as they fall due, until it is disposed. Ends their pauses first. */
export function workReminders(app: App): AsyncDisposable {
  const stop = new AbortController();
  const ending = [...app.contexts].map(([connection, { log }]) =>
    endMailPause(app, connection, stop.signal).catch((error: unknown) => {
      log.warn({ err: error }, 'the pause of the mails was not ended: they go on when it is over');
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

/** Retries now what the mail server refused: a worker that starts may have other settings, or the server may be repaired. */
async function endMailPause(app: App, connection: string, stop: AbortSignal): Promise<void> {
  const [reminders, digests] = await Promise.all([
    dueReminders(app.pool, connection, 0),
    dueDigests(app.pool, connection, 0),
  ]);
  const isRetry = (mail: { readonly state: string; readonly attempts: number }): boolean =>
    mail.state === 'scheduled' && mail.attempts > 0;
  const ids = [
    ...reminders.filter(isRetry).map((reminder) => singleJob(connection, reminder, 0).id),
    ...digests.filter(isRetry).map(digestJobId),
  ];
  await app.queues.queue(reminderQueue(connection)).endPause(ids, stop);
}

import { mailHandlers } from '../../jobs/mails.ts';
import { digestJob, reminderQueue, singleJob } from '../../jobs/reminder-jobs.ts';
import type { App } from '../app.ts';
import { codeOf } from '../errors.ts';
import { dueDigests, dueReminders } from '../store/mails.ts';

/** Jobs of a connection that run at once. */
const concurrency = 8;

/** Sends the reminders and digests of all connections as they fall due, until it is disposed. Ends their pauses first. */
export function workReminders(app: App): AsyncDisposable {
  const stop = new AbortController();
  const ending = [...app.contexts].map(([connection, { log }]) =>
    endMailPause(app, connection, stop.signal).catch((error: unknown) => {
      // An outage of the queue is logged where it is watched.
      const level = codeOf(error) === 'queue.unavailable' ? 'debug' : 'warn';
      log[level]({ err: error }, 'the pause of the mails was not ended: they go on when it is over');
    }),
  );
  const working = [...app.contexts.keys()].map((connection) =>
    app.queues.queue(reminderQueue(connection)).work(mailHandlers(app), concurrency),
  );
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
    dueDigests(app.pool, [connection], 0),
  ]);
  const isRetry = (mail: { readonly state: string; readonly attempts: number }): boolean =>
    mail.state === 'scheduled' && mail.attempts > 0;
  const ids = [
    ...reminders.filter(isRetry).map((reminder) => singleJob(connection, reminder, 0).id),
    ...digests.filter(isRetry).map((digest) => digestJob(digest, 0).id),
  ];
  await app.queues.queue(reminderQueue(connection)).endPause(ids, stop);
}

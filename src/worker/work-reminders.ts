import { mailHandlers } from '../../jobs/mails.ts';
import { chatQueue, digestJob, reminderQueue, singleJob } from '../../jobs/reminder-jobs.ts';
import type { App } from '../app.ts';
import { isChannel } from '../config/chat-webhook.ts';
import { codeOf } from '../errors.ts';
import { type Digest, dueDigests, dueReminders, type Reminder } from '../store/mails.ts';
import { takeOverMails } from './take-over-mails.ts';

/** Jobs of a connection that run at once. */
const concurrency = 8;

/** Ms from one message of a chat to the next, by all workers: what Slack allows a webhook, and less than the others. */
const chatPaceMs = 1_000;

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
  const working = [...app.contexts].flatMap(([name, { connection }]) => {
    const mails = app.queues.queue(reminderQueue(name)).work(mailHandlers(app), concurrency);
    if (!connection.reminders?.chat) return [mails];
    return [mails, app.queues.queue(chatQueue(name)).work(mailHandlers(app), 1, chatPaceMs)];
  });
  const taking = takeOverMails(app);
  return {
    // All at once: each may need some seconds for what is under way.
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all([...ending, ...[taking, ...working].map((one) => one[Symbol.asyncDispose]())]);
    },
  };
}

/**
 * Retries now what the mail server refused: a worker that starts may have other settings, or the server may be repaired. A chat's
 * pause stays: it may be one that the chat asked for.
 */
async function endMailPause(app: App, connection: string, stop: AbortSignal): Promise<void> {
  const [reminders, digests] = await Promise.all([
    dueReminders(app.pool, connection, 0),
    dueDigests(app.pool, [connection], 0),
  ]);
  const isRetry = ({ state, attempts, recipient }: Reminder | Digest): boolean =>
    state === 'scheduled' && attempts > 0 && !isChannel(recipient);
  const ids = [
    ...reminders.filter(isRetry).map((reminder) => singleJob(connection, reminder, 0).id),
    ...digests.filter(isRetry).map((digest) => digestJob(digest, 0).id),
  ];
  await app.queues.queue(reminderQueue(connection)).endPause(ids, stop);
}

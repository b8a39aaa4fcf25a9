import { mailHandlers } from '../../jobs/mails.ts';
import { chatQueue, digestJob, mailQueue, singleJob } from '../../jobs/reminder-jobs.ts';
import type { WorkerApp } from './open-worker.ts';
import { isChannel } from '../config/chat-webhook.ts';
import { isQueueOutage } from '../queue/backend.ts';
import { type Digest, dueDigests, dueReminders, type Reminder } from '../store/mails.ts';
import { repeat } from '../lib/repeat.ts';
import { isUntried } from '../reminders/send/batches.ts';
import { forgetDeadSenders } from '../store/mail-sender.ts';
import { addDigests, addReminders } from './add-mail-jobs.ts';
import { jobsAtOnce } from './mail-lanes.ts';

/** Ms from one message of a chat to the next, by all workers: what Slack allows a webhook, and less than the others. */
const chatPaceMs = 1_000;

/** Sends the reminders and digests of all connections as they fall due, until it is disposed. Ends their pauses first. */
export async function workReminders(app: WorkerApp): Promise<AsyncDisposable> {
  const queues = await app.queues();
  const stop = new AbortController();
  const ending = endMailPause(app, stop.signal).catch((error: unknown) => {
    // An outage of the queue is logged where it is watched.
    const level = isQueueOutage(error) ? 'debug' : 'warn';
    app.log[level]({ err: error }, 'the pause of the mails was not ended: they go on when it is over');
  });
  const chats = [...app.contexts].filter(([, { connection }]) => connection.reminders?.chat);
  const working = [
    queues.queue(mailQueue).work(mailHandlers(app), jobsAtOnce * app.contexts.size),
    ...chats.map(([name]) => queues.queue(chatQueue(name)).work(mailHandlers(app), 1, chatPaceMs)),
  ];
  const taking = takeOverMails(app);
  return {
    // All at once: each may need some seconds for what is under way.
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all([ending, ...[taking, ...working].map((one) => one[Symbol.asyncDispose]())]);
    },
  };
}

/**
 * Retries now what the mail server refused: a worker that starts may have other settings, or the server may be repaired. A chat's
 * pause stays: it may be one that the chat asked for.
 */
async function endMailPause({ pool, contexts, queues }: WorkerApp, stop: AbortSignal): Promise<void> {
  const names = [...contexts.keys()];
  const [reminders, digests] = await Promise.all([dueReminders(pool, names, 0), dueDigests(pool, names, 0)]);
  const isRetry = ({ state, attempts, recipient }: Reminder | Digest): boolean =>
    state === 'scheduled' && attempts > 0 && !isChannel(recipient);
  const ids = [
    ...reminders.filter(isRetry).map((reminder) => singleJob(reminder.connection, reminder, 0).id),
    ...digests.filter(isRetry).map((digest) => digestJob(digest, 0).id),
  ];
  await (await queues()).queue(mailQueue).endPause(ids, stop);
}

/** Ms between two looks: the queue itself notices a dead worker after half a minute. */
const lookEveryMs = 1_000;

/**
 * Goes on with the mails of workers that die, until it is disposed. Their jobs stay theirs until the queue notices, so what
 * nobody has begun gets further ones. Whoever has claimed a mail sends it: a worker that was only thought dead sends none twice.
 */
function takeOverMails(app: WorkerApp): AsyncDisposable {
  let isAway = false;
  return repeat(lookEveryMs, async () => {
    try {
      for (const token of await forgetDeadSenders(app.pool)) await takeOver(app, token);
      isAway = false;
    } catch (error) {
      // The database and the queue are watched elsewhere; the queue's own look comes later.
      if (!isAway) app.log.debug({ err: error }, 'dead workers are not looked for now');
      isAway = true;
    }
  });
}

/** A worker sends a chat's messages one at a time, while the queue continues with other jobs. */
function isLeft(mail: Reminder | Digest): boolean {
  return isUntried(mail) && !isChannel(mail.recipient);
}

async function takeOver(app: WorkerApp, token: string): Promise<void> {
  const reminders = (await dueReminders(app.pool, [...app.contexts.keys()], 0)).filter(isLeft);
  for (const [name, some] of Map.groupBy(reminders, ({ connection }) => connection)) {
    const context = app.contexts.get(name);
    if (context) await addReminders(await app.queues(), context.connection, some, `-${token}`);
  }
  const { configured } = app.config;
  const names = configured.map(({ name }) => name);
  const digests = (await dueDigests(app.pool, names, 0)).filter(isLeft);
  await addDigests(await app.queues(), configured, digests, `-${token}`);
  const count = reminders.length + digests.length;
  if (count > 0) app.log.warn({ count }, 'a worker ended amid its mails; this one goes on with them');
}

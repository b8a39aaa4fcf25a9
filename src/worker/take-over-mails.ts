import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../app.ts';
import { isChannel } from '../config/chat-webhook.ts';
import { isUntried } from '../reminders/send/batches.ts';
import { forgetDeadSenders } from '../store/mail-sender.ts';
import { type Digest, dueDigests, dueReminders, type Reminder } from '../store/mails.ts';
import { addDigests, addReminders } from './add-mail-jobs.ts';

/** Ms between two looks: the queue itself notices a dead worker after half a minute. */
const lookEveryMs = 1_000;

/**
 * Goes on with the mails of workers that die, until it is disposed. Their jobs stay theirs until the queue notices, so what
 * nobody has begun gets further ones. Whoever has claimed a mail sends it: a worker that was only thought dead sends none twice.
 */
export function takeOverMails(app: App): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const watch = async (): Promise<void> => {
    let isAway = false;
    while (await sleep(lookEveryMs, true, { signal }).catch(() => false)) {
      try {
        for (const token of await forgetDeadSenders(app.pool)) await takeOver(app, token);
        isAway = false;
      } catch (error) {
        // The database and the queue are watched elsewhere; the queue's own look comes later.
        if (!isAway) app.log.debug({ err: error }, 'dead workers are not looked for now');
        isAway = true;
      }
    }
  };
  const watching = watch();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
    },
  };
}

/** Of a chat's messages a worker has one at a time, and the queue goes on with the others. */
function isLeft(mail: Reminder | Digest): boolean {
  return isUntried(mail) && !isChannel(mail.recipient);
}

async function takeOver(app: App, token: string): Promise<void> {
  let count = 0;
  for (const { connection } of app.contexts.values()) {
    const reminders = (await dueReminders(app.pool, connection.name, 0)).filter(isLeft);
    await addReminders(app.queues, connection, reminders, `-${token}`);
    count += reminders.length;
  }
  const { configured } = app.config;
  const names = configured.map(({ name }) => name);
  const digests = (await dueDigests(app.pool, names, 0)).filter(isLeft);
  await addDigests(app.queues, configured, digests, `-${token}`);
  count += digests.length;
  if (count > 0) app.log.warn({ count }, 'a worker ended amid its mails; this one goes on with them');
}

import { mailHandlers } from '../../jobs/mails.ts';
import { isQueueOutage } from '../queue/backend.ts';
import { repeat } from '../lib/waiting.ts';
import { forgetDeadSenders } from '../store/mail-ledger.ts';
import { retryMails } from '../store/sending.ts';
import { addMailJobs, mailQueue } from './mail-jobs.ts';
import type { WorkerApp } from './open-worker.ts';

/** Ms between two looks: the queue itself notices a dead worker after half a minute. */
const lookEveryMs = 1_000;

/** Sends the reminders and digests of all connections as they fall due, until it is disposed; at once what was refused before. */
export async function workMails(app: WorkerApp): Promise<AsyncDisposable> {
  const { pool, contexts } = app;
  const names = [...contexts.keys()];
  const working = (await app.queues()).queue(mailQueue).work(mailHandlers(app), 2 * contexts.size);
  await retryMails(pool, names);
  await addMailJobs(app, names).catch((error: unknown) => {
    // Where the queue is watched the jobs are added when it is back.
    if (!isQueueOutage(error)) throw error;
  });
  let isAway = false;
  // Goes on with the mails of workers that die; whoever was only thought dead sends none twice.
  const taking = repeat(lookEveryMs, async () => {
    try {
      const dead = await forgetDeadSenders(pool);
      const added = dead.length === 0 ? 0 : await addMailJobs(app, names);
      if (added > 0) app.log.warn('a worker ended amid its mails; this one goes on with them');
      isAway = false;
    } catch (error) {
      // The database and the queue are watched elsewhere; their own look comes later.
      if (!isAway) app.log.debug({ err: error }, 'dead workers are not looked for now');
      isAway = true;
    }
  });
  return {
    // All at once: each may need some seconds for what is under way.
    async [Symbol.asyncDispose]() {
      await Promise.all([taking, working].map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

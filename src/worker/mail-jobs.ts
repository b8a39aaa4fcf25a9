import type { App } from '../app.ts';
import { usualWaits } from '../reminders/send/mail-limits.ts';
import { type MailWork, nextMailAt, type SendingWaits } from '../store/sending.ts';

export const mailQueue = 'mails';

/** How far ahead (ms) jobs are made: twice the planning interval, so that none is missed. */
export const horizonMs = 2 * 3_600_000;

/** What is due for so long (ms) and in nobody's hand may have lost its job: a look adds one. */
export const lostMs = 60_000;

/** Ms after which it gets another job beside one that should be there: Redis may have lost that one from its lists alone. */
export const secondJobMs = 600_000;

/**
 * Adds a job for the next moment at which mails of these connections are due; the job of a moment that is to come is there once.
 * `isLook`: only for one that may have lost it.
 */
export async function addMailJobs(
  { pool, queues, waits = usualWaits }: Pick<App, 'pool' | 'queues'> & { readonly waits?: SendingWaits },
  connections: Iterable<string>,
  isLook = false,
): Promise<number> {
  let added = 0;
  for (const connection of connections) {
    for (const isChat of [false, true]) {
      const at = await nextMailAt(pool, { connection, isChat }, waits);
      const now = Date.now();
      if (at === null || at > now + horizonMs || (isLook && at > now - lostMs)) continue;
      await addMailJob(
        { queues },
        { connection, isChat },
        at,
        isLook ? `look-${Math.floor(now / secondJobMs)}` : undefined,
      );
      added += 1;
    }
  }
  return added;
}

/** `at`: epoch ms. One that is due now may have begun already: it gets a further job. */
export async function addMailJob(
  { queues }: Pick<App, 'queues'>,
  work: MailWork,
  at: number,
  name = at > Date.now() ? String(at) : crypto.randomUUID(),
): Promise<void> {
  const { connection, isChat } = work;
  const id = `${isChat ? 'chat' : 'mails'}-${connection}-${name}`;
  const options = { id, delayMs: Math.max(0, at - Date.now()), isKept: false };
  await (await queues()).queue(mailQueue).add('send-mails', { ...work, at }, options);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { isChannel } from '../config/chat-webhook.ts';
import type { JobResult } from '../queue/work.ts';
import type { LinkMaker } from '../reminders/links/link-token.ts';
import { type Outcome, retryDelayMs } from '../reminders/send/deliver.ts';
import { sendDigest } from '../reminders/send/send-digest.ts';
import { type ReminderContext, sendReminder } from '../reminders/send/send-reminder.ts';
import { linkKey } from '../store/keeper.ts';
import { type MailWork, nextMailAt, putOffMails, type TakenMail } from '../store/sending.ts';
import { addMailJob, horizonMs } from './mail-jobs.ts';
import type { WorkerApp } from './open-worker.ts';

/** Mails of a connection that are composed and sent at once. */
const mailsAtOnce = 16;

/** Ms from one message of a chat to the next, by all workers: what Slack allows a webhook, and less than the others. */
const chatPaceMs = 1_000;

/** Ms after which a job whose mails are due and in nobody's hand looks again. */
const lookMs = 1_000;

/** Sends what is due, and adds the job of the next moment. */
export async function sendMails(
  app: WorkerApp,
  work: MailWork & { readonly at: number },
  stop: AbortSignal,
): Promise<JobResult<object>> {
  const { ledger, waits } = app;
  const { connection, isChat } = work;
  // A chat gets one message at a time.
  if (isChat && !ledger.enterChat(connection)) return { againAfterMs: chatPaceMs };
  const most = isChat ? 1 : mailsAtOnce;
  const underWay = new Set<Promise<void>>();
  let isShared = isChat;
  try {
    while (!stop.aborted) {
      const taken = await ledger.take(work, waits, most - underWay.size);
      if (taken === null) return { againAfterMs: chatPaceMs };
      if (taken.length === 0 && underWay.size === 0) break;
      const linkMaker = taken.length === 0 ? null : await linkMakerOf(app);
      for (const one of taken) {
        const sending = trySend(app, one, linkMaker, stop).finally(() => underWay.delete(sending));
        underWay.add(sending);
      }
      if (!isShared && taken.length === most) {
        isShared = true;
        // Another worker may have some of the rest.
        await addMailJob(app, work, Date.now());
      }
      // Not for each that ends: taking has its price.
      do await Promise.race(underWay);
      while (underWay.size > most / 2);
      if (isChat) await sleep(chatPaceMs, undefined, { signal: stop }).catch(() => {});
    }
  } finally {
    // Also after a fault: nobody else would wait for what is under way before the process ends.
    await Promise.all(underWay);
    // The turn ends by itself, too, when the database is away.
    if (isChat) await ledger.leaveChat(connection).catch(() => {});
  }
  if (stop.aborted) return { againAfterMs: 0 };
  const at = await nextMailAt(app.pool, work, waits);
  const now = Date.now();
  if (at === null || at > now + horizonMs) return { done: {} };
  // This job is known by its own moment.
  if (at <= Math.max(now, work.at)) return { againAfterMs: Math.max(lookMs, at - now) };
  await addMailJob(app, work, at);
  return { done: {} };
}

/** Makes one attempt. Any fault ends in a retry. */
async function trySend(
  app: WorkerApp,
  taken: TakenMail,
  linkMaker: LinkMaker | null,
  stop: AbortSignal,
): Promise<void> {
  const { waits, config, pool } = app;
  const { id, connection, recipient } = taken.mail;
  const context = app.contexts.get(connection);
  const openTemplates = app.templates.get(connection);
  if (!context || !openTemplates) throw new Error(`connection ${connection} is not configured any more`);
  const { log, clock } = context;
  try {
    const templates = await openTemplates();
    const configured = config.configured.map(({ name }) => name);
    const { ledger, mailer, breakers } = app;
    const sending = { ...context, configured, ledger, mailer, breakers, waits, templates, linkMaker };
    const outcome = await sendTaken(sending, config, taken, stop);
    if (!('againAfterMs' in outcome)) return;
    const { againAfterMs, isOfServer, isOfSender } = outcome;
    if (isOfServer || isOfSender)
      await putOffMails(pool, isOfServer ? configured : [connection], isChannel(recipient), againAfterMs);
  } catch (error) {
    if (!stop.aborted) log.error({ err: error }, 'a mail was not sent; leadsync tries again');
    const waitMs = stop.aborted ? 0 : retryDelayMs({ waits, clock });
    // While the database is away others see by the lease that nobody has it in hand.
    await app.ledger.end({ id, state: null, note: null, waitMs }, stop).catch(() => {});
  }
}

/** Makes one attempt, and notes what came of it. */
export async function sendTaken(
  context: ReminderContext,
  config: WorkerApp['config'],
  { mail, background }: TakenMail,
  stop: AbortSignal,
): Promise<Outcome> {
  const outcome =
    mail.kind === 'digest'
      ? await sendDigest(context, config, mail, stop)
      : await sendReminder(context, mail, background, stop);
  const { id } = mail;
  if ('againAfterMs' in outcome) {
    const { state = null, note = null, againAfterMs: waitMs, isTry, isUnknown } = outcome;
    await context.ledger.end({ id, state, note, waitMs, isTry, isUnknown }, stop);
  } else {
    const { state, note, tells, andThen } = outcome;
    await context.ledger.end({ id, state, note, tells }, stop);
    await andThen?.();
  }
  return outcome;
}

/** Null: mails have no links. */
async function linkMakerOf({ pool, config: { publicUrl } }: WorkerApp): Promise<LinkMaker | null> {
  return publicUrl === undefined ? null : { key: await linkKey(pool), publicUrl };
}

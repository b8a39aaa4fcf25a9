import { setTimeout as sleep } from 'node:timers/promises';
import { mailQueue, singleJob } from '../../jobs/reminder-jobs.ts';
import type { WorkerApp } from './open-worker.ts';
import type { JobHandle, JobResult } from '../queue/queue.ts';
import { isUntried, type Planned } from '../reminders/send/batches.ts';
import { type Outcome, retryDelayMs } from '../reminders/send/deliver.ts';
import type { LinkMaker } from '../reminders/links/link-token.ts';
import { type ReminderContext, sendRead, unaskedMs } from '../reminders/send/send-reminder.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { linkKey } from '../store/keeper.ts';
import { getReminders, type Reminder } from '../store/mails.ts';
import { type ReadMail, readMails } from '../store/sending.ts';
import { addSingles } from './add-mail-jobs.ts';

/** Mails of all batches of a connection that are composed and sent at once. */
const mailsAtOnce = 16;

/** Mails of a batch that are read from the database at once; what becomes of one meanwhile is seen when it is begun. */
const readAtOnce = 2 * mailsAtOnce;

/** Jobs of a connection under way at once: others do not wait for its mails. */
export const jobsAtOnce = 8;

export interface Lanes {
  readonly jobs: Semaphore;
  /** One batch at a time starts its mails: they leave in order. */
  readonly turn: Semaphore;
  readonly mails: Semaphore;
  /** Epoch ms until which no mail can be sent, by the last failure; of its sender, or of all mails. */
  pausedUntil: number;
}

export function openLanes(): Lanes {
  return {
    jobs: new Semaphore(jobsAtOnce),
    turn: new Semaphore(1),
    mails: new Semaphore(mailsAtOnce),
    pausedUntil: 0,
  };
}

/** Works on a job when it is its turn; while none of the connection's mails can be sent, it goes back untried. */
export async function takeJob(
  lanes: Lanes,
  stop: AbortSignal,
  work: (lanes: Lanes) => Promise<JobResult<object>>,
): Promise<JobResult<object>> {
  using _turn = await lanes.jobs.acquire();
  if (stop.aborted) return { againAfterMs: 0, wholeQueue: false };
  const pauseMs = lanes.pausedUntil - Date.now();
  if (pauseMs > 0) return { againAfterMs: pauseMs, wholeQueue: false };
  return await work(lanes);
}

/** Null: mails have no links. */
async function linkMakerOf({ pool, config: { publicUrl } }: WorkerApp): Promise<LinkMaker | null> {
  return publicUrl === undefined ? null : { key: await linkKey(pool), publicUrl };
}

/** Makes one attempt to send a mail. Any fault ends in a retry: a failed job would not be added again, and the mail lost. */
export async function trySend(
  app: WorkerApp,
  connection: string,
  lanes: Lanes,
  stop: AbortSignal,
  attempt: (context: ReminderContext) => Promise<Outcome<string>>,
): Promise<JobResult<{ state: string }>> {
  const { ledger, mailer, breakers, waits } = app;
  const context = app.contexts.get(connection);
  const openTemplates = app.templates.get(connection);
  if (!context || !openTemplates) throw new Error(`connection ${connection} is not configured any more`);
  try {
    await ledger.appear();
    const addJobs = async (reminders: readonly Reminder[]): Promise<void> =>
      addSingles(await app.queues(), context.connection, reminders);
    const [templates, linkMaker] = await Promise.all([openTemplates(), linkMakerOf(app)]);
    const configured = app.config.configured.map(({ name }) => name);
    const sending = {
      ...context,
      configured,
      ledger,
      mailer,
      breakers,
      waits,
      templates,
      linkMaker,
      addJobs,
    };
    const outcome = await attempt(sending);
    if ('state' in outcome) return { done: outcome };
    const { againAfterMs, wholeQueue, ofSender = wholeQueue } = outcome;
    if (ofSender) lanes.pausedUntil = context.clock.now() + againAfterMs;
    return { againAfterMs, wholeQueue };
  } catch (error) {
    if (stop.aborted) return { againAfterMs: 0, wholeQueue: false };
    context.log.error({ err: error }, 'a mail was not sent; leadsync tries again');
    return { againAfterMs: retryDelayMs({ waits, clock: context.clock }), wholeQueue: false };
  }
}

/**
 * Sends the reminders of a batch in their order, each at its moment and as soon as a slot is free. A failed attempt is
 * retried by a job of its own. The untried ones stay in the batch: while no mail can be sent they wait with all others,
 * and while no lead can be read, for the Leads service.
 */
export async function sendBatch(
  app: WorkerApp,
  { connection, reminders }: { readonly connection: string; readonly reminders: readonly Planned[] },
  { requestedAt }: JobHandle,
  stop: AbortSignal,
  lanes: Lanes,
): Promise<JobResult<object>> {
  const context = app.contexts.get(connection);
  if (!context) throw new Error(`connection ${connection} is not configured any more`);
  const { clock, log } = context;
  const queue = (await app.queues()).queue(mailQueue);
  const retry = (planned: Planned, delayMs: number): Promise<void> =>
    queue.addAll('send-reminder', [singleJob(connection, planned, delayMs, requestedAt)]);
  /** Ms after which the batch goes on with the untried ones. */
  const waits: number[] = [];
  let wholeQueue = false;
  const sendOne = async (planned: Planned, mail: ReadMail): Promise<void> => {
    const job = { round: planned.round, requestedAt };
    const result = await trySend(app, connection, lanes, stop, (sending) =>
      sendRead(sending, mail, job, stop),
    );
    if ('done' in result || stop.aborted) return;
    wholeQueue ||= result.wholeQueue;
    const [reminder] = await getReminders(app.pool, [planned.id]);
    if (reminder && isUntried(reminder)) waits.push(result.againAfterMs);
    else await retry(planned, result.againAfterMs);
  };
  /** Ms for which the service is left alone, at most until this mail is sent without reading the lead. */
  const serviceWait = ({ sendAt }: Planned): number => {
    const now = clock.now();
    const left = Math.max(sendAt, requestedAt) + unaskedMs - now;
    return Math.min(app.breakers.leadsUntil(connection) - now, left);
  };
  const faults: unknown[] = [];
  const underWay: Promise<void>[] = [];
  const startAll = async (): Promise<void> => {
    using _turn = await lanes.turn.acquire();
    await app.ledger.appear();
    for await (const [planned, mail] of readInParts(app, reminders)) {
      if (mail === null || !isOpen(mail.reminder, planned)) continue;
      if (!isUntried(mail.reminder)) {
        // The batch was cut off. The queue ignores the job when the retry waits already.
        await retry(planned, 0);
        continue;
      }
      const early = planned.sendAt - clock.now();
      if (early > 0) await sleep(early, undefined, { signal: stop }).catch(() => {});
      const slot = await lanes.mails.acquire();
      if (stop.aborted || lanes.pausedUntil > clock.now()) return slot[Symbol.dispose]();
      const wait = serviceWait(planned);
      if (wait > 0) {
        waits.push(wait);
        return slot[Symbol.dispose]();
      }
      const sending = sendOne(planned, mail).catch((error: unknown) => void faults.push(error));
      underWay.push(sending.finally(() => slot[Symbol.dispose]()));
    }
  };
  await startAll().catch((error: unknown) => void faults.push(error));
  await Promise.all(underWay);
  if (stop.aborted) return { againAfterMs: 0, wholeQueue: false };
  const pauseMs = lanes.pausedUntil - clock.now();
  if (pauseMs > 0) return { againAfterMs: pauseMs, wholeQueue };
  if (faults.length > 0) {
    // A failed job would not be added again.
    log.error({ err: faults[0] }, 'reminders were not sent; leadsync tries again');
    waits.push(retryDelayMs({ waits: app.waits, clock }));
  }
  return waits.length === 0 ? { done: {} } : { againAfterMs: Math.min(...waits), wholeQueue: false };
}

async function* readInParts(
  { pool }: WorkerApp,
  reminders: readonly Planned[],
): AsyncGenerator<readonly [Planned, ReadMail | null]> {
  for (let from = 0; from < reminders.length; from += readAtOnce) {
    const part = reminders.slice(from, from + readAtOnce);
    const mails = await readMails(
      pool,
      part.map(({ id }) => id),
    );
    for (const [index, planned] of part.entries()) yield [planned, mails[index] ?? null];
  }
}

function isOpen({ state, round }: Reminder, planned: Planned): boolean {
  return round === planned.round && (state === 'scheduled' || state === 'sending');
}

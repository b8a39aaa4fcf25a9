import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { App } from '../src/app.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';
import { isUntried, type Planned } from '../src/reminders/send/batches.ts';
import { retryDelayMs } from '../src/reminders/send/deliver.ts';
import type { Semaphore } from '../src/semaphore.ts';
import { unaskedMs } from '../src/reminders/send/send-reminder.ts';
import { getReminders, type Reminder } from '../src/store/reminders.ts';
import { reminderQueue, singleJob } from './reminder-jobs.ts';
import { sendReminder } from './send-reminder.ts';

const plannedSchema = z.object({ id: z.number(), round: z.number(), sendAt: z.number() });
const payloadSchema = z.object({ connection: z.string(), reminders: z.array(plannedSchema) });

/** What the batches of a connection share. */
export interface Lanes {
  /** For one batch at a time to begin its mails, so that they leave in order. */
  readonly turn: Semaphore;
  /** For each mail that is made and sent. */
  readonly mails: Semaphore;
  /** Epoch ms before which no mail can be sent, as far as one of them has found out. */
  pausedUntil: number;
}

/**
 * Sends the reminders of a batch in their order, each at its moment and as soon as there is a place for it. One that was
 * tried and is to be tried again gets a job of its own. The batch keeps the others: when no mail can be sent they wait with
 * the whole queue, and when no lead can be read, for the service.
 */
export async function sendReminders(
  app: App,
  payload: unknown,
  job: JobHandle,
  stop: AbortSignal,
  lanes: Lanes,
): Promise<JobResult<object>> {
  const { connection, reminders } = payloadSchema.parse(payload);
  const context = app.contexts.get(connection);
  if (!context) throw new Error(`connection ${connection} is not configured any more`);
  const { clock, log } = context;
  const queue = app.queues.queue(reminderQueue(connection));
  const tryLater = (planned: Planned, delayMs: number): Promise<void> =>
    queue.addAll('send-reminder', [singleJob(connection, planned, delayMs, job.requestedAt)]);
  /** When (in ms) the batch is to go on with those that nobody has tried to send so far. */
  const waits: number[] = [];
  const sendOne = async (planned: Planned): Promise<void> => {
    const one = { connection, reminderId: planned.id, round: planned.round };
    const result = await sendReminder(app, one, job, stop);
    if ('done' in result || stop.aborted) return;
    if (result.wholeQueue) lanes.pausedUntil = clock.now() + result.againAfterMs;
    const reminder = await app.ledger.reminder(planned.id);
    if (reminder !== null && isUntried(reminder)) waits.push(result.againAfterMs);
    else await tryLater(planned, result.againAfterMs);
  };
  /** How long the service is to be left alone (ms), unless this mail is then sent without its word. */
  const serviceWait = ({ sendAt }: Planned): number => {
    const now = clock.now();
    const left = Math.max(sendAt, job.requestedAt) + unaskedMs - now;
    return Math.min(app.breakers.leadsUntil(connection) - now, left);
  };
  const faults: unknown[] = [];
  const underWay: Promise<void>[] = [];
  const beginAll = async (): Promise<void> => {
    using _turn = await lanes.turn.acquire();
    const ids = reminders.map(({ id }) => id);
    const rows = await getReminders(app.pool, ids);
    for (const [index, planned] of reminders.entries()) {
      const reminder = rows[index] ?? null;
      if (reminder === null || !isOpen(reminder, planned)) continue;
      if (!isUntried(reminder)) {
        // In a batch that was cut off. When it waits for its own next try already, nothing is added.
        await tryLater(planned, 0);
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
      const sending = sendOne(planned).catch((error: unknown) => void faults.push(error));
      underWay.push(sending.finally(() => slot[Symbol.dispose]()));
    }
  };
  await beginAll().catch((error: unknown) => void faults.push(error));
  await Promise.all(underWay);
  if (stop.aborted) return { againAfterMs: 0, wholeQueue: false };
  const pauseMs = lanes.pausedUntil - clock.now();
  if (pauseMs > 0) return { againAfterMs: pauseMs, wholeQueue: true };
  if (faults.length > 0) {
    // A job that failed would not be added again.
    log.error({ err: faults[0] }, 'reminders could not be sent; they are tried again');
    waits.push(retryDelayMs({ waits: app.waits, clock }));
  }
  return waits.length === 0 ? { done: {} } : { againAfterMs: Math.min(...waits), wholeQueue: false };
}

function isOpen({ state, round }: Reminder, planned: Planned): boolean {
  return round === planned.round && (state === 'scheduled' || state === 'sending');
}

import { z } from 'zod';
import type { App } from '../src/app.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';
import { type Outcome, retryDelayMs } from '../src/reminders/send/deliver.ts';
import type { Reminder } from '../src/store/reminders.ts';
import { type ReminderContext, sendReminder as send } from '../src/reminders/send/send-reminder.ts';
import { reminderQueue, singleJob } from './reminder-jobs.ts';

const payloadSchema = z.object({
  connection: z.string(),
  reminderId: z.number(),
  round: z.number(),
  /** Epoch ms, when an earlier job began with it. */
  requestedAt: z.number().optional(),
});

/** Sends one reminder. */
export async function sendReminder(
  app: App,
  payload: unknown,
  job: JobHandle,
  stop: AbortSignal,
): Promise<JobResult<{ state: string }>> {
  const { connection, reminderId, round, requestedAt = job.requestedAt } = payloadSchema.parse(payload);
  const reminder = { reminderId, round, requestedAt };
  return tryToSend(app, connection, stop, (context) => send(context, reminder, stop));
}

/**
 * Takes one try of a mail as far as it can go. A job that failed would not be added again, and the mail lost for a disk
 * that was full once: whatever happens, it goes back.
 */
export async function tryToSend(
  app: App,
  connection: string,
  stop: AbortSignal,
  attempt: (context: ReminderContext) => Promise<Outcome<string>>,
): Promise<JobResult<{ state: string }>> {
  const { ledger, mailer, breakers, waits } = app;
  const context = app.contexts.get(connection);
  const openTemplates = app.templates.get(connection);
  if (!context || !openTemplates) throw new Error(`connection ${connection} is not configured any more`);
  try {
    const queue = app.queues.queue(reminderQueue(connection));
    const addJobs = (reminders: readonly Reminder[]): Promise<void> => {
      const jobs = reminders.map((one) => singleJob(connection, one, Math.max(0, one.sendAt - Date.now())));
      return queue.addAll('send-reminder', jobs);
    };
    const templates = await openTemplates();
    const outcome = await attempt({ ...context, ledger, mailer, breakers, waits, templates, addJobs });
    return 'state' in outcome ? { done: outcome } : outcome;
  } catch (error) {
    if (stop.aborted) return { againAfterMs: 0, wholeQueue: false };
    context.log.error({ err: error }, 'a mail could not be sent; it is tried again');
    return { againAfterMs: retryDelayMs({ waits, clock: context.clock }), wholeQueue: false };
  }
}

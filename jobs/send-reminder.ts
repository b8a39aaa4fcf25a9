import { z } from 'zod';
import type { App } from '../src/app.ts';
import { LeadsyncError } from '../src/errors.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';
import { sendReminder as send } from '../src/reminders/send-reminder.ts';
import { getReminder, setReminderState } from '../src/store/reminders.ts';

const payloadSchema = z.object({ reminderId: z.number() });

export const reminderQueue = 'reminders';

/** When the mail server or the service is away, a reminder is tried again after so long (ms). */
const retryMs = 300_000;

/** Sends one reminder. */
export async function sendReminder(
  app: App,
  payload: unknown,
  _job: JobHandle,
  stop: AbortSignal,
): Promise<JobResult<{ state: string }>> {
  const { reminderId } = payloadSchema.parse(payload);
  const reminder = await getReminder(app.pool, reminderId);
  const context = reminder && app.contexts.get(reminder.connection);
  const templates = reminder && app.templates.get(reminder.connection);
  if (!context || !templates) return { done: { state: 'cancelled' } };
  try {
    return { done: { state: await send({ ...context, mailer: app.mailer, templates }, reminderId, stop) } };
  } catch (error) {
    if (stop.aborted) return { againAfterMs: 0, wholeQueue: false };
    if (!(error instanceof LeadsyncError)) {
      // A job that failed is not added again: the reminder would be lost for a disk that was full once.
      app.log.error(
        { reminder: reminderId, err: error },
        'the reminder could not be sent; it is tried again',
      );
      return { againAfterMs: retryMs, wholeQueue: false };
    }
    app.log.warn({ reminder: reminderId, code: error.code }, error.message);
    if (error.retry === 'never') {
      await setReminderState(app.pool, reminderId, 'failed', error.message);
      return { done: { state: 'failed' } };
    }
    return { againAfterMs: error.retryAfterMs ?? retryMs, wholeQueue: false };
  }
}

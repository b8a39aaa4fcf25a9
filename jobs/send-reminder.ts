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
  if (!context) return { done: { state: 'cancelled' } };
  try {
    return { done: { state: await send({ ...context, mailer: app.mailer }, reminderId, stop) } };
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    app.log.warn({ reminder: reminderId, code: error.code }, error.message);
    if (error.retry === 'never') {
      await setReminderState(app.pool, reminderId, 'failed', error.message);
      return { done: { state: 'failed' } };
    }
    return { againAfterMs: error.retryAfterMs ?? retryMs, wholeQueue: false };
  }
}

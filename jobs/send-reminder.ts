import { z } from 'zod';
import { sendReminder as send } from '../src/reminders/send/send-reminder.ts';
import { trySend } from '../src/worker/mail-lanes.ts';
import type { Job } from './job.ts';

const payloadSchema = z.object({
  connection: z.string(),
  reminderId: z.number(),
  round: z.number(),
  /** Epoch ms, when an earlier job began with it. */
  requestedAt: z.number().optional(),
});

/** Sends one reminder. */
export const sendReminder: Job<{ state: string }> = async (app, payload, job, stop) => {
  const { connection, reminderId, round, requestedAt = job.requestedAt } = payloadSchema.parse(payload);
  return trySend(app, connection, stop, (context) => send(context, { reminderId, round, requestedAt }, stop));
};

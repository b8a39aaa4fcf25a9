import { z } from 'zod';
import type { App } from '../src/app.ts';
import type { JobHandler } from '../src/queue/work.ts';
import { sendDigest } from '../src/reminders/send/send-digest.ts';
import { sendReminder } from '../src/reminders/send/send-reminder.ts';
import { openLanes, sendBatch, trySend } from '../src/worker/mail-lanes.ts';

const reminderSchema = z.object({
  connection: z.string(),
  reminderId: z.number(),
  round: z.number(),
  /** Epoch ms, when an earlier job began with it. */
  requestedAt: z.number().optional(),
});
const batchSchema = z.object({
  connection: z.string(),
  reminders: z.array(z.object({ id: z.number(), round: z.number(), sendAt: z.number() })),
});
const digestSchema = z.object({ connection: z.string(), digestId: z.number(), round: z.number() });

/** The jobs of a connection's mails: one reminder, a batch of them, the digest of a day to one recipient. */
export function mailHandlers(
  app: App,
): Record<'send-reminder' | 'send-reminders' | 'send-digest', JobHandler> {
  const lanes = openLanes();
  return {
    'send-reminder': async (payload, job, stop) => {
      const { connection, requestedAt = job.requestedAt, ...reminder } = reminderSchema.parse(payload);
      return trySend(app, connection, stop, (context) =>
        sendReminder(context, { ...reminder, requestedAt }, stop),
      );
    },
    'send-reminders': async (payload, job, stop) =>
      sendBatch(app, batchSchema.parse(payload), job, stop, lanes),
    'send-digest': async (payload, _job, stop) => {
      const { connection, ...digest } = digestSchema.parse(payload);
      return trySend(app, connection, stop, (context) => sendDigest(context, app.config, digest, stop));
    },
  };
}

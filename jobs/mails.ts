import { z } from 'zod';
import type { WorkerApp } from '../src/worker/open-worker.ts';
import type { JobHandle, JobHandler, JobResult } from '../src/queue/work.ts';
import { sendDigest } from '../src/reminders/send/send-digest.ts';
import { sendReminder } from '../src/reminders/send/send-reminder.ts';
import { leftToOthers } from '../src/worker/left-to-others.ts';
import { type Lanes, openLanes, sendBatch, takeJob, trySend } from '../src/worker/mail-lanes.ts';

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

/** The jobs of mails: one reminder, a batch of them, the digest of a day to one recipient. */
export function mailHandlers(
  app: WorkerApp,
): Record<'send-reminder' | 'send-reminders' | 'send-digest', JobHandler> {
  const all = new Map<string, Lanes>();
  const lanesOf = (connection: string): Lanes => {
    const lanes = all.get(connection) ?? openLanes();
    all.set(connection, lanes);
    return lanes;
  };
  const inLane = async (
    connection: string,
    job: JobHandle,
    stop: AbortSignal,
    work: (lanes: Lanes) => Promise<JobResult<object>>,
  ): Promise<JobResult<object>> =>
    leftToOthers(app, connection, job, {}) ?? (await takeJob(lanesOf(connection), stop, work));
  return {
    'send-reminder': async (payload, job, stop) => {
      const { connection, requestedAt = job.requestedAt, ...reminder } = reminderSchema.parse(payload);
      return inLane(connection, job, stop, (lanes) =>
        trySend(app, connection, lanes, stop, (context) =>
          sendReminder(context, { ...reminder, requestedAt }, stop),
        ),
      );
    },
    'send-reminders': async (payload, job, stop) => {
      const batch = batchSchema.parse(payload);
      return inLane(batch.connection, job, stop, (lanes) => sendBatch(app, batch, job, stop, lanes));
    },
    'send-digest': async (payload, job, stop) => {
      const { connection, ...digest } = digestSchema.parse(payload);
      return inLane(connection, job, stop, (lanes) =>
        trySend(app, connection, lanes, stop, (context) => sendDigest(context, app.config, digest, stop)),
      );
    },
  };
}

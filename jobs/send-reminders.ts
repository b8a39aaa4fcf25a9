import { z } from 'zod';
import type { App } from '../src/app.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';
import { type Lanes, sendBatch } from '../src/worker/mail-lanes.ts';

const plannedSchema = z.object({ id: z.number(), round: z.number(), sendAt: z.number() });
const payloadSchema = z.object({ connection: z.string(), reminders: z.array(plannedSchema) });

/** Sends a batch of reminders. */
export async function sendReminders(
  app: App,
  payload: unknown,
  job: JobHandle,
  stop: AbortSignal,
  lanes: Lanes,
): Promise<JobResult<object>> {
  return sendBatch(app, payloadSchema.parse(payload), job, stop, lanes);
}

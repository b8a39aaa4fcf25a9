import { z } from 'zod';
import type { App } from '../src/app.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';
import { sendDigest as send } from '../src/reminders/send/send-digest.ts';
import { tryToSend } from './send-reminder.ts';

const payloadSchema = z.object({ connection: z.string(), digestId: z.number() });

/** Sends the digest of a day to one recipient. */
export async function sendDigest(
  app: App,
  payload: unknown,
  _job: JobHandle,
  stop: AbortSignal,
): Promise<JobResult<{ state: string }>> {
  const { connection, digestId } = payloadSchema.parse(payload);
  return tryToSend(app, connection, stop, (context) => send(context, digestId, stop));
}

import { z } from 'zod';
import { sendDigest as send } from '../src/reminders/send/send-digest.ts';
import { trySend } from '../src/worker/mail-lanes.ts';
import type { Job } from './job.ts';

const payloadSchema = z.object({ connection: z.string(), digestId: z.number() });

/** Sends the digest of a day to one recipient. */
export const sendDigest: Job<{ state: string }> = async (app, payload, _job, stop) => {
  const { connection, digestId } = payloadSchema.parse(payload);
  return trySend(app, connection, stop, (context) => send(context, digestId, stop));
};

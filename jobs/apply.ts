import { z } from 'zod';
import type { App } from '../src/app.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';
import { planSynced } from './plan-reminders.ts';
import { advance, type RunSummary } from './sync.ts';

const payloadSchema = z.object({
  connection: z.string(),
  allow: z.array(z.string()),
  patience: z.number(),
  mostWaitMs: z.number().optional(),
  approval: z.uuid(),
  undoOf: z.number().optional(),
});

/** Carries out the lines of a plan that a person has reviewed: of a sync, or of the undo of a run. */
export async function apply(
  app: App,
  payload: unknown,
  _job: JobHandle,
  stop: AbortSignal,
): Promise<JobResult<RunSummary>> {
  const request = payloadSchema.parse(payload);
  const result = await advance(app, { ...request, mode: 'sync' }, stop);
  if ('done' in result) await planSynced(app, request.connection);
  return result;
}

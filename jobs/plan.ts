import type { App } from '../src/app.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';
import { z } from 'zod';
import { advance, type RunSummary } from './sync.ts';

const payloadSchema = z.object({
  connection: z.string(),
  patience: z.number(),
  mostWaitMs: z.number().optional(),
  undoOf: z.number().optional(),
});

/** Scans both sides of one connection and makes the plan, or that of an undo; writes to neither. */
export async function plan(
  app: App,
  payload: unknown,
  _job: JobHandle,
  stop: AbortSignal,
): Promise<JobResult<RunSummary>> {
  const request = payloadSchema.parse(payload);
  return advance(app, { ...request, mode: 'plan', allow: [] }, stop);
}

import { z } from 'zod';
import { type RunSummary, runSync } from '../src/worker/run-sync.ts';
import type { Job } from './job.ts';

const payloadSchema = z.object({
  connection: z.string(),
  allow: z.array(z.string()),
  maxAttempts: z.number(),
  mostWaitMs: z.number().optional(),
  approval: z.uuid(),
  undoOf: z.number().optional(),
});

/** Applies the lines of a plan that a person has reviewed: of a sync, or of the undo of a run. */
export const apply: Job<RunSummary> = async (app, payload, _job, stop) =>
  runSync(app, { ...payloadSchema.parse(payload), mode: 'sync' }, stop);

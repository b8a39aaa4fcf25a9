import { z } from 'zod';
import { type RunSummary, runSync } from '../src/worker/run-sync.ts';
import type { Job } from './job.ts';

const payloadSchema = z.object({
  connection: z.string(),
  maxAttempts: z.number(),
  mostWaitMs: z.number().optional(),
  undoOf: z.number().optional(),
});

/** Scans both sides of one connection and makes the plan, or that of an undo; writes to neither. */
export const plan: Job<RunSummary> = async (app, payload, _job, stop) =>
  runSync(app, { ...payloadSchema.parse(payload), mode: 'plan', allow: [] }, stop);

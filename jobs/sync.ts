import { z } from 'zod';
import { type RunSummary, runSync } from '../src/worker/run-sync.ts';
import type { Job } from './job.ts';

export type { RunSummary } from '../src/worker/run-sync.ts';

const payloadSchema = z.object({
  connection: z.string(),
  allow: z.array(z.string()),
  maxAttempts: z.number(),
  mostWaitMs: z.number().optional(),
});

/** The queue of a connection's runs. */
export const syncQueue = (connection: string): string => `sync-${connection}`;

/** Attempts of an unattended run: about three hours of a service that is away, or of a file that is open. */
const longPatience = 45;

/** The payload of an unattended sync: the nightly one, and that of the status page. */
export function unattended(connection: string) {
  return { connection, allow: [] as readonly string[], maxAttempts: longPatience };
}

/** The schedule of the nightly sync, in that queue. */
export const schedulerName = 'nightly';

/** Syncs one connection, or continues its interrupted run. */
export const sync: Job<RunSummary> = async (app, payload, job, stop) =>
  runSync(app, { ...payloadSchema.parse(payload), mode: 'sync', since: job.requestedAt }, stop);

import { z } from 'zod';
import type { App } from '../src/app.ts';
import type { JobHandler, JobResult } from '../src/queue/work.ts';
import { type RunSummary, runSync } from '../src/worker/run-sync.ts';

const syncSchema = z.object({
  connection: z.string(),
  maxAttempts: z.number(),
  allow: z.array(z.string()),
});
const applySchema = syncSchema.extend({ approval: z.uuid(), undoOf: z.number().optional() });

/** The queue of a connection's runs. */
export const syncQueue = (connection: string): string => `sync-${connection}`;

/** The schedule of the nightly sync, in that queue. */
export const schedulerName = 'nightly';

/** Attempts of an unattended run: about three hours of a service that is away, or of a file that is open. */
const unattendedAttempts = 45;

/** The payload of an unattended sync: the nightly one, and that of the status page. */
export function unattended(connection: string) {
  return { connection, allow: [] as readonly string[], maxAttempts: unattendedAttempts };
}

/** The job that carries out requested edits; a queue has one of the same id. Retries as long as an unattended sync. */
export function editJob(connection: string, id: string) {
  return { name: 'edit', payload: unattended(connection), options: { id: `edit-${id}` } };
}

/** Takes a job as far as it can go. Throws when the payload is not of its kind. */
type Job = (...args: Parameters<JobHandler>) => Promise<JobResult<RunSummary>>;

/**
 * The jobs of a connection's queue. `sync` syncs it, or continues its interrupted run; `apply` continues one that applies the lines
 * of a plan that a person has reviewed; `edit` writes what people requested outside table and service.
 */
export function runHandlers(app: App): Record<'sync' | 'apply' | 'edit', Job> {
  return {
    sync: async (payload, { requestedAt: since }, stop) =>
      runSync(app, { ...syncSchema.parse(payload), mode: 'sync', since }, stop),
    apply: async (payload, _job, stop) => runSync(app, { ...applySchema.parse(payload), mode: 'sync' }, stop),
    edit: async (payload, _job, stop) =>
      runSync(app, { ...syncSchema.parse(payload), mode: 'edit', allow: [] }, stop),
  };
}

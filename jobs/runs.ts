import { z } from 'zod';
import type { App } from '../src/app.ts';
import type { JobHandle, JobHandler, JobResult } from '../src/queue/work.ts';
import { type Request, type RunSummary, runSync } from '../src/worker/run-sync.ts';

const syncSchema = z.object({
  connection: z.string(),
  maxAttempts: z.number(),
  allow: z.array(z.string()),
});
const applySchema = syncSchema.extend({ approval: z.uuid(), undoOf: z.number().optional() });

/** The queue of the runs of all connections; the schedule of a connection's nightly sync has the connection's name. */
export const syncQueue = 'syncs';

/** Attempts of an unattended run: about three hours of a service that is away, or of a file that is open. */
const unattendedAttempts = 45;

/** The payload of an unattended sync: the nightly one, and that of the status page. */
export function unattended(connection: string) {
  return { connection, allow: [] as readonly string[], maxAttempts: unattendedAttempts };
}

/** The job that carries out requested edits; a connection has one of the same id. Retries as long as an unattended sync. */
export function editJob(connection: string, id: string) {
  return { name: 'edit', payload: unattended(connection), options: { id: `edit-${connection}-${id}` } };
}

/** Takes a job as far as it can go, or leaves it to others. Throws when the payload is not of its kind. */
type Job = (...args: Parameters<JobHandler>) => Promise<JobResult<RunSummary>>;

/**
 * The jobs of runs. `sync` syncs a connection, or continues its interrupted run; `apply` continues one that applies the lines
 * of a plan that a person has reviewed; `edit` writes what people requested outside table and service.
 */
export function runHandlers(app: App): Record<'sync' | 'apply' | 'edit', Job> {
  const run = async (request: Request, job: JobHandle, stop: AbortSignal) =>
    leftToOthers(app, request.connection, job, { runId: null }) ?? (await runSync(app, request, stop));
  return {
    sync: async (payload, job, stop) =>
      run({ ...syncSchema.parse(payload), mode: 'sync', since: job.requestedAt }, job, stop),
    apply: async (payload, job, stop) => run({ ...applySchema.parse(payload), mode: 'sync' }, job, stop),
    edit: async (payload, job, stop) =>
      run({ ...syncSchema.parse(payload), mode: 'edit', allow: [] }, job, stop),
  };
}

/** Ms after which a job comes back for a worker that knows its connection. */
const backMs = 5_000;

/** Ms for which a connection that our settings do not name may be a newer worker's. */
const strangeMs = 600_000;

/**
 * What becomes of a job whose connection this process does not work for (`--connection`, or other settings); null: it does.
 * One of a connection that left the configuration is `done`.
 */
export function leftToOthers<Summary>(
  { contexts, config, log }: Pick<App, 'contexts' | 'config' | 'log'>,
  connection: string,
  { requestedAt }: JobHandle,
  done: Summary,
): JobResult<Summary> | null {
  if (contexts.has(connection)) return null;
  const isConfigured = config.configured.some(({ name }) => name === connection);
  if (isConfigured || Date.now() - requestedAt < strangeMs) return { againAfterMs: backMs };
  log.info({ connection }, 'a job of a connection that left the configuration was dropped');
  return { done };
}

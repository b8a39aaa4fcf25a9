import type { App } from '../src/app.ts';
import type { JobHandle, JobResult } from '../src/queue/queue.ts';

/** Takes a job as far as it can go; throws when the payload is not the job's. */
export type Job<Summary> = (
  app: App,
  payload: unknown,
  job: JobHandle,
  stop: AbortSignal,
) => Promise<JobResult<Summary>>;

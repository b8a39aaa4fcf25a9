import { LeadsyncError } from '../lib/errors.ts';

/** Faults of a queue's server that a person or time puts right: the same operation may succeed later. */
const outageCodes: ReadonlySet<string> = new Set([
  'queue.unavailable',
  'queue.read-only',
  'queue.login-failed',
  'queue.forbidden',
  'queue.protected',
  'queue.unknown-host',
  'queue.unknown-master',
  'queue.certificate',
  'queue.no-such-database',
]);

/** Whether the queue was away, or took no jobs: a worker, once it has started, waits for it. */
export function isQueueOutage(error: unknown): boolean {
  return error instanceof LeadsyncError && outageCodes.has(error.code);
}

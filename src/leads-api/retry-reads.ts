import pRetry from 'p-retry';
import { LeadsyncError } from '../errors.ts';
import type { LeadsPort } from '../ports/leads-service.ts';

/**
 * Retries reads up to twice in place when the fault has `retry: 'now'`; a longer outage is left to the job, which
 * begins the step again. Writes and requested waits are not retried. `firstMs`: delay before the second attempt,
 * doubled before the third, plus jitter.
 */
export function retryReads(leads: LeadsPort, firstMs = 250): LeadsPort {
  const patiently = <T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> =>
    pRetry(read, {
      retries: 2,
      minTimeout: firstMs,
      randomize: true,
      signal,
      shouldRetry: ({ error }) => error instanceof LeadsyncError && error.retry === 'now',
    });
  return withCalls(leads, {
    list: (request, signal) => patiently(signal, () => leads.list(request, signal)),
    get: (id, signal, after) => patiently(signal, () => leads.get(id, signal, after)),
  });
}

/** The same service with some calls replaced. */
export function withCalls(leads: LeadsPort, calls: Partial<LeadsPort>): LeadsPort {
  return {
    get requests() {
      return leads.requests;
    },
    get pacedMs() {
      return leads.pacedMs;
    },
    get answerMs() {
      return leads.answerMs;
    },
    get lanes() {
      return leads.lanes;
    },
    outlook: () => leads.outlook(),
    list: (...args) => leads.list(...args),
    get: (...args) => leads.get(...args),
    create: (...args) => leads.create(...args),
    update: (...args) => leads.update(...args),
    delete: (...args) => leads.delete(...args),
    ...calls,
  };
}

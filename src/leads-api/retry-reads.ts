import pRetry from 'p-retry';
import { LeadsyncError } from '../lib/errors.ts';
import type { LeadsPort } from '../ports/leads-service.ts';

/**
 * Up to twice in place when the fault has `retry: 'now'`; a longer outage is left to the job. Writes and requested waits are not retried.
 * `firstMs`: first delay; doubled for the second, plus jitter.
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

import pRetry from 'p-retry';
import { LeadsyncError } from '../errors.ts';
import type { LeadsPort } from '../ports/leads-service.ts';

/**
 * The same service, whose reads are tried up to three times in place when a fault says that the same may succeed now:
 * one that goes on is for the job, which begins the step again. Writes, and waits that the service asks for, are not
 * tried again here. `firstMs`: from the first fault to the second try, twice as long before the third; more by chance.
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

/** The same service, but for what is given in place of its own. */
export function withCalls(leads: LeadsPort, calls: Partial<LeadsPort>): LeadsPort {
  return {
    get requests() {
      return leads.requests;
    },
    get pacedMs() {
      return leads.pacedMs;
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

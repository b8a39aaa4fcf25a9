/** The five operations of the API reference, section 4. */
export const routes = ['list', 'get', 'create', 'update', 'delete'] as const;
export type Route = (typeof routes)[number];

export const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
export type Method = (typeof methods)[number];

/** What the header Retry-After of a 429 says: whole seconds, an HTTP date that many seconds ahead, nothing, or nonsense. */
export type RetryAfter =
  | { readonly seconds: number }
  | { readonly dateInSeconds: number }
  | 'none'
  | 'garbage';

/**
 * When a fault is played, counted over the requests that it matches: each k-th, the n-th alone, from the n-th on, or
 * with a probability from 0 to 1 (drawn from the seed).
 */
export type When =
  | { readonly every: number }
  | { readonly once: number }
  | { readonly after: number }
  | { readonly rate: number };

/**
 * Faults without settings of their own.
 *
 * | kind | what happens |
 * |---|---|
 * | reset | the connection is reset before anything was done |
 * | unfinished | it is done; half of the reply's body, then the connection ends |
 * | lost-reply | it is done; the connection ends without a reply. Writes only, unless `on` says otherwise |
 * | error-after-write | it is done; the reply is 500. Writes only, unless `on` says otherwise |
 * | expired-cursor | 400 for a page request that carries a cursor |
 * | revoked | 401, as for a key that was revoked |
 * | moving | after a page: a lead listed before it and one to be listed after it change places |
 * | not-json | it is done; the reply is 200 with an HTML page |
 * | huge | it is done; the reply is 200 with 10 MB that are not JSON |
 */
export const plainFaults = [
  'reset',
  'unfinished',
  'lost-reply',
  'error-after-write',
  'expired-cursor',
  'revoked',
  'moving',
  'not-json',
  'huge',
] as const;
type PlainFault = (typeof plainFaults)[number];

/**
 * One fault as plain data. `status`: nothing is done, the reply has this status (300 to 599; `retryAfter` with 429).
 * `slow`: it is done, the reply comes `ms` milliseconds later. When several are due for one request the first one
 * counts; `slow` and `moving` come on top.
 */
export type Fault = {
  readonly when: When;
  /** Methods and routes it applies to; empty: all. */
  readonly on: readonly (Method | Route)[];
} & (
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: RetryAfter }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: PlainFault }
);

import type { Random } from './random.ts';

export const routes = ['list', 'get', 'create', 'update', 'delete'] as const;
export type Route = (typeof routes)[number];

export const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
type Method = (typeof methods)[number];

/** What the header Retry-After of a 429 says: whole seconds, an HTTP date that many seconds ahead, nothing, or nonsense. */
export type RetryAfter =
  | { readonly seconds: number }
  | { readonly dateInSeconds: number }
  | 'none'
  | 'garbage';

/** Over the requests that it matches: each k-th, the n-th alone, from the n-th on, or a probability from 0 to 1 (by the seed). */
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
 * | find-or-create | a POST with the name of a lead that is there makes none; the reply shows that lead |
 * | upsert | as `find-or-create`, and what was sent is written into that lead |
 * | moving | after a page: a lead listed before it and one to be listed after it change places |
 * | not-json | it is done; the reply is 200 with an HTML page |
 * | maintenance | nothing is done; the reply is 200 with an HTML page |
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
  'find-or-create',
  'upsert',
  'not-json',
  'maintenance',
  'huge',
] as const;
type PlainFault = (typeof plainFaults)[number];

/** `status` (300 to 599): nothing is done. `slow`: done, the reply comes `ms` later. Of several the first counts; those in `onTop` come on top. */
export type Fault = {
  readonly when: When;
  /** Methods and routes it applies to; empty: all. */
  readonly on: readonly (Method | Route)[];
} & (
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: RetryAfter }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: PlainFault }
);

export const onTop: readonly Fault['kind'][] = ['slow', 'moving', 'find-or-create', 'upsert'];

/** What faults look at in a request. `route` undefined: no route of the API. */
interface FaultRequest {
  readonly method: string;
  readonly route: Route | undefined;
  readonly hasCursor: boolean;
}

export class FaultSchedule {
  readonly #faults: readonly { readonly fault: Fault; matched: number }[];
  readonly #random: Random;

  constructor(faults: readonly Fault[], random: Random) {
    this.#faults = faults.map((fault) => ({ fault, matched: 0 }));
    this.#random = random;
  }

  /** The faults due for this request, in the order of the text. Call it once for each request. */
  due(request: FaultRequest): Fault[] {
    const due: Fault[] = [];
    for (const entry of this.#faults) {
      if (!matches(entry.fault, request)) continue;
      entry.matched++;
      if (isDue(entry.fault, entry.matched, this.#random)) due.push(entry.fault);
    }
    return due;
  }
}

const writes: readonly (Method | Route)[] = ['create', 'update', 'delete'];

function matches(fault: Fault, request: FaultRequest): boolean {
  if (fault.kind === 'moving' && request.route !== 'list') return false;
  if ((fault.kind === 'find-or-create' || fault.kind === 'upsert') && request.route !== 'create')
    return false;
  if (fault.kind === 'expired-cursor' && !(request.route === 'list' && request.hasCursor)) return false;
  const byDefault = fault.kind === 'lost-reply' || fault.kind === 'error-after-write' ? writes : [];
  const on = fault.on.length > 0 ? fault.on : byDefault;
  return on.length === 0 || on.some((target) => target === request.method || target === request.route);
}

function isDue(fault: Fault, matched: number, random: Random): boolean {
  if ('every' in fault.when) return matched % fault.when.every === 0;
  if ('once' in fault.when) return matched === fault.when.once;
  if ('after' in fault.when) return matched >= fault.when.after;
  return random.float() < fault.when.rate;
}

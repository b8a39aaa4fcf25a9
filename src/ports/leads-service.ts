import { LeadsyncError } from '../lib/errors.ts';
import type { Lead } from '../core/lead/lead.ts';

/** One page of `GET /v1/leads`. `nextCursor` null: the last page. */
export interface LeadPage {
  readonly leads: readonly Lead[];
  readonly nextCursor: string | null;
  /** Unusable items (no id); with any, the scan is not complete. */
  readonly invalidItems: number;
}

export interface ListRequest {
  readonly cursor: string | null;
  /** Items per page; null omits the parameter. */
  readonly limit: number | null;
}

/**
 * The Leads service. Each call is at most one attempt, except reads through `retryReads`.
 * Faults are thrown as LeadsyncError:
 *
 * | code | retry | when |
 * |---|---|---|
 * | leads.rate-limited | later, with retryAfterMs | 429, or a request that would leave before an earlier Retry-After has passed |
 * | leads.unauthenticated | never | 401 |
 * | leads.forbidden | never | 403 |
 * | leads.rejected | never | any other 4xx: this item's fault |
 * | leads.unavailable | now | 5xx, timeout, reset, unfinished body: the service may have acted on the request |
 * | leads.unreachable | now | no connection: the service has certainly not acted |
 * | leads.not-json | now | 2xx whose body is not JSON, or not a page; for a write an HTML page: the service may have acted |
 * | leads.too-large | never | a body above the limit |
 * | leads.closed | never | the object was disposed |
 * | leads.redirected | never | any 3xx: the key is not sent elsewhere |
 * | database.slow | later | the rate limit could not be read in time: nothing was sent |
 */
export interface LeadsPort {
  readonly requests: number;
  /** Requests that may be under way now; further ones queue. */
  readonly lanes: number;
  /** Ms that its requests have waited for the pace so far. */
  readonly pacedMs: number;
  /** Ms that its replies took so far, added up. */
  readonly answerMs: number;
  /** What delays requests now, where known; sends none. */
  outlook(): Promise<Outlook>;
  list(request: ListRequest, signal: AbortSignal): Promise<LeadPage>;
  /** Null: 404 or 410. `after` a write: not deferred for the pace, since the write would have to be checked or repeated. */
  get(id: string, signal: AbortSignal, after?: 'write'): Promise<Lead | null>;
  /**
   * Only its id when only Location names it, or null when the reply does not identify it. `onLeaving` is awaited just before
   * sending, and again after a delay; unless it resolved, nothing was sent.
   */
  create(
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onLeaving?: () => Promise<void>,
  ): Promise<Lead | { readonly id: string } | null>;
  /** Null when the reply lacks a written field (the caller reads it back). */
  update(id: string, fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Lead | null>;
  /** True: deleted. False: already gone (404, 410). */
  delete(id: string, signal: AbortSignal): Promise<boolean>;
}

/** `pauseMs`: no request leaves before. `perSecond`: the rate after that; null: no known limit. */
export interface Outlook {
  readonly pauseMs: number;
  readonly perSecond: number | null;
}

export interface Throttled {
  /** Epoch ms before which no request may leave; 0: none. */
  readonly notBefore: number;
  readonly pace: unknown;
  /** How far (ms) the caller's clock is ahead of the shared time that the pace uses. */
  readonly aheadMs: number;
}

/** When the next request may leave, shared by all processes with one key. */
export interface Throttle {
  /** Pauses reported to this object: a check begun before the last of them is worthless. */
  readonly pauses: number;
  look(): Promise<Throttled>;
  /** Never back; stores a pace (plain JSON) if given. Retries until that moment while the database is down; then throws the last error. */
  pauseUntil(epochMs: number, pace?: unknown): Promise<void>;
  /** Replaces the pace `from` by `to`; a database crash may lose the last one. False: another process was first. */
  movePace(from: unknown, to: unknown): Promise<boolean>;
}

/** After these the service has certainly not acted. */
const nothingDone: readonly string[] = [
  'leads.rate-limited',
  'leads.unauthenticated',
  'leads.forbidden',
  'leads.rejected',
  'leads.unreachable',
  'leads.redirected',
  'leads.closed',
  'database.slow',
];

/** Whether a failed write may have taken effect; an aborted request may, too. */
export function mayHaveActed(error: unknown): boolean {
  return !(error instanceof LeadsyncError && nothingDone.includes(error.code));
}

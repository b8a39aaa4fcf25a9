import { LeadsyncError } from '../errors.ts';
import type { Lead } from '../core/lead/lead.ts';

/** One page of `GET /v1/leads`. `nextCursor` null: the last page. */
export interface LeadPage {
  readonly leads: readonly Lead[];
  readonly nextCursor: string | null;
  /** Items that were not usable (no id); a scan that met one is not complete. */
  readonly invalidItems: number;
}

export interface ListRequest {
  readonly cursor: string | null;
  /** Items wanted on the page; null leaves the parameter out. */
  readonly limit: number | null;
}

/**
 * What a sync asks of the Leads service. Each call is at most one attempt, but for reads that `retryReads` tries again.
 * Faults are thrown as LeadsyncError:
 *
 * | code | retry | when |
 * |---|---|---|
 * | leads.rate-limited | later, with retryAfterMs | 429, or a request that would leave before an earlier Retry-After has passed |
 * | leads.unauthenticated | never | 401 |
 * | leads.forbidden | never | 403 |
 * | leads.rejected | never | any other 4xx: this item's fault |
 * | leads.unavailable | now | 5xx, timeout, reset, unfinished body: the service may have acted on the request |
 * | leads.unreachable | now | no connection was made: the service has certainly not acted |
 * | leads.not-json | now | 2xx whose body is no JSON, or not the shape of a page |
 * | leads.too-large | never | a body above the bound |
 * | leads.closed | never | the object was disposed |
 * | leads.redirected | never | any 3xx: the key is not sent elsewhere |
 * | database.slow | later | what keeps requests back could not be read in time: nothing was sent |
 */
export interface LeadsPort {
  /** Requests sent so far by this object. */
  readonly requests: number;
  /** How many requests may be under way at this moment; more than these wait for each other. */
  readonly lanes: number;
  /** Ms that its requests have waited so far because the service would not have answered more of them. */
  readonly pacedMs: number;
  /** What keeps requests back at this moment, as far as is known; none is sent. */
  outlook(): Promise<Outlook>;
  list(request: ListRequest, signal: AbortSignal): Promise<LeadPage>;
  /**
   * The lead, or null when the service answers 404 (or 410). `after` a write: not put off for the pace, since what was
   * written would have to be looked at, or written, anew.
   */
  get(id: string, signal: AbortSignal, after?: 'write'): Promise<Lead | null>;
  /**
   * The new lead, or its id alone when only Location tells it, or null when the reply does not tell which it is.
   * `onLeaving` is awaited when nothing but the sending is left, and again when that was held up: without it nothing was sent.
   */
  create(
    fields: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onLeaving?: () => Promise<void>,
  ): Promise<Lead | { readonly id: string } | null>;
  /**
   * The lead as the reply shows it, with at least every field that was written; null when the reply does not show them
   * (the caller reads it back).
   */
  update(id: string, fields: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Lead | null>;
  /** True when deleted, false when it was gone already (404, 410). */
  delete(id: string, signal: AbortSignal): Promise<boolean>;
}

/** `pauseMs`: no request leaves before; `perSecond`: as many leave after that, null: nothing is known to limit them. */
export interface Outlook {
  readonly pauseMs: number;
  readonly perSecond: number | null;
}

/** What all processes that use one key know of the service's limit. */
export interface Throttled {
  /** Epoch ms before which no request may leave; 0 when there is none. */
  readonly notBefore: number;
  /** The pace as it was kept last; null: none. */
  readonly pace: unknown;
  /** By how many ms the caller's clock is ahead of the time that the processes share, which the pace goes by. */
  readonly aheadMs: number;
}

/** Keeps when the next request may leave, shared by all processes that use one key. */
export interface Throttle {
  /** How many pauses this object was told of: a look that began before the last of them says nothing. */
  readonly pauses: number;
  look(): Promise<Throttled>;
  /**
   * Moves the moment forward, never back. With a pace (plain JSON): keeps that, too. While the database is away it is
   * tried again until that moment; then what went wrong is thrown.
   */
  pauseUntil(epochMs: number, pace?: unknown): Promise<void>;
  /**
   * Keeps the pace `to` in place of `from`, as it was found; the last one may be lost when the database crashes. False:
   * another process was first.
   */
  movePace(from: unknown, to: unknown): Promise<boolean>;
}

/** After these the service has certainly done nothing. */
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

/** Whether a write that failed so may have taken effect; so it is after a signal that cut the request off, too. */
export function mayHaveActed(error: unknown): boolean {
  return !(error instanceof LeadsyncError && nothingDone.includes(error.code));
}

import { createServer } from 'node:http';
import { listen } from '../../../src/sandbox/listen.ts';
import type { HubSpotFault } from './hubspot-fault.ts';
import { HubSpotService } from './hubspot-service.ts';
import { allScopes, type PortalBehaviour, type RequestKind } from './operations.ts';
import { createPerson, type HubSpotPerson } from './person.ts';
import { Portal } from './portal.ts';
import { type Limits, RateLimits } from './rate-limits.ts';

export type { HubSpotFault };

/**
 * How the portal behaves. Facts are those of HubSpot's own documentation; what it leaves open is an option here, or is
 * answered in the way that lets a client assume least:
 *
 * - Whether results of a partly failed batch come with 207 or 200: `partial`. Whether trace ids do what was measured:
 *   `traceIds`. Whether white space at the ends of a string is kept: `trim`. All fail with trace ids: 207, no results.
 * - Duplicate ids are refused in every batch, reading and archiving included.
 * - A batch without trace ids that has a record which is gone: 404 for the whole of it. Archiving what is gone: 204.
 * - A value that another company has of a unique property: VALIDATION_ERROR with CONFLICTING_UNIQUE_VALUE, 400.
 * - Wording and code of a broken validation rule (FAILED_VALIDATION_RULE), of too long a text and of no number.
 * - An archived company gives its unique values free; an upsert makes a new one beside it.
 * - Merging: a new record comes of it, to which both old ids lead (developers.hubspot.com/changelog,
 *   updated-merge-functionality-for-contacts-and-companies), or the winner goes on: `merge`. Whether those merged away
 *   are listed as archived: `mergedInBin`. Writes to an old id reach the new record. A unique value of the loser's is lost when the winner has one of its own.
 *   hs_merged_object_ids names what was merged into either of them before, too (of contacts: github.com/fivetran/dbt_hubspot/issues/172).
 * - An archived property comes back as it was, whatever the definition says that was sent.
 * - Every write moves hs_lastmodifieddate, also one that changes nothing.
 * - A day or an instant without a zone is refused for a datetime; ISO text with a time is refused for a date.
 * - Numbers are returned as they were sent. Property values that are no strings are refused, null too.
 * - Requests that are refused with 429 do not count; those 429 have the headers of the limits. 401: neither.
 * - Unique values and ids are compared exactly. Query parameters that are not known are refused, as are members.
 * - A new property can be used at once, or after `propertyLagMs` (measured: 250 to 700 ms); the recycle bin keeps for ever; cursors never expire.
 */
export interface HubSpotSandboxOptions {
  readonly token?: string;
  /** What the token may do; all that are used here unless given, such as `crm.objects.companies.read`. */
  readonly scopes?: readonly string[];
  /** Requests; null: as many as come, without headers. Those of the free plan (100, 250,000) unless given. */
  readonly limits?: Limits | null;
  /** 1 unless given. */
  readonly portalId?: number;
  /** The portal's, at whose midnight the day of the limit ends. UTC unless given. */
  readonly timeZone?: string;
  /** The machine's own unless given. */
  readonly clock?: { now(): number; random(): number };
  readonly port?: number;
  /** Of the results of a batch; shuffled unless given. */
  readonly order?: 'shuffled' | 'input';
  /** Status of a partly failed batch; 207 unless given. */
  readonly partial?: '207' | '200';
  /** false: trace ids are not returned, and one bad input fails the batch whatever was sent. */
  readonly traceIds?: boolean;
  /** true: strings lose the white space at their ends. */
  readonly trim?: boolean;
  /** How old what the search sees is; 10 s unless given. */
  readonly searchLagMs?: number;
  /** How long a property that was made through the API cannot be seen or used; at once unless given. */
  readonly propertyLagMs?: number;
  /** What comes of a merge; a new record unless given. */
  readonly merge?: 'new-record' | 'primary';
  /** true: what was merged away is listed as archived. */
  readonly mergedInBin?: boolean;
}

/** A request that got an answer, or none (status 0). */
export interface HubSpotLogEntry {
  readonly kind: RequestKind;
  /** Of HTTP. */
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Of a batch; 0 for others. */
  readonly inputs: number;
  readonly status: number;
}

export type BeforeRequest = (request: {
  readonly kind: RequestKind;
  readonly method: string;
  readonly n: number;
}) => HubSpotFault | void | Promise<HubSpotFault | void>;

/**
 * A local HubSpot that keeps a portal's companies in memory and answers as version 2026-09 of its API. For demo, sandbox
 * and tests; the sync never uses it.
 */
export interface HubSpotSandbox extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly token: string;
  /** All requests in the order of their answers. */
  readonly requests: readonly HubSpotLogEntry[];
  /**
   * Called before each request is carried out, and before its token is looked at; `n` counts them from 1. A person may
   * act here, or a fault be chosen; a promise holds the request back until it is settled.
   */
  before: BeforeRequest | null;
  readonly person: HubSpotPerson;
  close(): Promise<void>;
}

/** Starts a stand-in on 127.0.0.1; see the options for what is not given. */
export async function startHubSpotSandbox(options: HubSpotSandboxOptions = {}): Promise<HubSpotSandbox> {
  const clock = options.clock ?? { now: () => Date.now(), random: () => Math.random() };
  const token = options.token ?? 'pat-na1-stand-in-of-a-service-key';
  const limits = options.limits === undefined ? { tenSeconds: 100, daily: 250_000 } : options.limits;
  const behaviour: PortalBehaviour = {
    order: options.order ?? 'shuffled',
    partial: options.partial ?? '207',
    traceIds: options.traceIds ?? true,
    trim: options.trim ?? false,
    merge: options.merge ?? 'new-record',
    mergedInBin: options.mergedInBin ?? false,
    portalId: options.portalId ?? 1,
    timeZone: options.timeZone ?? 'UTC',
    random: () => clock.random(),
  };
  const portal = new Portal(clock, {
    searchMs: options.searchLagMs ?? 10_000,
    propertyMs: options.propertyLagMs ?? 0,
  });
  const service = new HubSpotService({
    portal,
    token,
    scopes: options.scopes ?? allScopes,
    limits: limits === null ? null : new RateLimits(limits, options.timeZone ?? 'UTC'),
    behaviour,
  });
  // Above any client's idle time, so that no request meets a connection that is being closed.
  const server = createServer({ keepAliveTimeout: 10 * 60_000 }, (request, response) => {
    service.handle(request, response).catch((error: unknown) => {
      // Of no effect when the connection is gone; otherwise a bug of the stand-in, to be seen.
      if (!response.headersSent) response.writeHead(500).end(`The stand-in failed: ${String(error)}`);
    });
  });
  const port = await listen(server, options.port ?? 0);
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    requests: service.log,
    get before() {
      return service.before;
    },
    set before(hook) {
      service.before = hook;
    },
    person: createPerson(portal, behaviour),
    close,
    [Symbol.asyncDispose]: close,
  };
}

import { createServer } from 'node:http';
import { listen } from '../../../src/demo/listen.ts';
import type { HubSpotFault } from './hubspot-fault.ts';
import { HubSpotService } from './hubspot-service.ts';
import { allScopes, type PortalBehaviour, type RequestKind } from './operations.ts';
import { createPerson, type HubSpotPerson } from './person.ts';
import { Portal } from './portal.ts';
import { type Limits, RateLimits } from './rate-limits.ts';

export type { HubSpotFault };

/**
 * How the portal behaves: by HubSpot's documentation. What it leaves open is an option, or follows the assumption that
 * is hardest on a client:
 *
 * - Whether a partly failed batch replies 207 or 200: `partial`. Whether trace ids work as measured:
 *   `traceIds`. Whether strings keep white space at their ends: `trim`. When all inputs with trace ids fail: 207, no results.
 * - Every kind of batch refuses duplicate ids.
 * - A batch without trace ids with a missing record: 404 for the whole batch. Archiving a missing record: 204.
 * - A unique value that another company has: VALIDATION_ERROR with CONFLICTING_UNIQUE_VALUE, 400.
 * - Words and codes for a broken validation rule (FAILED_VALIDATION_RULE), a text that is too long, and a non-number.
 * - Archiving frees a company's unique values; an upsert creates another company.
 * - Merging: a new record results, to which both old ids lead (developers.hubspot.com/changelog,
 *   updated-merge-functionality-for-contacts-and-companies), or the winner survives: `merge`. Whether merged records
 *   are listed as archived: `mergedInBin`. Writes to an old id reach the survivor. The loser's unique value is lost when the winner has one.
 *   hs_merged_object_ids also names what was merged into either of them before (for contacts: github.com/fivetran/dbt_hubspot/issues/172).
 * - An archived property is restored as it was, whatever definition is sent.
 * - Every write moves hs_lastmodifieddate, even without a change.
 * - A datetime property refuses a day and an instant without a zone; a date property refuses ISO text with a time.
 * - Numbers come back as sent. Property values other than strings are refused, including null.
 * - A 429 does not count as a request, and has the limits' headers; a 401 has not, and does not count either.
 * - Unique values and ids are compared exactly. Unknown query parameters and members are refused.
 * - A new property is usable at once, or after `propertyLagMs` (measured: 250 to 700 ms); the recycle bin keeps forever; cursors never expire.
 */
export interface HubSpotSandboxOptions {
  readonly token?: string;
  /** The token's scopes, such as `crm.objects.companies.read`; default: all that exist here. */
  readonly scopes?: readonly string[];
  /** Requests; null: unlimited, without headers. Default: the free plan's (100, 250,000). */
  readonly limits?: Limits | null;
  /** Default: 1. */
  readonly portalId?: number;
  /** The portal's; the daily limit ends at its midnight. Default: UTC. */
  readonly timeZone?: string;
  /** Default: the machine's. */
  readonly clock?: { now(): number; random(): number };
  readonly port?: number;
  /** Of a batch's results; default: shuffled. */
  readonly order?: 'shuffled' | 'input';
  /** Status of a partly failed batch; default: 207. */
  readonly partial?: '207' | '200';
  /** False: trace ids are not returned, and one bad input fails the batch. */
  readonly traceIds?: boolean;
  /** True: strings lose white space at their ends. */
  readonly trim?: boolean;
  /** Age of the search index; default: 10 s. */
  readonly searchLagMs?: number;
  /** Time until a property created through the API is visible; default: 0. */
  readonly propertyLagMs?: number;
  /** The survivor of a merge; default: a new record. */
  readonly merge?: 'new-record' | 'primary';
  /** True: merged records are listed as archived. */
  readonly mergedInBin?: boolean;
}

/** A request and its reply (status 0: none). */
export interface HubSpotLogEntry {
  readonly kind: RequestKind;
  /** HTTP method. */
  readonly method: string;
  /** With query. */
  readonly path: string;
  /** Number of a batch's inputs; otherwise 0. */
  readonly inputs: number;
  readonly status: number;
}

export type BeforeRequest = (request: {
  readonly kind: RequestKind;
  readonly method: string;
  readonly n: number;
}) => HubSpotFault | void | Promise<HubSpotFault | void>;

/**
 * A local HubSpot that keeps a portal's companies in memory and replies like version 2026-09 of the API. For demo, sandbox
 * and tests; a sync never uses it.
 */
export interface HubSpotSandbox extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly token: string;
  /** All requests in the order of their replies. */
  readonly requests: readonly HubSpotLogEntry[];
  /**
   * Called before each request is authorized and carried out; `n` counts from 1. A test may act as a person here, return a
   * fault, or delay the request with a promise.
   */
  before: BeforeRequest | null;
  readonly person: HubSpotPerson;
  close(): Promise<void>;
}

/** Starts a stand-in on 127.0.0.1. */
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
  // Longer than any client's idle time, so that no request meets a closing connection.
  const server = createServer({ keepAliveTimeout: 10 * 60_000 }, (request, response) => {
    service.handle(request, response).catch((error: unknown) => {
      // Without effect when the connection is gone; otherwise makes a bug of the stand-in visible.
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

import { createServer } from 'node:http';
import { listen } from '../../../src/demo/listen.ts';
import { createPerson, type SheetsPerson } from './person.ts';
import { type SheetsFault } from './sheets-fault.ts';
import { mostCells } from './sheet-state.ts';
import { SheetsService } from './sheets-service.ts';

export type { SheetsFault };

export interface SheetsSandboxOptions {
  readonly spreadsheetId?: string;
  readonly title?: string;
  /** CLDR name; default: UTC. */
  readonly timeZone?: string;
  /** Default: `en_US`. */
  readonly locale?: string;
  /** Titles; default: `Sheet1`. Each has 1000 rows and 26 columns. */
  readonly tabs?: readonly string[];
  /** Requests per minute; null: unlimited. Default: Google's 60 and 60. */
  readonly quotas?: { readonly reads: number; readonly writes: number } | null;
  /** For quotas and dates typed without a year; epoch ms. Tokens expire in real time. */
  readonly clock?: { now(): number };
  /** How late (ms) Drive shows a change; Google's own: some three minutes. Default: none. */
  readonly driveLagMs?: number;
  /** Maximum cells of the spreadsheet, empty ones included; default: Google's 10,000,000 (earlier 2 and 5 million). */
  readonly mostCells?: number;
  readonly port?: number;
}

/** A request and its reply (status 0: none). */
export interface SheetsLogEntry {
  readonly kind: 'read' | 'write' | 'token' | 'drive';
  /** Such as `spreadsheets.values.batchGet`, `token`, `drive.files.get`. */
  readonly method: string;
  /** Size of the request's body. */
  readonly bytes: number;
  readonly status: number;
}

export type BeforeRequest = (request: {
  readonly method: string;
  readonly n: number;
}) => SheetsFault | void | Promise<SheetsFault | void>;

/**
 * A local Google Sheets v4 that keeps its spreadsheets in memory and replies by Google's discovery document. For demo,
 * sandbox and tests; a sync never uses it.
 */
export interface SheetsSandbox extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/`, the client's rootUrl. Serves POST /token and GET /drive/v3/files/{id} too. */
  readonly url: string;
  readonly spreadsheetId: string;
  /** The address to share a spreadsheet with. */
  readonly accountEmail: string;
  /** A service account's key file with a real key pair; its token_uri is this server. */
  readonly keyFile: () => string;
  /** An OAuth client's file; GET of its auth_uri is a person who allows all. */
  readonly clientFile: () => string;
  /** All requests in the order of their replies. */
  readonly requests: readonly SheetsLogEntry[];
  /**
   * Called before each request to Sheets or Drive is carried out (not for tokens); `n` counts from 1. A test may act as a
   * person here, return a fault, or delay the request with a promise.
   */
  before: BeforeRequest | null;
  readonly person: SheetsPerson;
  /** Refuses all tokens issued so far. */
  revokeTokens(): void;
  close(): Promise<void>;
}

/** Starts a stand-in on 127.0.0.1. */
export async function startSheetsSandbox(options: SheetsSandboxOptions = {}): Promise<SheetsSandbox> {
  const clock = options.clock ?? { now: () => Date.now() };
  let url = '';
  const service = new SheetsService({
    spreadsheetId: options.spreadsheetId ?? '1StandInOfASpreadsheetWithAnIdAsLongAs44Sign',
    title: options.title ?? 'Leads',
    timeZone: options.timeZone ?? 'UTC',
    locale: options.locale ?? 'en_US',
    tabs: options.tabs ?? ['Sheet1'],
    quotas: options.quotas === undefined ? { reads: 60, writes: 60 } : options.quotas,
    clock,
    driveLagMs: options.driveLagMs ?? 0,
    mostCells: options.mostCells ?? mostCells,
    tokenUrl: () => `${url}token`,
  });
  // Longer than any client's idle time, so that no request meets a closing connection.
  const server = createServer({ keepAliveTimeout: 10 * 60_000 }, (request, response) => {
    service.handle(request, response).catch((error: unknown) => {
      // Without effect when the connection is gone; otherwise makes a bug of the stand-in visible.
      if (!response.headersSent) response.writeHead(500).end(`The stand-in failed: ${String(error)}`);
    });
  });
  url = `http://127.0.0.1:${await listen(server, options.port ?? 0)}/`;

  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  const person = createPerson(service.spreadsheet, {
    now: () => clock.now(),
    addFile: (copy) => service.addFile(copy),
  });
  return {
    url,
    spreadsheetId: service.spreadsheet.id,
    accountEmail: service.account.email,
    keyFile: () => service.account.keyFile(),
    clientFile: () => service.account.clientFile(),
    requests: service.log,
    get before() {
      return service.before;
    },
    set before(hook) {
      service.before = hook;
    },
    person,
    revokeTokens: () => service.account.revoke(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

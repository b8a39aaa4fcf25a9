import { createServer } from 'node:http';
import { listen } from '../../../src/sandbox/listen.ts';
import { createPerson, type SheetsPerson } from './person.ts';
import { type SheetsFault } from './sheets-fault.ts';
import { mostCells } from './sheet-state.ts';
import { SheetsService } from './sheets-service.ts';

export type { SheetsFault };

export interface SheetsSandboxOptions {
  readonly spreadsheetId?: string;
  readonly title?: string;
  /** CLDR name; UTC unless given. */
  readonly timeZone?: string;
  /** Such as `en_US`, which it is unless given. */
  readonly locale?: string;
  /** Titles; `Sheet1` alone unless given. Each has 1000 rows and 26 columns. */
  readonly tabs?: readonly string[];
  /** Requests a minute; null: as many as come. Google's 60 and 60 unless given. */
  readonly quotas?: { readonly reads: number; readonly writes: number } | null;
  /** For quotas and for dates typed without a year; epoch ms. The life of tokens is real time. */
  readonly clock?: { now(): number };
  /** Of the spreadsheet, empty ones included; Google's 10,000,000 unless given (it was 2 and 5 million before). */
  readonly mostCells?: number;
  readonly port?: number;
}

/** A request that got an answer, or none (status 0). */
export interface SheetsLogEntry {
  readonly kind: 'read' | 'write' | 'token' | 'drive';
  /** Such as `spreadsheets.values.batchGet`, `token`, `drive.files.get`. */
  readonly method: string;
  /** Of the request's body. */
  readonly bytes: number;
  readonly status: number;
}

export type BeforeRequest = (request: {
  readonly method: string;
  readonly n: number;
}) => SheetsFault | void | Promise<SheetsFault | void>;

/**
 * A local Google Sheets v4 that keeps its spreadsheets in memory and answers as its discovery document says. For demo,
 * sandbox and tests; the sync never uses it.
 */
export interface SheetsSandbox extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/`, the client's rootUrl. Serves POST /token and GET /drive/v3/files/{id} too. */
  readonly url: string;
  readonly spreadsheetId: string;
  /** To share a spreadsheet with. */
  readonly accountEmail: string;
  /** Text of a service account's key with a real key pair; its token_uri is here. */
  readonly keyFile: () => string;
  /** All requests in the order of their answers. */
  readonly requests: readonly SheetsLogEntry[];
  /**
   * Called before each request to Sheets or Drive is carried out, and not for tokens; `n` counts them from 1. A person
   * may act here, or a fault be chosen; a promise holds the request back until it is settled.
   */
  before: BeforeRequest | null;
  readonly person: SheetsPerson;
  /** The tokens given so far are refused from now on. */
  revokeTokens(): void;
  close(): Promise<void>;
}

/** Starts a stand-in on 127.0.0.1; see the options for what is not given. */
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
    mostCells: options.mostCells ?? mostCells,
    tokenUrl: () => `${url}token`,
  });
  // Above any client's idle time, so that no request meets a connection that is being closed.
  const server = createServer({ keepAliveTimeout: 10 * 60_000 }, (request, response) => {
    service.handle(request, response).catch((error: unknown) => {
      // Of no effect when the connection is gone; otherwise a bug of the stand-in, to be seen.
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

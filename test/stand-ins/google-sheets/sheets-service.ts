import type { IncomingMessage, ServerResponse } from 'node:http';
import { readRequestBody, type RequestBody } from '../../../src/demo/listen.ts';
import { ApiFault, invalid } from './api-fault.ts';
import { type ApiCall, checkQuery, routeOf } from './api-route.ts';
import { carryOut, isRead } from './carry-out.ts';
import { parseFieldMask, prune } from './field-mask.ts';
import { Quotas } from './quotas.ts';
import { createSheet, type Spreadsheet } from './sheet-state.ts';
import { faultOf, playFault, sendJson } from './sheets-fault.ts';
import type { BeforeRequest, SheetsLogEntry } from './sheets-sandbox.ts';
import { scopesOf, ServiceAccount } from './token.ts';

/** Longer bodies are not read at all. */
const mostBytes = 12_000_000;
/** PSGSuite #62. */
const mostPayload = 10_485_760;

export interface SheetsServiceOptions {
  readonly spreadsheetId: string;
  readonly title: string;
  readonly timeZone: string;
  readonly locale: string;
  readonly tabs: readonly string[];
  readonly mostCells: number;
  readonly quotas: { readonly reads: number; readonly writes: number } | null;
  readonly clock: { now(): number };
  readonly driveLagMs: number;
  readonly tokenUrl: () => string;
}

/** Replies to requests: tokens, Drive's files.get, and the methods of Sheets. */
export class SheetsService {
  readonly spreadsheet: Spreadsheet;
  readonly account: ServiceAccount;
  readonly log: SheetsLogEntry[] = [];
  before: BeforeRequest | null = null;
  readonly #files = new Map<string, Spreadsheet>();
  readonly #quotas: Quotas | null;
  readonly #clock: { now(): number };
  readonly #driveLagMs: number;
  #count = 0;

  constructor(options: SheetsServiceOptions) {
    const { spreadsheetId: id, title, timeZone, locale, tabs, mostCells: most } = options;
    const sheets = tabs.map((tab, index) => createSheet(index, tab, 1000, 26));
    this.spreadsheet = {
      id,
      title,
      timeZone,
      locale,
      sheets,
      metadata: [],
      lastChange: null,
      changes: [options.clock.now()],
      lastId: tabs.length,
      mostCells: most,
      trashed: false,
      shared: true,
    };
    this.#files.set(id, this.spreadsheet);
    this.account = new ServiceAccount(options.tokenUrl);
    this.#clock = options.clock;
    this.#driveLagMs = options.driveLagMs;
    this.#quotas = options.quotas === null ? null : new Quotas(options.quotas, options.clock);
  }

  /** Replies to one request. Rejects only for a bug of the stand-in or a client that disconnected. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const body = await readRequestBody(request, mostBytes);
    const httpMethod = request.method ?? 'GET';
    if (url.pathname === '/token' && httpMethod === 'POST') {
      const reply = this.account.exchange(new URLSearchParams(body.text ?? ''));
      this.log.push({ kind: 'token', method: 'token', bytes: body.bytes, status: reply.status });
      sendJson(response, reply.status, reply.body);
      return;
    }
    if (url.pathname === '/auth' && httpMethod === 'GET') {
      response.writeHead(302, { location: this.account.allow(url.searchParams) }).end();
      return;
    }
    const drive = httpMethod === 'GET' ? /^\/drive\/v3\/files\/([^/]+)$/.exec(url.pathname) : null;
    const call = routeOf(httpMethod, url);
    const method = drive === null ? call?.name : 'drive.files.get';
    if (method === undefined) {
      const page = `<!DOCTYPE html><title>Error 404 (Not Found)!!1</title><p>${httpMethod} ${url.pathname}\n`;
      response.writeHead(404, { 'content-type': 'text/html; charset=UTF-8' }).end(page);
      return;
    }
    const kind = call === null ? 'drive' : isRead(call) ? 'read' : 'write';
    const status = await this.#answer(request, response, method, () => {
      const token = request.headers.authorization;
      if (call === null)
        return this.#describeFile(
          token,
          decodeURIComponent(drive?.[1] ?? ''),
          url.searchParams.get('fields'),
        );
      return this.#carryOut(token, call, body);
    });
    this.log.push({ kind, method, bytes: body.bytes, status });
  }

  /** Also serves another spreadsheet. */
  addFile(spreadsheet: Spreadsheet): void {
    this.#files.set(spreadsheet.id, spreadsheet);
  }

  /** Returns the status; 0: no reply. */
  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    method: string,
    act: () => unknown,
  ): Promise<number> {
    const fault = (await this.before?.({ method, n: ++this.#count })) ?? undefined;
    const after = fault !== undefined && 'kind' in fault && fault.kind === 'reset-after';
    if (fault !== undefined && !after) return playFault(fault, request, response);
    const { status, body } = outcome(act);
    if (after) request.socket.resetAndDestroy();
    else sendJson(response, status, body);
    return after ? 0 : status;
  }

  #carryOut(token: string | undefined, call: ApiCall, body: RequestBody): unknown {
    const read = isRead(call);
    this.account.check(token, read ? scopesOf.read : scopesOf.write);
    this.#quotas?.take(read ? 'Read' : 'Write');
    checkQuery(call);
    const state = this.#file(call.path.get('spreadsheetId') ?? '');
    if (!read && state.shared === 'reader') throw faultOf(403);
    const reply = carryOut(call, parseBody(body), state, this.#clock.now());
    if (read) return reply;
    state.lastChange = { by: this.account.email, me: true, at: this.#clock.now() };
    state.changes = [...state.changes, this.#clock.now()];
    return reply;
  }

  #describeFile(token: string | undefined, id: string, fields: string | null): unknown {
    this.account.check(token, scopesOf.drive);
    const { title: name, trashed, shared, lastChange, changes } = this.#file(id);
    const version = changes.findLastIndex((at) => at <= this.#clock.now() - this.#driveLagMs);
    const shown = { kind: 'drive#file', id, name, mimeType: 'application/vnd.google-apps.spreadsheet' };
    // Drive returns `trashed` and `capabilities` only when requested.
    return fields === null
      ? shown
      : prune(
          {
            ...shown,
            trashed,
            capabilities: { canEdit: shared !== 'reader' },
            version: String(Math.max(version, 0) + 1),
            modifiedTime: new Date(changes[Math.max(version, 0)] ?? 0).toISOString(),
            ...lastChangeOf(lastChange),
          },
          parseFieldMask(fields),
        );
  }

  #file(id: string): Spreadsheet {
    const state = this.#files.get(id);
    if (state === undefined) throw faultOf(404);
    if (state.shared === false) throw faultOf(403);
    return state;
  }
}

function lastChangeOf(last: Spreadsheet['lastChange']): object {
  if (last === null) return {};
  const { by: displayName, me } = last;
  return {
    lastModifyingUser: { kind: 'drive#user', displayName, me },
  };
}

function outcome(act: () => unknown): { status: number; body: unknown } {
  try {
    return { status: 200, body: act() };
  } catch (error) {
    if (error instanceof ApiFault) return { status: error.status, body: error.body };
    throw error;
  }
}

function parseBody({ text, bytes }: RequestBody): unknown {
  if (text === null || bytes > mostPayload) {
    throw invalid(`Request payload size exceeds the limit: ${mostPayload} bytes.`);
  }
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('Invalid JSON payload received. Unexpected token.');
  }
}

import type { sheets_v4 } from '@googleapis/sheets';
import { LeadsyncError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import { Semaphore } from '../../semaphore.ts';
import type { Authorized } from './google-account.ts';
import { googleFault } from './google-fault.ts';
import { type GoogleReply, readGoogleReply } from './google-reply.ts';
import type { GoogleSheetsOptions } from './google-sheets-options.ts';
import { type Quota, type QuotaKind, quotaOf } from './quota.ts';
import {
  checkWriteReply,
  type FileState,
  parseFileState,
  parseSpreadsheet,
  parseValueRanges,
  type SheetCell,
  unknownState,
} from './sheets-replies.ts';

export type { SheetCell } from './sheets-replies.ts';

export type SheetsApiOptions = Pick<
  GoogleSheetsOptions,
  'spreadsheetId' | 'readsPerMinute' | 'writesPerMinute' | 'apiUrl' | 'account' | 'clock' | 'onReply'
>;

/**
 * One spreadsheet through Google's API. Each call is at most one request: counted, with a timeout, sequential per
 * spreadsheet within this process, never retried here. Faults: see `googleFault`, `Quota` (`target.rate-limited`) and
 * `GoogleAccount.authorize`; the signal's reason when aborted.
 */
export interface SheetsApi {
  /** Requests sent so far, without token requests. */
  readonly requests: number;
  /** spreadsheets.get with a field mask; ranges in A1 notation or none. */
  describe(
    ranges: readonly string[],
    fields: string,
    signal: AbortSignal,
  ): Promise<sheets_v4.Schema$Spreadsheet>;
  /**
   * values.batchGet, ROWS; an empty range gives []. Dates are numbers beside formulas, and displayed text among unformatted
   * values.
   */
  read(
    ranges: readonly string[],
    render: 'FORMULA' | 'UNFORMATTED_VALUE',
    signal: AbortSignal,
  ): Promise<readonly (readonly (readonly SheetCell[])[])[]>;
  /** values.batchUpdate, RAW. All or nothing. */
  write(data: readonly sheets_v4.Schema$ValueRange[], signal: AbortSignal): Promise<void>;
  /** spreadsheets.batchUpdate. All or nothing. */
  update(requests: readonly sheets_v4.Schema$Request[], signal: AbortSignal): Promise<void>;
  /** The file's state in Drive; nulls where unknown, as after a request without reply. */
  file(signal: AbortSignal): Promise<FileState>;
  /** The address to share with; null: the credentials name none. */
  address(): Promise<string | null>;
}

/** Ms. Google itself gives up after 180 s. */
export interface SheetsTimeouts {
  readonly readMs: number;
  readonly writeMs: number;
  /** For Drive, which is not worth a long wait. */
  readonly driveMs: number;
}

const defaultTimeouts: SheetsTimeouts = { readMs: 60_000, writeMs: 180_000, driveMs: 5_000 };

/** A tab of 100,000 rows and 8 columns is about 10 MB of JSON. */
const longestReply = 256 * 1024 * 1024;

/** A write's reply is not used: its effect is read. */
const shortReply = 'spreadsheetId';

/** In Drive's terms. */
const driveFields =
  'trashed,capabilities/canEdit,modifiedTime,lastModifyingUser(me,displayName,emailAddress)';

interface Call {
  readonly sheets: sheets_v4.Sheets;
  readonly client: Authorized['client'];
  /** Per request; turns off the client's own retry. */
  readonly options: {
    readonly signal: AbortSignal;
    readonly timeout: number;
    readonly retry: false;
    readonly maxContentLength: number;
  };
}

/** Requests and loads nothing before the first call. */
export function openSheetsApi(options: SheetsApiOptions, timeouts = defaultTimeouts): SheetsApi {
  return new SheetsClient(options, timeouts);
}

/** One per spreadsheet: Google wants no concurrent requests for one. */
const semaphores = new Map<string, Semaphore>();

function oneAtATime(spreadsheet: string): Semaphore {
  const known = semaphores.get(spreadsheet) ?? new Semaphore(1);
  semaphores.set(spreadsheet, known);
  return known;
}

class SheetsClient implements SheetsApi {
  requests = 0;
  readonly #options: SheetsApiOptions;
  readonly #timeouts: SheetsTimeouts;
  readonly #clock: Clock;
  readonly #quota: Quota;
  readonly #oneAtATime: Semaphore;

  constructor(options: SheetsApiOptions, timeouts: SheetsTimeouts) {
    this.#options = options;
    this.#timeouts = timeouts;
    this.#clock = options.clock;
    this.#quota = quotaOf(options.clock, `${options.account.id} ${options.apiUrl}`);
    this.#oneAtATime = oneAtATime(`${options.apiUrl} ${options.spreadsheetId}`);
  }

  async describe(
    ranges: readonly string[],
    fields: string,
    signal: AbortSignal,
  ): Promise<sheets_v4.Schema$Spreadsheet> {
    const { spreadsheetId } = this.#options;
    const params = { spreadsheetId, ranges: [...ranges], fields };
    const { data } = await this.#send('read', signal, ({ sheets, options }) =>
      sheets.spreadsheets.get(params, options),
    );
    return parseSpreadsheet(data);
  }

  async read(
    ranges: readonly string[],
    render: 'FORMULA' | 'UNFORMATTED_VALUE',
    signal: AbortSignal,
  ): Promise<readonly (readonly (readonly SheetCell[])[])[]> {
    const params = {
      spreadsheetId: this.#options.spreadsheetId,
      ranges: [...ranges],
      majorDimension: 'ROWS',
      valueRenderOption: render,
      dateTimeRenderOption: render === 'FORMULA' ? 'SERIAL_NUMBER' : 'FORMATTED_STRING',
    };
    const { data } = await this.#send('read', signal, ({ sheets, options }) =>
      sheets.spreadsheets.values.batchGet(params, options),
    );
    return parseValueRanges(data, ranges.length);
  }

  write(data: readonly sheets_v4.Schema$ValueRange[], signal: AbortSignal): Promise<void> {
    return this.#post('/values:batchUpdate', { valueInputOption: 'RAW', data }, signal);
  }

  update(requests: readonly sheets_v4.Schema$Request[], signal: AbortSignal): Promise<void> {
    return this.#post(':batchUpdate', { requests }, signal);
  }

  /** Sends a body as text: Google's client would copy objects cell by cell. */
  async #post(method: string, body: object, signal: AbortSignal): Promise<void> {
    const { spreadsheetId, apiUrl } = this.#options;
    const path = `v4/spreadsheets/${encodeURIComponent(spreadsheetId)}${method}?fields=${shortReply}`;
    const url = new URL(path, apiUrl);
    const data = JSON.stringify(body);
    const headers = { 'content-type': 'application/json' };
    const { data: reply } = await this.#send('write', signal, ({ client, options }) =>
      client.request<unknown>({ url, method: 'POST', data, headers, responseType: 'json', ...options }),
    );
    checkWriteReply(reply);
  }

  async file(signal: AbortSignal): Promise<FileState> {
    const root = driveRoot(this.#options.apiUrl);
    const file = encodeURIComponent(this.#options.spreadsheetId);
    const url = new URL(`drive/v3/files/${file}?fields=${driveFields}&supportsAllDrives=true`, root);
    try {
      using _turn = await this.#oneAtATime.acquire(signal);
      const { client, options } = await this.#prepare(this.#timeouts.driveMs, signal);
      this.requests += 1;
      const { data, status } = await client.request<unknown>({ url, responseType: 'json', ...options });
      this.#options.onReply?.(status);
      return parseFileState(data);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // A refused account: the next request reports it.
      if (error instanceof LeadsyncError) return unknownState;
      const reply = readGoogleReply(error, [], this.#clock.now());
      if (reply === null) throw error;
      this.#options.onReply?.(reply.status ?? 'unfinished');
      return unknownState;
    }
  }

  address(): Promise<string | null> {
    return this.#options.account.address();
  }

  /** One request in turn, from its kind's bucket. Checks the signal once its turn has come. */
  async #send<T extends { readonly status: number }>(
    kind: QuotaKind,
    signal: AbortSignal,
    request: (call: Call) => Promise<T>,
  ): Promise<T> {
    using _turn = await this.#oneAtATime.acquire(signal);
    const perMinute = kind === 'read' ? this.#options.readsPerMinute : this.#options.writesPerMinute;
    const timeout = kind === 'read' ? this.#timeouts.readMs : this.#timeouts.writeMs;
    const { token, ...call } = await this.#prepare(timeout, signal);
    const replied = this.#quota.take(kind, perMinute);
    this.requests += 1;
    try {
      const answer = await request(call);
      this.#quota.allowed(kind);
      this.#options.onReply?.(answer.status);
      return answer;
    } catch (error) {
      const reply = readGoogleReply(error, [token], this.#clock.now());
      this.#options.onReply?.(reply?.status ?? (signal.aborted ? 'aborted' : 'unfinished'));
      if (signal.aborted) throw signal.reason;
      if (reply === null) throw error;
      throw await this.#fault(reply, kind);
    } finally {
      replied();
    }
  }

  async #prepare(timeout: number, signal: AbortSignal): Promise<Call & { readonly token: string }> {
    const { client, token } = await this.#options.account.authorize(signal);
    const { sheets_v4: v4 } = await import('@googleapis/sheets');
    const sheets = new v4.Sheets({ auth: client, rootUrl: this.#options.apiUrl });
    const options = { signal, timeout, retry: false, maxContentLength: longestReply } as const;
    return { sheets, client, token, options };
  }

  async #fault(reply: GoogleReply, kind: QuotaKind): Promise<LeadsyncError> {
    if (reply.status === 429 || reply.exhausted) return this.#quota.refused(reply.quota, reply.retryAfterMs);
    const { account } = this.#options;
    const fault = googleFault(reply, kind, await account.address().catch(() => null));
    if (fault.code === 'target.unauthenticated') account.forget();
    return fault;
  }
}

/** Drive has another host than Sheets; a stand-in serves both. */
function driveRoot(apiUrl: string): string {
  const { hostname } = new URL(apiUrl);
  return hostname === 'sheets.googleapis.com' ? 'https://www.googleapis.com/' : apiUrl;
}

import type { sheets_v4 } from '@googleapis/sheets';
import { z } from 'zod';
import type { Author } from '../../core/lead/author.ts';
import { visibleText } from '../../lib/foreign-text.ts';
import { GoogleFault, googleFault, type GoogleReply, readGoogleReply } from './google-fault.ts';
import type { ColumnMapping } from '../shared/columns.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { mostWhole } from '../../lib/memory.ts';
import { Redactor } from '../../lib/redact.ts';
import { Semaphore } from '../../lib/waiting.ts';
import type { OnReply } from '../../http/exchange.ts';
import type { Clock } from '../../ports/clock.ts';
import type { GoogleAccount } from './google-account.ts';
import { type Quota, type QuotaKind, quotaOf } from './quota.ts';

/** An unformatted cell. "" and null: empty. */
export type SheetCell = string | number | boolean | null;

/** What the parts of a description are that are used, wherever they stand; lists are of objects. */
const kinds = {
  list: 'sheets data rowData values columnMetadata developerMetadata merges tables protectedRanges unprotectedRanges',
  object:
    'properties gridProperties range basicFilter rowsProperties effectiveFormat numberFormat userEnteredValue effectiveValue',
  string: 'timeZone locale title metadataKey metadataValue formattedValue formulaValue',
  number: 'sheetId rowCount columnCount startRow startColumn metadataId',
};
const kindOf: ReadonlyMap<string, string> = new Map(
  Object.entries(kinds).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)),
);

function isDescription(value: unknown): value is sheets_v4.Schema$Spreadsheet {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([name, part]: [string, unknown]) => {
    const kind = kindOf.get(name);
    if (kind === 'list') return Array.isArray(part) && part.every(isDescription);
    if (kind === 'object') return isDescription(part);
    return kind === undefined || part === null || typeof part === kind;
  });
}

/** What of it is there is up to the field mask. Throws `target.unavailable` (now) for a proxy's page or half a reply. */
export function parseSpreadsheet(data: unknown): sheets_v4.Schema$Spreadsheet {
  if (!isDescription(data)) throw senseless();
  return data;
}

/** One grid per requested range, ragged; throws as above. */
function parseValueRanges(data: unknown, count: number): SheetCell[][][] {
  const parsed = z
    .object({ valueRanges: z.array(z.object({ values: z.unknown().optional() })) })
    .safeParse(data);
  if (!parsed.success || parsed.data.valueRanges.length !== count) throw senseless();
  return parsed.data.valueRanges.map(({ values = [] }) => {
    if (!isGrid(values)) throw senseless();
    return values;
  });
}

/** Throws as above when a write's reply is not Google's: its effect is then unknown. */
function checkWriteReply(data: unknown): void {
  if (!z.looseObject({}).safeParse(data).success) throw senseless();
}

/** Null: unknown. */
export interface FileState {
  readonly trashed: boolean | null;
  readonly canEdit: boolean | null;
  readonly author: Author | null;
  /** Raised by each change of anything, some minutes late (https://github.com/googleapis/google-api-go-client/issues/444). */
  readonly version: string | null;
  /** Epoch ms; as late. */
  readonly modifiedAt: number | null;
}

const unknownState: FileState = {
  trashed: null,
  canEdit: null,
  author: null,
  version: null,
  modifiedAt: null,
};

function parseFileState(data: unknown): FileState {
  const trashed = z.object({ trashed: z.boolean() }).safeParse(data).data?.trashed ?? null;
  const capabilities = z.object({ capabilities: z.object({ canEdit: z.boolean() }) }).safeParse(data);
  const { version, modifiedTime } = fileVersion.parse(data);
  return {
    trashed,
    canEdit: capabilities.data?.capabilities.canEdit ?? null,
    author: lastAuthor(data),
    version,
    modifiedAt: modifiedTime === null ? null : Date.parse(modifiedTime),
  };
}

const fileVersion = z
  .object({
    version: z.string().min(1).nullable().catch(null),
    modifiedTime: z.iso.datetime().nullable().catch(null),
  })
  .catch({ version: null, modifiedTime: null });

const lastChange = z.object({
  modifiedTime: z.iso.datetime().nullish().catch(null),
  lastModifyingUser: z.object({
    me: z.boolean().nullish(),
    displayName: z.string().nullish(),
    emailAddress: z.string().nullish(),
  }),
});

function lastAuthor(data: unknown): Author | null {
  const { data: last } = lastChange.safeParse(data);
  if (last === undefined || last.lastModifyingUser.me === true) return null;
  const { displayName, emailAddress } = last.lastModifyingUser;
  const by = visibleText(displayName || emailAddress || '', 100);
  return by === '' ? null : { of: 'file', place: 'Google Drive', by, at: last.modifiedTime ?? null };
}

/** By hand, without copying: a tab has a million cells. */
function isGrid(values: unknown): values is SheetCell[][] {
  return Array.isArray(values) && values.every((row) => Array.isArray(row) && row.every(isCell));
}

function isCell(value: unknown): value is SheetCell {
  return (
    value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  );
}

/** A reply that lacks what Google's has; now. */
export function senseless(): GoogleFault {
  return new GoogleFault('target.unavailable', 'The reply did not come from Google Sheets', {
    retry: 'now',
    status: 200,
    help: 'If this persists, check for a proxy or sign-in page between this machine and Google.',
  });
}

export interface WriteJournal {
  /** Durable when it resolves; the note's id. */
  keep(note: Uint8Array): Promise<string>;
  /** The oldest first. */
  kept(): Promise<readonly { readonly id: string; readonly note: Uint8Array }[]>;
  over(id: string): Promise<void>;
}

export interface GoogleSheetsOptions extends ColumnMapping, SheetsApiOptions {
  readonly tab: string;
  readonly journal: WriteJournal;
  /** The connection's name, kept in the tab's record. */
  readonly connection: string;
}

export interface SheetsApiOptions {
  readonly spreadsheetId: string;
  /** Maximum requests of each kind per 60 seconds of this process for one account; default: Google's own quota. */
  readonly perMinute?: Readonly<Record<QuotaKind, number>>;
  readonly apiUrl: string;
  readonly account: GoogleAccount;
  readonly clock: Clock;
  readonly onReply?: OnReply;
}

/** A tab by its title; `name`: the target's, for messages. */
export interface SheetsTab {
  readonly api: SheetsApi;
  readonly tab: string;
  readonly name: string;
}

/** Google's own, of one user. */
const usualQuota = { read: 60, write: 60 };

/** Ms per request. Google itself gives up after 180 s; Drive is not worth a long wait. */
export type SheetsTimeouts = Readonly<Record<QuotaKind | 'drive', number>>;

const defaultTimeouts: SheetsTimeouts = { read: 60_000, write: 180_000, drive: 5_000 };

/** A tab of 100,000 rows and 8 columns is about 10 MB of JSON, which is then there as bytes, text, cells and rows. */
const longestReply = mostWhole / 4;

/** Google compresses replies only for clients that name gzip. */
const headers = { 'user-agent': 'leadsync (gzip)', 'content-type': 'application/json' };

const driveFields =
  'trashed,capabilities/canEdit,version,modifiedTime,lastModifyingUser(me,displayName,emailAddress)';

/** One per spreadsheet: Google wants no concurrent requests for one. */
const semaphores = new Map<string, Semaphore>();

function oneAtATime(spreadsheet: string): Semaphore {
  const known = semaphores.get(spreadsheet) ?? new Semaphore(1);
  semaphores.set(spreadsheet, known);
  return known;
}

/**
 * Each call is at most one request: counted, with a timeout, sequential per spreadsheet within this process, never retried here.
 * Faults: `googleFault`, `Quota`, `GoogleAccount.authorize`; the signal's reason when aborted.
 */
export class SheetsApi {
  requests = 0;
  readonly #options: SheetsApiOptions;
  readonly #timeouts: SheetsTimeouts;
  readonly #quota: Quota;
  readonly #oneAtATime: Semaphore;

  constructor(options: SheetsApiOptions, timeouts = defaultTimeouts) {
    this.#options = options;
    this.#timeouts = timeouts;
    this.#quota = quotaOf(options.clock, `${options.account.id} ${options.apiUrl}`);
    this.#oneAtATime = oneAtATime(`${options.apiUrl} ${options.spreadsheetId}`);
  }

  /** spreadsheets.get with a field mask; ranges in A1 notation or none. */
  async describe(
    ranges: readonly string[],
    fields: string,
    signal: AbortSignal,
  ): Promise<sheets_v4.Schema$Spreadsheet> {
    return parseSpreadsheet(await this.#send('read', this.#url('', ranges, { fields }), signal));
  }

  /** values.batchGet, ROWS; an empty range gives []. Dates: numbers beside formulas, displayed text among unformatted values. */
  async read(
    ranges: readonly string[],
    render: 'FORMULA' | 'UNFORMATTED_VALUE',
    signal: AbortSignal,
  ): Promise<readonly (readonly (readonly SheetCell[])[])[]> {
    const url = this.#url('/values:batchGet', ranges, {
      majorDimension: 'ROWS',
      valueRenderOption: render,
      dateTimeRenderOption: render === 'FORMULA' ? 'SERIAL_NUMBER' : 'FORMATTED_STRING',
    });
    return parseValueRanges(await this.#send('read', url, signal), ranges.length);
  }

  /** values.batchUpdate, RAW. All or nothing. */
  write(data: readonly sheets_v4.Schema$ValueRange[], signal: AbortSignal): Promise<void> {
    return this.#post('/values:batchUpdate', { valueInputOption: 'RAW', data }, signal);
  }

  /** spreadsheets.batchUpdate. All or nothing. */
  update(requests: readonly sheets_v4.Schema$Request[], signal: AbortSignal): Promise<void> {
    return this.#post(':batchUpdate', { requests }, signal);
  }

  /** The file's state in Drive; nulls where unknown, as after a request without reply. */
  async file(signal: AbortSignal): Promise<FileState> {
    const file = encodeURIComponent(this.#options.spreadsheetId);
    const path = `drive/v3/files/${file}?fields=${driveFields}&supportsAllDrives=true`;
    try {
      return parseFileState(
        await this.#send('drive', new URL(path, driveRoot(this.#options.apiUrl)), signal),
      );
    } catch (error) {
      // A refused account: the next request reports it.
      if (!signal.aborted && error instanceof LeadsyncError) return unknownState;
      throw error;
    }
  }

  address(): Promise<string | null> {
    return this.#options.account.address();
  }

  #url(method: string, ranges: readonly string[], query: Readonly<Record<string, string>>): URL {
    const { spreadsheetId, apiUrl } = this.#options;
    const url = new URL(`v4/spreadsheets/${encodeURIComponent(spreadsheetId)}${method}`, apiUrl);
    for (const range of ranges) url.searchParams.append('ranges', range);
    for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
    return url;
  }

  async #post(method: string, body: object, signal: AbortSignal): Promise<void> {
    // The reply is not used: the write's effect is read.
    const url = this.#url(method, [], { fields: 'spreadsheetId' });
    checkWriteReply(await this.#send('write', url, signal, body));
  }

  /** One request in turn, from its kind's bucket (Drive has none). Checks the signal once its turn has come. */
  async #send(kind: QuotaKind | 'drive', url: URL, signal: AbortSignal, body?: object): Promise<unknown> {
    using _turn = await this.#oneAtATime.acquire(signal);
    const { account, clock, onReply, perMinute = usualQuota } = this.#options;
    const { client, token } = await account.authorize(signal);
    const replied = kind === 'drive' ? null : this.#quota.take(kind, perMinute[kind]);
    this.requests += 1;
    const redactor = new Redactor([token]);
    try {
      const { data, status } = await client.request<unknown>({
        url,
        signal,
        timeout: this.#timeouts[kind],
        retry: false,
        maxContentLength: longestReply,
        responseType: 'json',
        headers,
        // As text: the client would copy objects cell by cell.
        ...(body !== undefined && { method: 'POST', data: JSON.stringify(body) }),
      });
      if (kind !== 'drive') this.#quota.allowed(kind);
      onReply?.(status);
      return redactor.json(data);
    } catch (error) {
      const reply = readGoogleReply(error, redactor, clock.now());
      onReply?.(reply?.status ?? (signal.aborted ? 'aborted' : 'unfinished'));
      if (signal.aborted) throw signal.reason;
      if (reply === null) throw error;
      throw kind === 'drive' ? googleFault(reply, 'read', null) : await this.#fault(reply, kind);
    } finally {
      replied?.();
    }
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

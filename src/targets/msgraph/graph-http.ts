import { z } from 'zod';
import { LeadsyncError } from '../../lib/errors.ts';
import { faultRow, type FaultTable } from '../../http/faults.ts';
import type { ExchangeBounds, ExchangeRequest, HttpFault, OnReply } from '../../http/exchange.ts';
import { parseJson, visibleText } from '../../lib/foreign-text.ts';
import { docsPath } from '../../lib/version.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { secretsOfAddress } from '../../http/credentials.ts';
import { type Body, callOnce, type HttpReply } from '../../http/connection.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Upload } from '../remote/remote-location.ts';
import type { GraphAccount } from './graph-account.ts';

const errorBody = z.object({
  error: z.looseObject({ code: z.string().catch(''), message: z.string().catch('') }),
});

/** An error reply of Graph, as documented: a code, more special ones inside it, and words for developers. */
interface SaidByGraph {
  /** From the outermost to the innermost. */
  readonly codes: readonly string[];
  readonly message: string;
}

/** A reply that is no answer. `waitMs`: what it asks to wait; null: nothing. */
export interface GraphRefusal extends SaidByGraph {
  readonly status: number;
  readonly waitMs: number | null;
  readonly isWrite: boolean;
}

/** A write without a reply may still be carried out; the next run has to see it. */
const lateWriteMs = 10_000;
const mayBeWritten = 'The write may have taken effect; leadsync reads the file before it writes again.';
/** Graph does not say when the file will be closed. */
const lockedMs = 5 * 60_000;
/** For a limit without Retry-After. */
const limitedMs = 60_000;

function readGraphError(json: unknown): SaidByGraph {
  const { data } = errorBody.safeParse(json);
  const codes: string[] = [];
  let at: Record<string, unknown> | undefined = data?.error;
  for (let depth = 0; at !== undefined && depth < 5; depth++) {
    if (typeof at['code'] === 'string' && /^[\w.-]{1,80}$/.test(at['code'])) codes.push(at['code']);
    at = asObject(at['innererror']) ?? asObject(at['innerError']);
  }
  return { codes, message: data?.error.message ?? '' };
}

/** Whether somebody saved the file since: SharePoint answers 409 in some cases, against its documentation. */
export function isMoved({ status, codes }: GraphRefusal): boolean {
  return status === 412 || (status === 409 && codes.includes('resourceModified'));
}

/** How a site is granted to the app, once it has the permission Sites.Selected. */
export const grantHelp = (): string =>
  `Grant the site to the app: in Graph Explorer POST https://graph.microsoft.com/v1.0/sites/SITE_ID/permissions {"roles":["write"],"grantedToIdentities":[{"application":{"id":"MSGRAPH_CLIENT_ID","displayName":"leadsync"}}]} (${docsPath('microsoft-365.md')}).`;

/** `quotaLimitReached` is Graph's code for 507. */
const faults: FaultTable<GraphRefusal & { readonly name: string }> = {
  '401': [
    'target.unauthenticated',
    'Microsoft Graph rejects the token of the app',
    'Check in Entra that the app has the application permission Sites.Selected with admin consent.',
  ],
  '403': ({ name, isWrite }) => [
    'target.forbidden',
    `Microsoft 365 does not let the app ${isWrite ? 'write' : 'read'} ${name.replace(/^Microsoft 365: /, '')}`,
    grantHelp(),
  ],
  '404': ({ name }) => [
    'target.not-found',
    `Microsoft Graph does not find ${name}`,
    'Check drive, path or link.',
  ],
  '429 503 509': ({ waitMs }) => [
    'target.rate-limited',
    'Microsoft accepts no more requests from this app for now',
    'leadsync waits as long as Microsoft asked, then tries again.',
    waitMs ?? limitedMs,
  ],
  '507': ({ name, waitMs }) => [
    'target.disk-full',
    `There is no room for ${name}: the drive or the site is full`,
    'Make room there; the next run writes what is left.',
    waitMs ?? 'later',
  ],
  '408 5xx': ({ waitMs }) => [
    'target.unavailable',
    'Microsoft Graph failed',
    'A worker tries again by itself.',
    waitMs ?? 'later',
  ],
  other: ({ name }) => [
    'target.refused',
    `Microsoft Graph refuses a request for ${name}`,
    `Check drive, path or link (${docsPath('microsoft-365.md')}).`,
  ],
};

function graphFault(refusal: GraphRefusal, name: string): LeadsyncError {
  const { status, codes, waitMs, message, isWrite } = refusal;
  if (status === 423 || codes.includes('resourceLocked')) return lockedFault(name, waitMs);
  const isUnsure = isWrite && (status === 408 || (status >= 500 && ![503, 507, 509].includes(status)));
  const refusedWrite = isUnsure ? mayBeWritten : 'Nothing was written.';
  const untouched = isWrite ? refusedWrite : 'Nothing was read or written.';
  const words = message === '' ? '' : ` Microsoft says: ${visibleText(message, 200)}`;
  const meant = codes.includes('quotaLimitReached') ? 507 : status;
  const [code, says, options] = faultRow(faults, { ...refusal, name, status: meant });
  return new LeadsyncError(code, `${says} (${[status, ...codes].join(' ')}). ${untouched}${words}`, options);
}

/** Somebody has it open: Microsoft does not tell who. */
function lockedFault(name: string, waitMs: number | null): LeadsyncError {
  const message = `${name} is locked: somebody has it open in Excel or in the browser, and Microsoft then lets nobody replace it (423). Nothing was written.`;
  return new LeadsyncError('target.busy', message, {
    retry: 'later',
    retryAfterMs: waitMs ?? lockedMs,
    help: 'Close it there. The worker tries again.',
  });
}

/** `by`: empty when Microsoft does not tell. */
export function checkedOutFault(name: string, by: string): LeadsyncError {
  const who = by === '' ? 'somebody' : visibleText(by, 80);
  const message = `${name} is checked out by ${who}. Nothing was written.`;
  return new LeadsyncError('target.busy', message, {
    retry: 'later',
    retryAfterMs: lockedMs,
    help: 'Check it in, or discard the check-out, in SharePoint. The worker tries again.',
  });
}

/** A request without a complete reply; after a `write` it may have been carried out. */
function lostReply({ kind, message, cause }: HttpFault, name: string, isWrite: boolean): LeadsyncError {
  const reason = visibleText(message, 100);
  if (kind === 'unreachable')
    return new LeadsyncError(
      'target.unavailable',
      `Microsoft cannot be reached for ${name} (${reason}). Nothing was sent.`,
      {
        retry: 'now',
        cause,
        help: 'Check the network and MSGRAPH_URL.',
      },
    );
  const effect = isWrite ? ` ${mayBeWritten}` : '';
  const what = kind === 'too-large' ? `sent ${reason}, too much,` : `gave no complete answer (${reason})`;
  return new LeadsyncError('target.unavailable', `Microsoft ${what} for ${name}.${effect}`, {
    cause,
    ...(isWrite ? { retry: 'later', retryAfterMs: lateWriteMs } : { retry: 'now' }),
  });
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

export interface GraphOptions {
  /** Root of the API with its version, such as `https://graph.microsoft.com/v1.0`. */
  readonly apiUrl: string;
  readonly account: GraphAccount;
  readonly clock: Clock;
  readonly onReply?: OnReply | undefined;
}

export interface GraphCall {
  readonly method?: ExchangeRequest['method'];
  /** From the root of the API on, encoded; or an absolute address that Graph gave: that is called without the token. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly upload?: Upload;
  /** Statuses that are answers, besides 2xx. */
  readonly answers?: readonly number[];
  readonly into?: (chunk: Buffer) => Promise<void>;
}

export interface GraphReply extends GraphRefusal {
  /** The body, when it is JSON. */
  readonly json: unknown;
  readonly location: string | null;
}

/** Ms and bytes. A file of 250 MB at 1 MB/s takes four minutes. */
const usual: ExchangeBounds = { headersMs: 60_000, totalMs: 120_000, bodyBytes: 4 * 1024 * 1024 };
const long: ExchangeBounds = { headersMs: 600_000, totalMs: 900_000, bodyBytes: 2 ** 32 };

/** Each call is one attempt; a rejected token is renewed once. Throws for replies but 2xx and `answers`. The token goes to the API alone. */
export class GraphHttp {
  requests = 0;
  readonly name: string;
  readonly #options: GraphOptions;
  /** Epoch ms before which Microsoft wants no request. */
  #notBefore = 0;

  constructor(name: string, options: GraphOptions) {
    this.name = name;
    this.#options = options;
  }

  async read<T>(call: GraphCall, reply: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    return this.parse(await this.ask(call, signal), reply);
  }

  parse<T>({ json, status }: GraphReply, reply: z.ZodType<T>): T {
    const { success, data } = reply.safeParse(json);
    if (success) return data;
    const message = `Microsoft answered ${status} for ${this.name}, but not with ${reply.description ?? 'the expected reply'}.`;
    throw new LeadsyncError('target.unavailable', message, { retry: 'later' });
  }

  /** The fault of a reply that was accepted as an answer. */
  fault(reply: GraphReply): LeadsyncError {
    return graphFault(reply, this.name);
  }

  async ask(call: GraphCall, signal: AbortSignal): Promise<GraphReply> {
    this.#checkWait();
    const { answers = [] } = call;
    if (isAbsolute(call.path)) return this.#attempt(call, signal, false);
    const reply = await this.#attempt({ ...call, answers: [...answers, 401] }, signal, false);
    return reply.status === 401 ? this.#attempt(call, signal, true) : reply;
  }

  async #attempt(call: GraphCall, signal: AbortSignal, fresh: boolean): Promise<GraphReply> {
    const { clock, apiUrl, account, onReply } = this.#options;
    signal.throwIfAborted();
    const isElsewhere = isAbsolute(call.path);
    const address = isElsewhere ? this.#trusted(call.path) : apiUrl + call.path;
    const request = {
      method: call.method ?? 'GET',
      headers: {
        accept: 'application/json',
        'user-agent': 'NONISV|leadsync|leadsync/1',
        ...call.headers,
        ...(!isElsewhere && { authorization: `Bearer ${await account.token(signal, fresh)}` }),
      },
      body: bodyOf(call),
      ...(isElsewhere && { secrets: secretsOfAddress(address, 'query') }),
    } as const;
    const isLong = call.into !== undefined || call.upload !== undefined;
    const isWrite = request.method !== 'GET';
    const reply = await callOnce(address, request, {
      bounds: isLong ? long : usual,
      signal,
      clock,
      onReply,
      ...(call.into && { into: call.into }),
      onSent: () => {
        this.requests += 1;
      },
      answers: call.answers,
      faults: {
        lost: (fault) => lostReply(fault, this.name, isWrite),
        refused: (refusal) => {
          if (refusal.waitMs !== null) this.#notBefore = clock.now() + refusal.waitMs;
          return this.fault(graphReply(refusal, isWrite));
        },
      },
    });
    return graphReply(reply, isWrite);
  }

  /** Requests during a wait make it longer. */
  #checkWait(): void {
    const ms = this.#notBefore - this.#options.clock.now();
    if (ms > 0)
      throw graphFault({ status: 429, codes: [], message: '', waitMs: ms, isWrite: false }, this.name);
  }

  #trusted(address: string): string {
    const url = URL.parse(address);
    const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
    if (url !== null && isSafe) return url.href;
    const message = `Microsoft named an address for ${this.name} that is not encrypted. Nothing was sent there.`;
    throw new LeadsyncError('target.unavailable', message, { retry: 'later' });
  }
}

function graphReply({ status, waitMs, header, body }: HttpReply, isWrite: boolean): GraphReply {
  const json = parseJson(body);
  return { status, json, waitMs, location: header('location'), isWrite, ...readGraphError(json) };
}

function bodyOf({ json, upload }: GraphCall): Body {
  if (upload !== undefined) return { upload };
  return json === undefined ? 'none' : { json };
}

const isAbsolute = (path: string): boolean => !path.startsWith('/');

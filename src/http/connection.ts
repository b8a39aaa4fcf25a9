import type { Clock } from '../ports/clock.ts';
import { retryAfterMs } from '../lib/retry-after.ts';
import { secretsOfAddress } from './credentials.ts';
import {
  Exchange,
  type ExchangeBounds,
  type ExchangeRequest,
  HttpFault,
  type OnReply,
  type ReplyHead,
} from './exchange.ts';
import { Readable } from 'node:stream';
// Not 'undici' itself: its fetch, caches and sockets are a hundred modules to load at each start.
import Client from 'undici/lib/dispatcher/client.js';
import { isLoopback } from '../lib/loopback.ts';
import { visibleText } from '../lib/foreign-text.ts';

interface ConnectionOptions {
  readonly connectMs: number;
  readonly clock: Clock;
  readonly onReply?: OnReply | undefined;
}

export interface HttpReply extends ReplyHead {
  readonly body: string;
  /** What Retry-After asks to wait (ms); null: nothing. */
  readonly waitMs: number | null;
  /** All values of a header; null: there is none. */
  readonly header: (name: string) => string | null;
}

export function replyOf(head: ReplyHead, body: string): HttpReply {
  const { headers, receivedAt } = head;
  return {
    ...head,
    body,
    waitMs: retryAfterMs(headers['retry-after'], headers['date'], receivedAt),
    header: (name) => [headers[name] ?? []].flat().join(', ') || null,
  };
}

/** How a client words what went wrong. */
interface Faults {
  /** No complete reply came; a write may have been carried out. */
  readonly lost: (fault: HttpFault) => Error;
  /** The reply is neither a success nor one of the `answers`. */
  readonly refused: (reply: HttpReply) => Error;
}

interface Asking {
  readonly bounds: ExchangeBounds;
  readonly signal: AbortSignal;
  /** Called just before the first byte leaves; when it throws, nothing is sent. */
  readonly onSent?: () => void;
  readonly onHead?: (head: ReplyHead) => void;
  /** As that of an Exchange. */
  readonly into?: (chunk: Buffer) => Promise<void>;
  /** Statuses that are answers, besides 2xx. */
  readonly answers?: readonly number[] | undefined;
  /** Absent: any reply is an answer, and a HttpFault is thrown as it is. */
  readonly faults?: Faults;
  /** A success whose body is cut is one, with an empty body. */
  readonly mayBeCut?: boolean;
}

/** A connection to a service, opened with the first request. Each request is exactly one attempt; no redirect is followed. */
export class HttpConnection implements AsyncDisposable {
  requests = 0;
  readonly #origin: string;
  readonly #options: ConnectionOptions;
  #client: Client | null = null;

  constructor(origin: string, options: ConnectionOptions) {
    this.#origin = origin;
    this.#options = options;
  }

  /** The reply, with its body as text. Throws as `faults` say, or the signal's reason. */
  async ask(request: HttpRequest, { answers = [], faults, ...asking }: Asking): Promise<HttpReply> {
    asking.signal.throwIfAborted();
    const reply = await this.#attempt(request, asking).catch((error: unknown) => {
      throw faults !== undefined && error instanceof HttpFault ? faults.lost(error) : error;
    });
    if (faults === undefined || reply.status < 300 || answers.includes(reply.status)) return reply;
    throw faults.refused(reply);
  }

  async #attempt(request: HttpRequest, { mayBeCut = false, ...asking }: Asking): Promise<HttpReply> {
    const { connectMs, clock, onReply } = this.#options;
    this.#client ??= openClient(this.#origin, connectMs);
    const onSent = (): void => {
      asking.onSent?.();
      this.requests += 1;
    };
    const exchange = Exchange.start(this.#client, toExchange(request), { clock, onReply, ...asking, onSent });
    const head = await exchange.head;
    const body = await (mayBeCut ? exchange.body.catch(cutBody) : exchange.body);
    return replyOf(head, body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.destroy().catch(() => {});
  }
}

/** As `HttpConnection.ask`, to an absolute address on a connection of its own. The messages hold nothing of the address. */
export async function callOnce(
  address: string,
  request: Omit<HttpRequest, 'path'>,
  { clock, onReply, ...asking }: Asking & Omit<ConnectionOptions, 'connectMs'>,
): Promise<HttpReply> {
  const { origin, pathname, search } = new URL(address);
  const connectMs = asking.bounds.headersMs;
  await using connection = new HttpConnection(origin, { connectMs, clock, onReply });
  return await connection.ask({ ...request, path: pathname + search }, asking);
}

/** Bytes: longer replies to a success are not read to the end. */
const calledBytes = 16 * 1024;

interface Call extends Pick<Asking, 'signal' | 'onSent' | 'faults'> {
  /** Sent by POST; none: by GET. */
  readonly body: Body;
  /** Ms from the call to the end of the reply. */
  readonly totalMs: number;
  readonly clock: Clock;
}

/** As `callOnce`, to an address whose path is a key: the status decides. */
export function callAddress(address: string, { body, totalMs, ...call }: Call): Promise<HttpReply> {
  const bounds = { headersMs: totalMs, totalMs, bodyBytes: calledBytes };
  const method = body === 'none' ? 'GET' : 'POST';
  const request = { method, headers: {}, body, secrets: secretsOfAddress(address, 'path') } as const;
  return callOnce(address, request, { ...call, bounds, mayBeCut: true });
}

function cutBody(error: unknown): string {
  if (error instanceof HttpFault) return '';
  throw error;
}

/** One connection, HTTP/1.1, no pipelining: undici then never resends by itself. */
function openClient(origin: string, connectMs: number): Client {
  return new Client(origin, { allowH2: false, pipelining: 1, connect: { timeout: connectMs } });
}

/** What a request carries; `text` is of the type that the headers name. `size`: bytes. */
export type Body =
  | 'none'
  | { readonly text: string }
  | { readonly json: unknown }
  | { readonly upload: { readonly size: number; chunks(): AsyncIterable<Buffer> } };

export type HttpRequest = Omit<ExchangeRequest, 'body'> & { readonly body: Body };

/** With a bearer token and, unless it is undefined, `json`. */
export function jsonRequest(
  method: HttpRequest['method'],
  path: string,
  token: string,
  json: unknown,
): HttpRequest {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
  return { method, path, headers, body: json === undefined ? 'none' : { json } };
}

function toExchange({ headers, body, ...request }: HttpRequest): ExchangeRequest {
  const [type, content] = contentOf(body);
  // A compressed reply would pass a limit on received bytes, and have another ETag, which no If-Match fits.
  const usual = { 'accept-encoding': 'identity', 'user-agent': 'leadsync' };
  return { ...request, headers: { ...usual, ...type, ...headers }, body: content };
}

function contentOf(body: Body): [Readonly<Record<string, string>>, ExchangeRequest['body']] {
  if (body === 'none') return [{}, null];
  if ('text' in body) return [{}, body.text];
  if ('json' in body) return [{ 'content-type': 'application/json' }, JSON.stringify(body.json)];
  const type = { 'content-type': 'application/octet-stream', 'content-length': String(body.upload.size) };
  return [type, Readable.from(body.upload.chunks(), { objectMode: false })];
}

export interface ServiceAddress {
  /** Such as `https://api.example.com`. */
  readonly origin: string;
  /** Empty, or `/prefix` without a trailing slash. */
  readonly pathPrefix: string;
}

/** Why a secret must not be sent to a base URL. `unusable`: not http(s), or with a user name, a password, "?" or "#". */
export interface AddressMistake {
  readonly mistake: 'unusable' | 'unencrypted';
  /** Host and port, for messages: nothing else of the URL may be repeated. May be empty. */
  readonly host: string;
}

/** Splits a base URL. The key travels in a header, so https is required, except to this machine. */
export function parseServiceAddress(baseUrl: string): ServiceAddress | AddressMistake {
  const url = URL.parse(baseUrl);
  const { protocol = '', host = '', hostname = '', username, password, search, hash } = url ?? {};
  if (url === null || !/^https?:$/.test(protocol) || [username, password, search, hash].join('') !== '')
    return { mistake: 'unusable', host };
  if (protocol === 'http:' && !isLoopback(hostname)) return { mistake: 'unencrypted', host };
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') };
}

/** An address without its user, password, query and fragment. */
export function shownAddress(location: string | null, base: URL): string | null {
  const url = location === null ? null : URL.parse(location, base.href);
  return url === null ? null : visibleText(`${url.origin}${url.pathname}`, 300);
}

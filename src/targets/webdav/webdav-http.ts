import { extname } from 'node:path';
import { type HttpRequest, shownAddress } from '../../http/client.ts';
import { HttpConnection } from '../../http/connection.ts';
import { type ExchangeBounds, HttpFault, type OnReply } from '../../http/exchange.ts';
import { systemClock } from '../../ports/clock.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import type { Upload } from '../remote/remote-file.ts';
import { lostReply, refused } from './webdav-fault.ts';

export interface WebDavAccess {
  /** The address of the file: https, or http to this machine; without user, query and fragment. */
  readonly url: string;
  /** The Authorization header as it is now; null: none is needed. */
  readonly authorization: () => string | null;
  readonly onReply?: OnReply;
}

export interface DavCall {
  readonly method: HttpRequest['method'];
  /** Encoded; absent: the file's. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Upload;
  /** Statuses that are answers, besides 2xx. */
  readonly answers?: readonly number[];
  readonly into?: (chunk: Buffer) => Promise<void>;
}

export interface DavReply {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly body: string;
}

/** Ms and bytes. A file of 50 MB takes seven minutes at 1 Mbit/s. */
const connectMs = 10_000;
const transfer: ExchangeBounds = { headersMs: 900_000, totalMs: 900_000, bodyBytes: 512 * 1024 * 1024 };
const quick: ExchangeBounds = { headersMs: 60_000, totalMs: 60_000, bodyBytes: 8 * 1024 * 1024 };
/** The reply to HEAD tells the length of the file. */
const look: ExchangeBounds = { ...quick, bodyBytes: transfer.bodyBytes };

const writes: ReadonlySet<string> = new Set(['PUT', 'MOVE', 'DELETE', 'LOCK']);
const mostRedirects = 3;

/** About one file, each once, but redirects on the same host are followed. Throws for replies but 2xx and `answers`, without the password. */
export class WebDavHttp {
  readonly name: string;
  readonly #access: WebDavAccess;
  readonly #connection: HttpConnection;
  #url: URL;

  constructor(access: WebDavAccess) {
    this.name = access.url;
    this.#access = access;
    this.#url = new URL(access.url);
    const { onReply } = access;
    this.#connection = new HttpConnection(this.#url.origin, { connectMs, clock: systemClock, onReply });
  }

  /** The path of the file, encoded. */
  get path(): string {
    return this.#url.pathname;
  }

  get folder(): string {
    return new URL('.', this.#url).pathname;
  }

  beside(name: string): string {
    return new URL(encodeURIComponent(name), this.#url).pathname;
  }

  addressOf(path: string): string {
    return this.#url.origin + path;
  }

  async ask(call: DavCall, signal: AbortSignal): Promise<DavReply> {
    for (let redirects = 0; ; redirects++) {
      signal.throwIfAborted();
      const { reply, fault } = await this.#attempt(call, signal);
      if (fault === null) return reply;
      const moved = redirects < mostRedirects && call.path === undefined ? this.#sameHost(reply) : null;
      if (moved === null) throw fault;
      this.#url = moved;
    }
  }

  /** Where a redirect leads, when it is on the same host, and a file of the same kind: no page to log in. */
  #sameHost(reply: DavReply): URL | null {
    if (![301, 302, 307, 308].includes(reply.status)) return null;
    const to = URL.parse(reply.header('location') ?? '', this.#url.href);
    const isSame = to?.origin === this.#url.origin && to.search === '' && !to.pathname.endsWith('/');
    return isSame && endingOf(to) === endingOf(this.#url) && to.pathname !== this.#url.pathname ? to : null;
  }

  async #attempt(
    { answers = [], into, ...call }: DavCall,
    signal: AbortSignal,
  ): Promise<{ readonly reply: DavReply; readonly fault: Error | null }> {
    const short = call.method === 'HEAD' ? look : quick;
    const bounds = into !== undefined || typeof call.body === 'object' ? transfer : short;
    try {
      const asking = { bounds, signal, ...(into && { into }) };
      const { status, headers, receivedAt, body } = await this.#connection.ask(this.#request(call), asking);
      const header = (name: string): string | null => [headers[name] ?? []].flat().join(', ') || null;
      const reply = { status, header, body };
      if ((status >= 200 && status < 300) || answers.includes(status)) return { reply, fault: null };
      const refusal = {
        status,
        isWrite: writes.has(call.method),
        hasLogin: this.#access.authorization() !== null,
        waitMs: retryAfterMs(headers['retry-after'], headers['date'], receivedAt),
        location: shownAddress(header('location'), this.#url),
      };
      return { reply, fault: refused(refusal, this.name) };
    } catch (error) {
      throw error instanceof HttpFault ? lostReply(error, this.name) : error;
    }
  }

  #request({ method, path, headers, body }: DavCall): HttpRequest {
    const authorization = this.#access.authorization();
    return {
      method,
      path: path ?? this.#url.pathname,
      headers: { ...(authorization !== null && { authorization }), ...headers },
      body: body === undefined ? 'none' : typeof body === 'string' ? { text: body } : { upload: body },
    };
  }
}

const endingOf = ({ pathname }: URL): string => extname(pathname).toLowerCase();

import { extname } from 'node:path';
import { type HttpRequest, shownAddress } from '../../http/client.ts';
import { HttpConnection, type HttpReply } from '../../http/connection.ts';
import type { ExchangeBounds, OnReply } from '../../http/exchange.ts';
import { systemClock } from '../../ports/clock.ts';
import type { LeadsyncError } from '../../lib/errors.ts';
import { lostReply, refused } from './webdav-fault.ts';

export interface WebDavAccess {
  /** The address of the file: https, or http to this machine; without user, query and fragment. */
  readonly url: string;
  /** The Authorization header as it is now; null: none is needed. */
  readonly authorization: () => string | null;
  readonly onReply?: OnReply;
}

interface DavCall extends Pick<HttpRequest, 'method'>, Partial<Omit<HttpRequest, 'method' | 'path'>> {
  /** Encoded; absent: the file's, and redirects on the same host are followed. */
  readonly path?: string;
  /** Statuses that are answers, besides 2xx. */
  readonly answers?: readonly number[];
  readonly into?: (chunk: Buffer) => Promise<void>;
}

/** Ms and bytes. A file of 50 MB takes seven minutes at 1 Mbit/s. */
const connectMs = 10_000;
const transfer: ExchangeBounds = { headersMs: 900_000, totalMs: 900_000, bodyBytes: 512 * 1024 * 1024 };
const quick: ExchangeBounds = { headersMs: 60_000, totalMs: 60_000, bodyBytes: 8 * 1024 * 1024 };
/** The reply to HEAD tells the length of the file. */
const look: ExchangeBounds = { ...quick, bodyBytes: transfer.bodyBytes };

const writes: ReadonlySet<string> = new Set(['PUT', 'MOVE', 'DELETE', 'LOCK']);
const moves: readonly number[] = [301, 302, 307, 308];
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

  async ask({ path, answers = [], ...call }: DavCall, signal: AbortSignal): Promise<HttpReply> {
    if (path !== undefined) return this.#attempt({ ...call, path, answers }, signal);
    for (let redirects = 0; ; redirects++) {
      const reply = await this.#attempt({ ...call, answers: [...answers, ...moves] }, signal);
      if (!moves.includes(reply.status)) return reply;
      const moved = redirects < mostRedirects ? this.#sameHost(reply) : null;
      if (moved === null) throw this.#refused(reply, call.method);
      this.#url = moved;
    }
  }

  /** Where a redirect leads, when it is on the same host, and a file of the same kind: no page to log in. */
  #sameHost(reply: HttpReply): URL | null {
    const to = URL.parse(reply.header('location') ?? '', this.#url.href);
    const isSame = to?.origin === this.#url.origin && to.search === '' && !to.pathname.endsWith('/');
    return isSame && endingOf(to) === endingOf(this.#url) && to.pathname !== this.#url.pathname ? to : null;
  }

  #attempt(
    { path = this.#url.pathname, headers, body = 'none', answers, into, ...call }: DavCall,
    signal: AbortSignal,
  ): Promise<HttpReply> {
    const authorization = this.#access.authorization();
    const short = call.method === 'HEAD' ? look : quick;
    const isLong = into !== undefined || (typeof body === 'object' && 'upload' in body);
    return this.#connection.ask(
      { ...call, path, headers: { ...(authorization !== null && { authorization }), ...headers }, body },
      {
        bounds: isLong ? transfer : short,
        signal,
        answers,
        ...(into && { into }),
        faults: {
          lost: (fault) => lostReply(fault, this.name),
          refused: (reply) => this.#refused(reply, call.method),
        },
      },
    );
  }

  #refused({ status, waitMs, header }: HttpReply, method: DavCall['method']): LeadsyncError {
    return refused({
      status,
      name: this.name,
      isWrite: writes.has(method),
      login: loginOf(this.#access),
      waitMs,
      location: shownAddress(header('location'), this.#url),
    });
  }
}

const endingOf = ({ pathname }: URL): string => extname(pathname).toLowerCase();

function loginOf(access: WebDavAccess): 'password' | 'token' | null {
  const authorization = access.authorization();
  if (authorization === null) return null;
  return authorization.startsWith('Basic ') ? 'password' : 'token';
}

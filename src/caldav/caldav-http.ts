import type { Secret } from '../config/secret.ts';
import { type HttpRequest, shownAddress } from '../http/client.ts';
import { HttpConnection } from '../http/connection.ts';
import { type ExchangeBounds, HttpFault } from '../http/exchange.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import { retryAfterMs } from '../lib/retry-after.ts';
import { visibleText } from '../lib/visible-text.ts';
import { lostReply, refused } from './caldav-fault.ts';

export interface CalendarAccess {
  /** The address of the calendar: https, or http to this machine; its path ends with a slash. */
  readonly url: string;
  readonly username: string;
  readonly password: Secret;
}

export interface DavCall {
  readonly method: HttpRequest['method'];
  /** Not encoded; absent: the calendar itself. */
  readonly name?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Statuses that are answers, besides 2xx. */
  readonly answers?: readonly number[];
}

export interface DavReply {
  readonly status: number;
  readonly etag: string | null;
  readonly body: string;
}

/** Ms and bytes. A listing has some 300 bytes for an entry. */
const connectMs = 10_000;
const bounds: ExchangeBounds = { headersMs: 60_000, totalMs: 120_000, bodyBytes: 32 * 1024 * 1024 };

/**
 * Each request is exactly one attempt, and no redirect is followed. Throws a LeadsyncError for every reply but 2xx and `answers`. Neither
 * errors nor logs show the password.
 */
export class CalDavHttp implements AsyncDisposable {
  readonly place: string;
  readonly #access: CalendarAccess;
  readonly #url: URL;
  readonly #connection: HttpConnection;

  constructor(access: CalendarAccess, clock: Clock = systemClock) {
    this.#access = access;
    this.#url = new URL(access.url);
    this.#connection = new HttpConnection(this.#url.origin, { connectMs, clock });
    this.place = `${this.#url.host}${this.#url.pathname}`;
  }

  get requests(): number {
    return this.#connection.requests;
  }

  pathOf(name: string): string {
    return this.#url.pathname + encodeURIComponent(name);
  }

  async ask(call: DavCall, signal: AbortSignal): Promise<DavReply> {
    signal.throwIfAborted();
    try {
      return await this.#attempt(call, signal);
    } catch (error) {
      throw error instanceof HttpFault ? lostReply(error, this.place) : error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection[Symbol.asyncDispose]();
  }

  async #attempt({ answers = [], ...call }: DavCall, signal: AbortSignal): Promise<DavReply> {
    const reply = await this.#connection.ask(this.#request(call), { bounds, signal });
    const { status, headers, receivedAt, body } = reply;
    const one = (name: string): string | null => [headers[name] ?? null].flat()[0] ?? null;
    if (status < 300 || answers.includes(status)) return { status, etag: one('etag'), body };
    throw refused(
      {
        status,
        waitMs: retryAfterMs(headers['retry-after'], headers['date'], receivedAt),
        location: shownAddress(one('location'), this.#url),
        offers: [headers['www-authenticate'] ?? []]
          .flat()
          .map((offer) => visibleText(offer.split(/[\s,]/)[0] ?? '', 20))
          .join(', '),
      },
      this.place,
    );
  }

  #request({ method, name, headers, body }: DavCall): HttpRequest {
    const { username, password } = this.#access;
    const login = Buffer.from(`${username}:${password.reveal()}`).toString('base64');
    return {
      method,
      path: name === undefined ? this.#url.pathname : this.pathOf(name),
      headers: { authorization: `Basic ${login}`, ...headers },
      body: body === undefined ? 'none' : { text: body },
    };
  }
}

import type { Secret } from '../config/secret.ts';
import { type HttpRequest, shownAddress } from '../http/client.ts';
import { HttpConnection } from '../http/connection.ts';
import { type ExchangeBounds, HttpFault } from '../http/exchange.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import { retryAfterMs } from '../lib/retry-after.ts';
import { visibleText } from '../lib/visible-text.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { whyNoConnection } from '../http/no-connection.ts';
import { docsPath } from '../lib/version.ts';

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

interface Refusal {
  readonly status: number;
  /** What the server asks to wait (ms); null: nothing. */
  readonly waitMs: number | null;
  readonly location: string | null;
  /** The ways to log in that the server offers, as it names them. */
  readonly offers: string;
}

/** A request without a complete reply: `caldav.unreachable`, or `caldav.tls` when no encrypted connection came about. */
function lostReply(fault: HttpFault, place: string): LeadsyncError {
  if (fault.kind === 'too-large')
    return new LeadsyncError('caldav.unreadable', `${place} sent ${fault.message}: leadsync reads no more.`, {
      retry: 'later',
      help: 'Use a calendar of its own for follow-ups.',
    });
  const none = whyNoConnection(fault);
  const says = none
    ? `No connection to ${place}: ${none.says}.`
    : `${place} gave no complete answer: ${fault.message}.`;
  return new LeadsyncError(none?.isTls === true ? 'caldav.tls' : 'caldav.unreachable', says, {
    retry: 'later',
    help: none?.help ?? 'Check url, and whether the server is running. A worker tries again by itself.',
  });
}

/** The fault of a reply, by its status alone. `place`: host and path of the calendar. */
function refused({ status, waitMs, location, offers }: Refusal, place: string): LeadsyncError {
  const later = (code: string, message: string, help: string): LeadsyncError =>
    new LeadsyncError(code, message, {
      retry: 'later',
      help,
      ...(waitMs !== null && { retryAfterMs: waitMs }),
    });
  if (status === 401) {
    const others = /\bbasic\b/i.test(offers) || offers === '' ? '' : ` It offers ${offers}, not Basic.`;
    return later(
      'caldav.unauthenticated',
      `${place} rejected the user name or the password.${others}`,
      `Many providers want an app password here, not the password of the account (${docsPath('caldav.md')}).`,
    );
  }
  if (status === 403)
    return later(
      'caldav.forbidden',
      `${place} does not allow this user to do that.`,
      'Share the calendar with this user so that it may read and write.',
    );
  if (status === 404 || status === 410)
    return later(
      'caldav.not-found',
      `There is no calendar at ${place}.`,
      'Create a calendar for follow-ups in the calendar program, and set url to its CalDAV address. leadsync creates none.',
    );
  if (status >= 300 && status < 400)
    return later(
      'caldav.redirected',
      `${place} points to another address${location === null ? '' : `, ${location}`}: leadsync does not follow with the password.`,
      'Set url to the address of the calendar itself.',
    );
  if (status === 429 || status === 503)
    return later(
      'caldav.limited',
      `${place} accepts no more requests for now (${status}).`,
      'A worker tries again by itself.',
    );
  if (status === 507)
    return later('caldav.full', `There is no more room at ${place} (507).`, 'Make room in that account.');
  if (status >= 500)
    return later('caldav.server-error', `${place} failed (${status}).`, 'A worker tries again by itself.');
  return later(
    'caldav.rejected',
    `${place} rejected a request (${status}).`,
    'Run leadsync check; the address may not be that of a calendar.',
  );
}

export function unreadable(place: string, what: string): LeadsyncError {
  return new LeadsyncError('caldav.unreadable', `${place} sent ${what}.`, {
    retry: 'later',
    help: 'Check that url is the CalDAV address of a calendar, not that of a web page.',
  });
}

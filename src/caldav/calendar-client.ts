import { LeadsyncError } from '../lib/errors.ts';
import type { Component } from './entry-text.ts';
import { escaped } from '../reminders/compose/shown-text.ts';
import { type DavResponse, mentions, readMultistatus, textOf } from '../http/multistatus.ts';
import { docsPath } from '../lib/version.ts';
import { faultRow, type FaultTable, whyNoConnection } from '../http/faults.ts';
import type { ExchangeBounds, HttpFault } from '../http/exchange.ts';
import type { Secret } from '../config/secret.ts';
import { type HttpRequest, shownAddress, HttpConnection, type HttpReply } from '../http/connection.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import { visibleText } from '../lib/foreign-text.ts';

interface Refusal {
  readonly status: number;
  readonly isToken: boolean;
  /** Host and path of the calendar. */
  readonly place: string;
  /** Where a redirect points to. */
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

const signInAgain = `A person's account needs access to calendars, too: enable the CalDAV API, then leadsync check --google-sign-in (${docsPath('caldav.md')}).`;
const again = 'A worker tries again by itself.';

const faults: FaultTable<Refusal> = {
  '401': ({ place, offers, isToken }) => [
    'caldav.unauthenticated',
    isToken
      ? `${place} rejected the account of GOOGLE_APPLICATION_CREDENTIALS.`
      : `${place} rejected the user name or the password.${/\bbasic\b/i.test(offers) || offers === '' ? '' : ` It offers ${offers}, not Basic.`}`,
    isToken
      ? signInAgain
      : `Many providers want an app password here, not the password of the account (${docsPath('caldav.md')}).`,
  ],
  '403': ({ place, isToken }) => [
    'caldav.forbidden',
    `${place} does not allow this user to do that.`,
    `Share the calendar with this user so that it may read and write.${isToken ? ` ${signInAgain}` : ''}`,
  ],
  '404 410': ({ place }) => [
    'caldav.not-found',
    `There is no calendar at ${place}.`,
    'Create a calendar for follow-ups in the calendar program, and set url to its CalDAV address. leadsync creates none.',
  ],
  '3xx': ({ place, location }) => [
    'caldav.redirected',
    `${place} points to another address${location === null ? '' : `, ${location}`}: leadsync does not follow with the password.`,
    'Set url to the address of the calendar itself.',
  ],
  '429 503': ({ place, status }) => [
    'caldav.limited',
    `${place} accepts no more requests for now (${status}).`,
    again,
  ],
  '507': ({ place }) => [
    'caldav.full',
    `There is no more room at ${place} (507).`,
    'Make room in that account.',
  ],
  '5xx': ({ place, status }) => ['caldav.server-error', `${place} failed (${status}).`, again],
  other: ({ place, status }) => [
    'caldav.rejected',
    `${place} rejected a request (${status}).`,
    'Run leadsync check; the address may not be that of a calendar.',
  ],
};

function unreadable(place: string, what: string): LeadsyncError {
  return new LeadsyncError('caldav.unreadable', `${place} sent ${what}.`, {
    retry: 'later',
    help: 'Check that url is the CalDAV address of a calendar, not that of a web page.',
  });
}

export interface BasicLogin {
  readonly username: string;
  readonly password: Secret;
}

/** The account whose token goes with each request. */
export interface TokenLogin {
  /** Throws LeadsyncError, and the signal's reason. */
  authorize(signal: AbortSignal): Promise<{ readonly token: string }>;
  /** After its token was refused. */
  forget(): void;
}

interface DavCall extends Pick<HttpRequest, 'method'>, Partial<Pick<HttpRequest, 'headers'>> {
  /** Not encoded; absent: the calendar itself. */
  readonly name?: string;
  readonly text?: string;
  /** Statuses that are answers, besides 2xx. */
  readonly answers?: readonly number[];
}

/** Ms and bytes. A listing has some 300 bytes for an entry. */
const connectMs = 10_000;
const bounds: ExchangeBounds = { headersMs: 60_000, totalMs: 120_000, bodyBytes: 32 * 1024 * 1024 };

export interface StoredEntry {
  readonly etag: string | null;
  readonly text: string;
}

/**
 * `stored`: with the ETag of what the server now shows, null when it does not say. `changed`: somebody else wrote, or, of a
 * new entry, its name is taken (412). `uid-taken`: the calendar has the entry under another name (409).
 */
export type PutOutcome =
  | { readonly kind: 'stored'; readonly etag: string | null }
  | { readonly kind: 'changed' }
  | { readonly kind: 'uid-taken' };

const xml = { 'content-type': 'application/xml; charset=utf-8' };
const names = { event: 'VEVENT', task: 'VTODO' } as const;

/**
 * Requests to one calendar (RFC 4791): each is exactly one attempt, and no redirect is followed. Throws a LeadsyncError for every reply but 2xx and
 * `answers`, and `caldav.unreadable`. Neither errors nor logs show the password.
 */
export class CalendarClient implements AsyncDisposable {
  readonly place: string;
  readonly #login: BasicLogin | TokenLogin;
  readonly #url: URL;
  readonly #connection: HttpConnection;

  /** `url`: the address of the calendar: https, or http to this machine; its path ends with a slash. */
  constructor(url: string, login: BasicLogin | TokenLogin, clock: Clock = systemClock) {
    this.#login = login;
    this.#url = new URL(url);
    this.#connection = new HttpConnection(this.#url.origin, { connectMs, clock });
    this.place = `${this.#url.host}${this.#url.pathname}`;
  }

  get requests(): number {
    return this.#connection.requests;
  }

  #pathOf(name: string): string {
    return this.#url.pathname + encodeURIComponent(name);
  }

  /** Throws `caldav.not-a-calendar` for another collection. */
  async examine(signal: AbortSignal) {
    const text = `<propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><resourcetype/><displayname/><current-user-privilege-set/><C:supported-calendar-component-set/></prop></propfind>`;
    const responses = await this.#query({ method: 'PROPFIND', headers: { depth: '0' }, text }, signal);
    const [self] = responses;
    if (self === undefined || !mentions(self, 'resourcetype', 'calendar'))
      throw new LeadsyncError('caldav.not-a-calendar', `${this.place} is no calendar.`, {
        retry: 'later',
        help: `Set url to the CalDAV address of one calendar, not to that of the account (${docsPath('caldav.md')}).`,
      });
    const comps =
      self.props.get('supported-calendar-component-set')?.getElementsByTagNameNS('*', 'comp') ?? [];
    const supported = [...comps].map((comp) => comp.getAttribute('name')?.toUpperCase());
    const may = (privilege: string): boolean => mentions(self, 'current-user-privilege-set', privilege);
    return {
      displayName: textOf(self, 'displayname'),
      /** Of event and task; both where the server does not say. */
      components: (['event', 'task'] as const).filter(
        (one) => supported.length === 0 || supported.includes(names[one]),
      ),
      /** Null: the server does not say. */
      mayWrite: self.props.has('current-user-privilege-set')
        ? may('all') || may('write') || (may('write-content') && may('bind'))
        : null,
    };
  }

  /** The ETags of all that is there, by name; '': the server does not say. */
  async list(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const text = '<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>';
    const responses = await this.#query({ method: 'PROPFIND', headers: { depth: '1' }, text }, signal);
    // What is cut off would count as deleted.
    if (responses.some(({ status }) => status === 507))
      throw unreadable(this.place, 'a part of its listing alone');
    const there = responses.filter(({ status }) => status === null || status < 300);
    return new Map(there.map((response) => [response.name, textOf(response, 'getetag') ?? '']));
  }

  /** A name that is gone is left out. */
  async read(entries: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, StoredEntry>> {
    const hrefs = entries.map((name) => `<href>${escaped(this.#pathOf(name))}</href>`).join('');
    const text = `<C:calendar-multiget xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><getetag/><C:calendar-data/></prop>${hrefs}</C:calendar-multiget>`;
    const responses = await this.#query({ method: 'REPORT', headers: { depth: '0' }, text }, signal);
    return new Map(
      responses.flatMap((response) => {
        const text = textOf(response, 'calendar-data');
        return text === null ? [] : [[response.name, { etag: textOf(response, 'getetag'), text }] as const];
      }),
    );
  }

  /** Writes an entry, on condition that it is as `etag` says; null: that there is none of that name. */
  async put(name: string, text: string, etag: string | null, signal: AbortSignal): Promise<PutOutcome> {
    const condition = etag === null ? { 'if-none-match': '*' } : { 'if-match': etag };
    const headers = { 'content-type': 'text/calendar; charset=utf-8', ...condition };
    const answers = etag === null ? [409, 412] : [404, 409, 410, 412];
    const reply = await this.#ask({ method: 'PUT', name, headers, text, answers }, signal);
    if (reply.status < 300) return { kind: 'stored', etag: reply.header('etag') };
    return { kind: reply.status === 409 ? 'uid-taken' : 'changed' };
  }

  /** Deletes an entry, on condition that it is as `etag` says. False: it is not. One that is gone is deleted. */
  async remove(name: string, etag: string, signal: AbortSignal): Promise<boolean> {
    const headers = { 'if-match': etag };
    const answers = [404, 410, 412];
    const { status } = await this.#ask({ method: 'DELETE', name, headers, answers }, signal);
    return status !== 412;
  }

  async find(component: Component, uid: string, signal: AbortSignal): Promise<readonly string[]> {
    const text = `<C:calendar-query xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><getetag/></prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="${names[component]}"><C:prop-filter name="UID"><C:text-match collation="i;octet">${escaped(uid)}</C:text-match></C:prop-filter></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`;
    const responses = await this.#query({ method: 'REPORT', headers: { depth: '1' }, text }, signal);
    return responses.filter(({ status }) => status === null || status < 300).map(({ name }) => name);
  }

  async #query(call: DavCall, signal: AbortSignal): Promise<readonly DavResponse[]> {
    const { body } = await this.#ask({ ...call, headers: { ...xml, ...call.headers } }, signal);
    const found = readMultistatus(body);
    if (found === null) throw unreadable(this.place, 'no answer that CalDAV knows');
    return found;
  }

  async #ask({ name, headers, text, answers, ...call }: DavCall, signal: AbortSignal): Promise<HttpReply> {
    const authorization = await this.#authorization(signal);
    const path = name === undefined ? this.#url.pathname : this.#pathOf(name);
    const body = text === undefined ? 'none' : { text };
    return this.#connection.ask(
      { ...call, path, headers: { authorization, ...headers }, body },
      { bounds, signal, answers, faults: this.#faults },
    );
  }

  async #authorization(signal: AbortSignal): Promise<string> {
    const login = this.#login;
    if (!('authorize' in login))
      return `Basic ${Buffer.from(`${login.username}:${login.password.reveal()}`).toString('base64')}`;
    try {
      return `Bearer ${(await login.authorize(signal)).token}`;
    } catch (cause) {
      if (!(cause instanceof LeadsyncError)) throw cause;
      const { help, retryAfterMs } = cause;
      const wait = retryAfterMs !== undefined && { retryAfterMs };
      const isRefused = cause.retry === 'never';
      throw new LeadsyncError(
        isRefused ? 'caldav.unauthenticated' : 'caldav.unreachable',
        `No token for ${this.place}: ${cause.message}`,
        { retry: 'later', ...(help !== undefined && { help }), ...wait, cause },
      );
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection[Symbol.asyncDispose]();
  }

  readonly #faults = {
    lost: (fault: HttpFault) => lostReply(fault, this.place),
    /** By the status alone. */
    refused: ({ status, waitMs, header, headers }: HttpReply) => {
      const offers = [headers['www-authenticate'] ?? []]
        .flat()
        .map((offer) => visibleText(offer.split(/[\s,]/)[0] ?? '', 20))
        .join(', ');
      const location = shownAddress(header('location'), this.#url);
      const account = 'authorize' in this.#login ? this.#login : null;
      if (status === 401) account?.forget();
      const refusal = { status, isToken: account !== null, place: this.place, location, offers };
      const [code, says, options] = faultRow(faults, refusal);
      const wait = waitMs !== null && { retryAfterMs: waitMs };
      return new LeadsyncError(code, says, { ...options, retry: 'later', ...wait });
    },
  };
}

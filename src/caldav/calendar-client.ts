import { LeadsyncError } from '../lib/errors.ts';
import { type CalDavHttp, type DavCall, unreadable } from './caldav-http.ts';
import type { Component } from './entry-text.ts';
import { escaped } from '../reminders/compose/shown-text.ts';
import {
  type DavResponse,
  mentions,
  type Multistatus,
  readMultistatus,
  textOf,
} from '../http/multistatus.ts';
import { docsPath } from '../lib/version.ts';

export interface CalendarFacts {
  readonly displayName: string | null;
  /** Of event and task; both where the server does not say. */
  readonly components: readonly Component[];
  /** Null: the server does not say. */
  readonly mayWrite: boolean | null;
}

export interface Changes {
  /** To be given the next time; null: the server has none. */
  readonly token: string | null;
  /** Everything that is there: what is not in `etags` is gone. */
  readonly isWhole: boolean;
  /** By name; null: it is gone. '': it is there, and the server does not say more. */
  readonly etags: ReadonlyMap<string, string | null>;
}

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

/** Replies to a sync token that is not valid any more; servers do not agree on one. */
const staleToken = [400, 403, 409, 410, 412];
/** Replies of servers that do not know the report. */
const noReport = [400, 403, 405, 409, 415, 501];

/** Replies after which a listing goes on with the new token. */
const mostParts = 1000;

/** Requests to one calendar (RFC 4791, 6578). Each throws what `CalDavHttp` throws, and `caldav.unreadable`. */
export class CalendarClient {
  readonly #http: CalDavHttp;

  constructor(http: CalDavHttp) {
    this.#http = http;
  }

  /** Throws `caldav.not-a-calendar` for another collection. */
  async examine(signal: AbortSignal): Promise<CalendarFacts> {
    const text = `<propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><resourcetype/><displayname/><current-user-privilege-set/><C:supported-calendar-component-set/></prop></propfind>`;
    const { responses } = await this.#query({ method: 'PROPFIND', headers: { depth: '0' }, text }, signal);
    const [self] = responses;
    if (self === undefined || !mentions(self, 'resourcetype', 'calendar'))
      throw new LeadsyncError('caldav.not-a-calendar', `${this.#http.place} is no calendar.`, {
        retry: 'later',
        help: `Set url to the CalDAV address of one calendar, not to that of the account (${docsPath('caldav.md')}).`,
      });
    const comps =
      self.props.get('supported-calendar-component-set')?.getElementsByTagNameNS('*', 'comp') ?? [];
    const supported = [...comps].map((comp) => comp.getAttribute('name')?.toUpperCase());
    const may = (privilege: string): boolean => mentions(self, 'current-user-privilege-set', privilege);
    return {
      displayName: textOf(self, 'displayname'),
      components: (['event', 'task'] as const).filter(
        (one) => supported.length === 0 || supported.includes(names[one]),
      ),
      mayWrite: self.props.has('current-user-privilege-set')
        ? may('all') || may('write') || (may('write-content') && may('bind'))
        : null,
    };
  }

  /** What changed since a token; everything without one, with one that is not valid any more, or without such reports. */
  async changes(token: string | null, signal: AbortSignal): Promise<Changes> {
    const etags = new Map<string, string | null>();
    let from = token;
    for (let part = 0; part < mostParts; part++) {
      const text = `<sync-collection xmlns="DAV:"><sync-token>${escaped(from ?? '')}</sync-token><sync-level>1</sync-level><prop><getetag/></prop></sync-collection>`;
      const answers = from === null ? noReport : staleToken;
      const reply = await this.#http.ask({ method: 'REPORT', headers: xml, text, answers }, signal);
      if (reply.status >= 300) {
        if (from === null) return this.#list(signal);
        if (part === 0) return this.changes(null, signal);
        throw unreadable(this.#http.place, 'a sync token that it then refused');
      }
      const { responses, ...found } = this.#read(reply.body);
      // RFC 6578, section 3.6: a listing that was cut is marked so at the calendar itself.
      let isCut = false;
      for (const response of responses) {
        if (response.status === 507) isCut = true;
        else etags.set(response.name, etagOf(response));
      }
      if (!isCut) return { token: found.token, isWhole: token === null, etags };
      if (found.token === null || found.token === from) break;
      from = found.token;
    }
    throw unreadable(this.#http.place, 'a listing that does not end');
  }

  /** A name that is gone is left out. */
  async read(entries: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, StoredEntry>> {
    const hrefs = entries.map((name) => `<href>${escaped(this.#http.pathOf(name))}</href>`).join('');
    const text = `<C:calendar-multiget xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><getetag/><C:calendar-data/></prop>${hrefs}</C:calendar-multiget>`;
    const { responses } = await this.#query({ method: 'REPORT', headers: { depth: '0' }, text }, signal);
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
    const reply = await this.#http.ask({ method: 'PUT', name, headers, text, answers }, signal);
    if (reply.status < 300) return { kind: 'stored', etag: reply.header('etag') };
    return { kind: reply.status === 409 ? 'uid-taken' : 'changed' };
  }

  /** Deletes an entry, on condition that it is as `etag` says. False: it is not. One that is gone is deleted. */
  async remove(name: string, etag: string, signal: AbortSignal): Promise<boolean> {
    const headers = { 'if-match': etag };
    const answers = [404, 410, 412];
    const { status } = await this.#http.ask({ method: 'DELETE', name, headers, answers }, signal);
    return status !== 412;
  }

  async find(component: Component, uid: string, signal: AbortSignal): Promise<readonly string[]> {
    const text = `<C:calendar-query xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><getetag/></prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="${names[component]}"><C:prop-filter name="UID"><C:text-match collation="i;octet">${escaped(uid)}</C:text-match></C:prop-filter></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`;
    const { responses } = await this.#query({ method: 'REPORT', headers: { depth: '1' }, text }, signal);
    return responses.filter(({ status }) => status === null || status < 300).map(({ name }) => name);
  }

  async #list(signal: AbortSignal): Promise<Changes> {
    const text = '<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>';
    const { responses } = await this.#query({ method: 'PROPFIND', headers: { depth: '1' }, text }, signal);
    const etags = new Map(responses.map((response) => [response.name, etagOf(response)]));
    return { token: null, isWhole: true, etags };
  }

  async #query(call: DavCall, signal: AbortSignal): Promise<Multistatus> {
    const { body } = await this.#http.ask({ ...call, headers: { ...xml, ...call.headers } }, signal);
    return this.#read(body);
  }

  #read(body: string): Multistatus {
    const found = readMultistatus(body);
    if (found === null) throw unreadable(this.#http.place, 'no answer that CalDAV knows');
    return found;
  }
}

/** Only the status of the whole says that an entry is gone (RFC 6578, section 3.5): a property may be missing on its own. */
function etagOf(response: DavResponse): string | null {
  const isGone = response.status === 404 || response.status === 410;
  return isGone ? null : (textOf(response, 'getetag') ?? '');
}

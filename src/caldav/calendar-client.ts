import { LeadsyncError } from '../lib/errors.ts';
import { type CalDavHttp, type DavCall, unreadable } from './caldav-http.ts';
import type { Component } from './entry-text.ts';
import { escaped } from '../reminders/compose/shown-text.ts';
import { type DavResponse, mentions, readMultistatus, textOf } from '../http/multistatus.ts';
import { docsPath } from '../lib/version.ts';

export interface CalendarFacts {
  readonly displayName: string | null;
  /** Of event and task; both where the server does not say. */
  readonly components: readonly Component[];
  /** Null: the server does not say. */
  readonly mayWrite: boolean | null;
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

/** Requests to one calendar (RFC 4791). Each throws what `CalDavHttp` throws, and `caldav.unreadable`. */
export class CalendarClient {
  readonly #http: CalDavHttp;

  constructor(http: CalDavHttp) {
    this.#http = http;
  }

  /** Throws `caldav.not-a-calendar` for another collection. */
  async examine(signal: AbortSignal): Promise<CalendarFacts> {
    const text = `<propfind xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><prop><resourcetype/><displayname/><current-user-privilege-set/><C:supported-calendar-component-set/></prop></propfind>`;
    const responses = await this.#query({ method: 'PROPFIND', headers: { depth: '0' }, text }, signal);
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

  /** The ETags of all that is there, by name; '': the server does not say. */
  async list(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const text = '<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>';
    const responses = await this.#query({ method: 'PROPFIND', headers: { depth: '1' }, text }, signal);
    // What is cut off would count as deleted.
    if (responses.some(({ status }) => status === 507))
      throw unreadable(this.#http.place, 'a part of its listing alone');
    const there = responses.filter(({ status }) => status === null || status < 300);
    return new Map(there.map((response) => [response.name, textOf(response, 'getetag') ?? '']));
  }

  /** A name that is gone is left out. */
  async read(entries: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, StoredEntry>> {
    const hrefs = entries.map((name) => `<href>${escaped(this.#http.pathOf(name))}</href>`).join('');
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
    const responses = await this.#query({ method: 'REPORT', headers: { depth: '1' }, text }, signal);
    return responses.filter(({ status }) => status === null || status < 300).map(({ name }) => name);
  }

  async #query(call: DavCall, signal: AbortSignal): Promise<readonly DavResponse[]> {
    const { body } = await this.#http.ask({ ...call, headers: { ...xml, ...call.headers } }, signal);
    const found = readMultistatus(body);
    if (found === null) throw unreadable(this.#http.place, 'no answer that CalDAV knows');
    return found;
  }
}

import { Readable } from 'node:stream';
// Not 'undici' itself: its fetch, caches and sockets are a hundred modules to load at each start.
import Client from 'undici/lib/dispatcher/client.js';
import { isLoopback } from '../lib/loopback.ts';
import { visibleText } from '../lib/visible-text.ts';
import type { ExchangeRequest } from './exchange.ts';

/** One connection, HTTP/1.1, no pipelining: undici then never resends by itself. */
export function openClient(origin: string, connectMs: number): Client {
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

export function toExchange({ headers, body, ...request }: HttpRequest): ExchangeRequest {
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

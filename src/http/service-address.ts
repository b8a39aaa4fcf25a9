import { isIPv4 } from 'node:net';

/** The origin to connect to, and the path before those of the API. */
export interface ServiceAddress {
  /** Such as `https://api.example.com`. */
  readonly origin: string;
  /** Empty, or `/prefix` without a trailing slash. */
  readonly pathPrefix: string;
}

/**
 * Why a secret must not be sent to a base URL. `not-http`: not an http(s) URL. `extras`: it has a user name, a
 * password, "?" or "#". `unencrypted`: http to another machine.
 */
export interface AddressMistake {
  readonly mistake: 'not-http' | 'extras' | 'unencrypted';
  /** Host and port, for messages: nothing else of the URL may be repeated. May be empty. */
  readonly host: string;
}

/**
 * Splits a base URL. The key travels in a header, so https is required, except to this machine (127.0.0.0/8, ::1,
 * localhost).
 */
export function parseServiceAddress(baseUrl: string): ServiceAddress | AddressMistake {
  const url = URL.parse(baseUrl);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return { mistake: 'not-http', host: '' };
  const { host } = url;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return { mistake: 'extras', host };
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return { mistake: 'unencrypted', host };
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') };
}

/** For a host name normalised by URL: `127.1` is already `127.0.0.1`, IPv6 is in brackets. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
  );
}

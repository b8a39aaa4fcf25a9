import { isLoopback } from '../loopback.ts';

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

import { isIPv4 } from 'node:net';
import { LeadsyncError } from '../errors.ts';

/** Where requests go: the origin to connect to and the path that comes before `/v1`. */
export interface ServiceAddress {
  /** Such as `https://api.example.com`. */
  readonly origin: string;
  /** Empty, or `/prefix` without a slash at its end. */
  readonly pathPrefix: string;
}

/**
 * Takes a base URL apart. The key travels in a header, so https is required except to this machine (127.0.0.0/8, ::1,
 * localhost). Throws `leads.insecure-url`, or `leads.bad-url` for what is no usable base URL; neither repeats the
 * URL's user name, password or query.
 */
export function parseServiceAddress(baseUrl: string): ServiceAddress {
  const url = URL.parse(baseUrl);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new LeadsyncError('leads.bad-url', 'The base URL of the Leads service is not an http(s) URL.', {
      help: 'Use an absolute address such as https://api.example.com.',
    });
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new LeadsyncError(
      'leads.bad-url',
      `The base URL of the Leads service (${url.host}) contains a user name, a password, "?" or "#".`,
      { help: 'Give the address and path alone; the key has a setting of its own.' },
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new LeadsyncError(
      'leads.insecure-url',
      `The key was not sent: http://${url.host} is not encrypted, and is not this machine.`,
      { help: `Use https://${url.host}.` },
    );
  }
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') };
}

/** For a host name as URL normalizes it: `127.1` is already `127.0.0.1`, IPv6 is in brackets. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
  );
}

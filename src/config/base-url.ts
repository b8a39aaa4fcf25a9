/** What is wrong with the Leads service's address, or null. https is required except on this machine (the key travels in a header). */
export function baseUrlMistake(text: string): string | null {
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) {
    return 'must be an absolute address such as https://api.example.com';
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return 'must not contain a user name or a password: the key has a setting of its own';
  }
  if (/[?#]/.test(text)) return 'must end with the path: no "?" and no "#"';
  return unencryptedMistake(url);
}

function unencryptedMistake(url: URL): string | null {
  return url.protocol === 'http:' && !isLoopback(url.hostname)
    ? 'must begin with https:// (http:// is allowed only for this machine: localhost, 127.0.0.1, [::1])'
    : null;
}

/**
 * What is wrong with an address that is called to tell something, or null. Path and query are a key, so https is required
 * except on this machine. `place`, such as {connection}, may stand in the path or the query.
 */
export function calledUrlMistake(text: string, place?: string): string | null {
  const allowed = `must be an absolute address such as https://example.com/path${place === undefined ? '' : `, with ${place} in the path or the query if wanted`}`;
  const filled = (name: string): string => (place === undefined ? text : text.replaceAll(place, name));
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(filled('a')) || !URL.canParse(filled('b')))
    return allowed;
  const url = new URL(filled('a'));
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password';
  if (text.includes('#') || url.host !== new URL(filled('b')).host) return allowed;
  return unencryptedMistake(url);
}

/** The address without trailing slashes, for a text that has passed `baseUrlMistake`. */
export function normalizeBaseUrl(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** The address of the Leads service as `normalizeBaseUrl` gives it, without the beginning of the API's own paths. */
export function normalizeLeadsUrl(text: string): string {
  return normalizeBaseUrl(text).replace(/\/v1(\/leads)?$/, '');
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

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
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'must begin with https:// (http:// is allowed only for this machine: localhost, 127.0.0.1, [::1])';
  }
  return null;
}

/** The address without trailing slashes, for a text that has passed `baseUrlMistake`. */
export function normalizeBaseUrl(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

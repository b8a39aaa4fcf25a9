import { isLoopback } from '../loopback.ts';
import { secret, text } from './values.ts';

/** What is wrong with an address over HTTP, or null. https is required except on this machine: a key travels with it. */
function httpMistake(written: string, allowed: string, whereElse: string): string | null {
  if (!/^https?:\/\/[^\s\\]+$/i.test(written) || !URL.canParse(written)) return allowed;
  const { username, password, protocol, hostname } = new URL(written);
  if (username !== '' || password !== '') return `must not contain a user name or a password${whereElse}`;
  return protocol === 'http:' && !isLoopback(hostname.replaceAll(/[[\]]/g, ''))
    ? 'must begin with https:// (http:// is allowed only for this machine: localhost, 127.0.0.1, [::1])'
    : null;
}

/** The root of an API, without trailing slashes. */
export const baseUrl = text(
  (written) =>
    httpMistake(
      written,
      'must be an absolute address such as https://api.example.com',
      ': the key has a setting of its own',
    ) ?? (/[?#]/.test(written) ? 'must end with the path: no "?" and no "#"' : null),
).transform((written) => {
  const url = new URL(written);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
});

/** The address of the Leads service, without the beginning of the API's own paths. */
export const leadsUrl = baseUrl.transform((url) => url.replace(/\/v1(\/leads)?$/, ''));

/** An address that is called to report something: path and query are a key. `place`, such as {connection}, may stand in them. */
export function calledUrl(place?: string) {
  const allowed = `must be an absolute address such as https://example.com/path${place === undefined ? '' : `, with ${place} in the path or the query if wanted`}`;
  return secret(
    text((written) => {
      const [one, other] = ['a', 'b'].map((name) =>
        place === undefined ? written : written.replaceAll(place, name),
      );
      if (one === undefined || other === undefined || written.includes('#')) return allowed;
      return httpMistake(one, allowed, '') ?? (isSameHost(one, other) ? null : allowed);
    }),
  );
}

/** The address of a lead for people, with {id} for its id. */
export const leadUrl = text((written) => {
  const allowed = 'must be an address with {id} in it, such as https://app.example.com/leads/{id}';
  if (!/^https?:\/\/[^\s\\<>"]+$/i.test(written) || !written.includes('{id}')) return allowed;
  const address = written.replaceAll('{id}', 'id');
  if (!URL.canParse(address)) return allowed;
  const { username, password } = new URL(address);
  if (username !== '' || password !== '')
    return 'must not contain a user name or a password: every recipient would read it';
  // The id is opaque text of the service: in the host it would choose the server.
  return isSameHost(address, written.replaceAll('{id}', 'x.invalid')) ? null : allowed;
});

function isSameHost(one: string, other: string): boolean {
  return URL.canParse(other) && new URL(one).host === new URL(other).host;
}

/** An address that holds a password. */
export function secretUrl(protocols: readonly string[], example: string) {
  const allowed = `must be an address such as ${example}; write characters such as # @ / % in the password as %23 %40 %2F %25`;
  return secret(
    text((written) => {
      if (!URL.canParse(written)) return allowed;
      const { protocol, username, password } = new URL(written);
      return protocols.includes(protocol) && decoded(username) !== null && decoded(password) !== null
        ? null
        : allowed;
    }),
  );
}

export const postgresUrl = secretUrl(
  ['postgres:', 'postgresql:'],
  'postgres://user:password@host:5432/database',
);

/** Null when a `%` begins no character. */
export function decoded(written: string): string | null {
  try {
    return decodeURIComponent(written);
  } catch {
    return null;
  }
}

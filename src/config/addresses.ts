import { isLoopback } from '../lib/loopback.ts';
import { fileNameMistake, knownEndings } from './file-formats.ts';
import { secret, text } from './values.ts';
import { decoded } from '../lib/foreign-text.ts';

/** An address over HTTP, or null. `place`, such as {id}, may stand in its path and query; in the host it would choose the server. */
function httpUrl(written: string, place: string): URL | null {
  if (!/^https?:\/\/[^\s\\]+$/i.test(written)) return null;
  const [url = null, other] = ['a', 'x.invalid'].map((name) => URL.parse(written.replaceAll(place, name)));
  return url?.host === other?.host ? url : null;
}

function credentialsMistake({ username, password }: URL): string | null {
  return username === '' && password === '' ? null : 'must not contain a user name or a password';
}

/** https is required except on this machine: a key travels with the address. */
function keyMistake(url: URL): string | null {
  return url.protocol === 'http:' && !isLoopback(url.hostname)
    ? 'must begin with https:// (http:// is allowed only for this machine: localhost, 127.0.0.1, [::1])'
    : credentialsMistake(url);
}

/** An address that carries a key: `allowed` says what is taken, `place` is as in `httpUrl`. */
function keyUrl(allowed: string, { place = ' ', hasQuery = false } = {}) {
  return text((written) => {
    const url = hasQuery && written.includes('#') ? null : httpUrl(written, place);
    if (url === null) return allowed;
    const hasMore = !hasQuery && /[?#]/.test(written);
    return keyMistake(url) ?? (hasMore ? 'must end with the path: no "?" and no "#"' : null);
  });
}

function rootUrl(example: string) {
  return keyUrl(`must be an absolute address such as ${example}`).transform((written) => {
    const url = new URL(written);
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  });
}

export const baseUrl = rootUrl('https://api.example.com');

/** The first parts of the paths of the worker's HTTP port. */
export const ownPaths: ReadonlySet<string> = new Set(
  'assets calendar conflicts connections follow-up healthz live login logout metrics queues readyz runs'.split(
    ' ',
  ),
);

/** Under which people reach the worker's HTTP port. */
export const publicUrl = rootUrl('https://leadsync.example.com').superRefine((url, context) => {
  const [, first = '', ...rest] = new URL(url).pathname.split('/');
  const parts = first === '' && rest.length === 0 ? [] : [first, ...rest];
  if (parts.some((part) => !/^[\w.~-]+$/.test(part)))
    context.addIssue('may have letters without accents, digits, and - . _ ~ in its path');
  else if (ownPaths.has(first))
    context.addIssue(`must not begin its path with /${first}, which is a page of leadsync`);
});

/** The address of the Leads service, without the beginning of the API's own paths. */
export const leadsUrl = baseUrl.transform((url) => url.replace(/\/v1(\/leads)?$/, ''));

/** An address that is called to report something: path and query are a key. */
export const calledUrl = secret(
  keyUrl(
    'must be an absolute address such as https://example.com/path; a heartbeat may have {connection} in the path or the query',
    { place: '{connection}', hasQuery: true },
  ),
);

/** The incoming webhook of a chat channel: path and query are a key. */
export const chatUrl = secret(
  keyUrl('must be the absolute address of an incoming webhook, such as https://hooks.slack.com/services/…', {
    hasQuery: true,
  }),
);

export const calendarUrl = keyUrl(
  'must be the address of a calendar, such as https://cloud.example.com/remote.php/dav/calendars/anna/leads/',
).transform((written) => new URL(written).href.replace(/\/*$/, '/'));

export function isWebAddress(path: string): boolean {
  return /^https?:\/\//i.test(path);
}

export function isSharingLink(path: string): boolean {
  const { protocol, hostname = '' } = URL.parse(path) ?? {};
  return protocol === 'https:' && /\.sharepoint(?:-mil)?\.(?:com|us|cn|de)$/i.test(hostname);
}

export function isPersonalOneDrive(path: string): boolean {
  return /^https?:\/\/(?:1drv\.ms|onedrive\.live\.com|[\w.-]+\.docs\.live\.net)(?:[/?#]|$)/i.test(path);
}

export function fileAddressMistake(written: string): string | null {
  const url = httpUrl(written.replaceAll(' ', '%20'), ' ');
  if (url === null)
    return 'must be the WebDAV address of a file, such as https://cloud.example.com/remote.php/dav/files/anna/leads.xlsx';
  if (/[?#]/.test(written))
    return 'must be the WebDAV address of the file, not that of a page which shows it (write "?" in a name as %3F and "#" as %23)';
  const path = decoded(url.pathname);
  if (path === null) return 'must be encoded: write "%" in a name as %25';
  return keyMistake(url) ?? fileNameMistake(path, `must end with the name of a file: ${knownEndings}`);
}

/** Begins the path of a file in a drive of Microsoft 365: `msgraph:DRIVE/PATH`. */
export const driveMark = 'msgraph:';

/** The drive and the path within it; null: another kind of path. */
export function drivePath(path: string): { readonly drive: string; readonly path: string } | null {
  if (!path.startsWith(driveMark)) return null;
  const [drive = '', ...parts] = path.slice(driveMark.length).split('/');
  return { drive, path: parts.filter((part) => part !== '').join('/') };
}

/** By SharePoint's rules. */
export function drivePathMistake(written: string): string | null {
  const { drive = '', path = '' } = drivePath(written) ?? {};
  if (!/^[\w!.-]{1,200}$/.test(drive))
    return 'must be msgraph:DRIVE/PATH, where DRIVE is the id of a drive of Microsoft 365, such as b!…';
  if (/["*:<>?\\|]/.test(path) || path.split('/').some((part) => part === '.' || part === '..'))
    return 'must be a path within the drive: folders separated by /, none of them . or .., and none of " * : < > ? \\ |';
  return fileNameMistake(path, `must end with the name of a file: ${knownEndings}`);
}

/** The one spelling of the address of a file. */
export function fileAddress(written: string): string {
  return new URL(written.replaceAll(' ', '%20')).href;
}

export const leadUrl = text((written) => {
  const url = /[<>"]/.test(written) || !written.includes('{id}') ? null : httpUrl(written, '{id}');
  return url === null
    ? 'must be an address with {id} in it, such as https://app.example.com/leads/{id}'
    : credentialsMistake(url);
});

export function secretUrl(protocols: readonly string[], example: string) {
  const allowed = `must be an address such as ${example}; write characters such as # @ / % in the password as %23 %40 %2F %25`;
  return secret(
    text((written) => {
      const { protocol = '', username = '%', password = '%' } = URL.parse(written) ?? {};
      const isRight = protocols.includes(protocol) && decoded(username + password) !== null;
      return isRight ? null : allowed;
    }),
  );
}

export const postgresUrl = secretUrl(
  ['postgres:', 'postgresql:'],
  'postgres://user:password@host:5432/database',
);

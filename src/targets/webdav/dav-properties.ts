import { LeadsyncError } from '../../lib/errors.ts';
import { type DavResponse, readMultistatus } from '../../http/multistatus.ts';
import { parseHttpDate } from '../../lib/retry-after.ts';
import { visibleText } from '../../lib/visible-text.ts';
import { isFolder, type WebDavHttp } from './webdav-http.ts';
import type { HttpReply } from '../../http/connection.ts';

/** Temporary files of killed runs are removed when they are this old (ms, by the server's clock). */
const leftMs = 3_600_000;

/** Throws `target.busy` with the owner when somebody has locked it (RFC 4918, section 15.8), `target.unreadable` for a folder. */
export async function assertNotLocked(http: WebDavHttp, signal: AbortSignal): Promise<void> {
  const { responses } = await propertiesOf(http, http.path, '0', ['resourcetype', 'lockdiscovery'], signal);
  const props = responses[0]?.props;
  if (has(props, 'resourcetype', 'collection')) throw isFolder(http.name);
  if (!has(props, 'lockdiscovery', 'activelock')) return;
  const owner = props?.get('lockdiscovery')?.getElementsByTagNameNS('DAV:', 'owner')[0]?.textContent ?? '';
  const name = visibleText(owner, 100);
  if (name === lockOwner)
    throw new LeadsyncError(
      'target.busy',
      `${http.name} is locked by another leadsync, or by one that was killed. Nothing was written.`,
      { retry: 'later', help: 'The lock ends by itself within a minute. A worker tries again by itself.' },
    );
  const message = `${http.name} is locked by ${name === '' ? 'somebody' : name}. Nothing was written.`;
  throw new LeadsyncError('target.busy', message, {
    retry: 'later',
    help: 'Save and close it in the program that has it open. A worker tries again by itself.',
  });
}

/** @throws LeadsyncError `target.not-writable` when the folder of the file is not there. */
export async function assertFolder(http: WebDavHttp, signal: AbortSignal): Promise<void> {
  const { status } = await propertiesOf(http, http.folder, '0', ['resourcetype'], signal);
  if (status !== 404 && status !== 410) return;
  const message = `The folder of ${http.name} does not exist on the server. Nothing was written.`;
  throw new LeadsyncError('target.not-writable', message, {
    help: 'Create the folder, or correct the path of the target.',
  });
}

/** Removes temporary files of killed runs: files in the folder whose name begins with `prefix`. */
export async function removeLeftovers(http: WebDavHttp, prefix: string, signal: AbortSignal): Promise<void> {
  const { responses, date } = await propertiesOf(http, http.folder, '1', ['getlastmodified'], signal);
  const now = parseHttpDate(date ?? '');
  for (const { name, props } of responses) {
    const age = now - parseHttpDate(props.get('getlastmodified')?.textContent ?? '');
    if (!name.startsWith(prefix) || !(age > leftMs)) continue;
    await http.ask({ method: 'DELETE', path: http.beside(name), answers: [404] }, signal);
  }
}

const stateProperties: Readonly<Record<string, string>> = {
  etag: 'getetag',
  'last-modified': 'getlastmodified',
  'content-length': 'getcontentlength',
};

/** What the properties of the file say where a reply to HEAD would have headers. */
export async function stateHeaders(http: WebDavHttp, signal: AbortSignal): Promise<HttpReply['header']> {
  const wanted = Object.values(stateProperties);
  const { responses, date } = await propertiesOf(http, http.path, '0', wanted, signal);
  const props = responses[0]?.props;
  return (name) => (name === 'date' ? date : (props?.get(stateProperties[name] ?? '')?.textContent ?? null));
}

/** Servers that tell no properties have none. */
async function propertiesOf(
  http: WebDavHttp,
  path: string,
  depth: '0' | '1',
  names: readonly string[],
  signal: AbortSignal,
): Promise<{
  readonly status: number;
  readonly responses: readonly DavResponse[];
  readonly date: string | null;
}> {
  const wanted = names.map((name) => `<D:${name}/>`).join('');
  const reply = await http.ask(
    {
      method: 'PROPFIND',
      path,
      headers: { depth, 'content-type': 'application/xml; charset=utf-8' },
      body: {
        text: `<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop>${wanted}</D:prop></D:propfind>`,
      },
      answers: [301, 302, 307, 308, 400, 403, 404, 405, 410, 501],
    },
    signal,
  );
  const responses = reply.status === 207 ? (readMultistatus(reply.body) ?? []) : [];
  return { status: reply.status, responses, date: reply.header('date') };
}

function has(props: DavResponse['props'] | undefined, property: string, element: string): boolean {
  return (props?.get(property)?.getElementsByTagNameNS('DAV:', element).length ?? 0) > 0;
}

/** How long a lock lasts when its process dies (s). */
const lockSeconds = 60;
const unlockMs = 10_000;
/** By which people and other processes recognize our locks. */
const lockOwner = 'leadsync';

interface DavLock extends AsyncDisposable {
  /** As an If header names it. */
  readonly token: string;
}

/** Until disposal (RFC 4918, section 9.10); null: the server has no locks. Throws `target.busy` when somebody else has locked it. */
export async function lockFile(http: WebDavHttp, signal: AbortSignal): Promise<DavLock | null> {
  const { status, header } = await http.ask(
    {
      method: 'LOCK',
      headers: {
        depth: '0',
        timeout: `Second-${lockSeconds}`,
        'content-type': 'application/xml; charset=utf-8',
      },
      body: {
        text: `<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>${lockOwner}</D:owner></D:lockinfo>`,
      },
      answers: [400, 403, 404, 405, 412, 501],
    },
    signal,
  );
  const token = header('lock-token');
  if (status >= 300 || token === null) return null;
  return {
    token,
    async [Symbol.asyncDispose]() {
      // The lock ended with the file that a rename replaced, or it expires.
      const unlock = {
        method: 'UNLOCK',
        headers: { 'lock-token': token },
        answers: [400, 404, 409, 412],
      } as const;
      await http.ask(unlock, AbortSignal.timeout(unlockMs)).catch(() => {});
    },
  };
}

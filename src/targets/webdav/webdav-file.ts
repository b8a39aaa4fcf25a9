import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsyncError } from '../../lib/errors.ts';
import { parseHttpDate } from '../../lib/retry-after.ts';
import { docsPath } from '../../lib/version.ts';
import { type Editor, editorLocks, openInEditor } from '../file/editor-locks.ts';
import { type RemoteFile, RemoteLocation, type Upload } from '../remote/remote-location.ts';
import type { FilePlace, FileState } from '../file/file-place.ts';
import type { HttpReply } from '../../http/connection.ts';
import { isFolder, type WebDavAccess, WebDavHttp } from './webdav-http.ts';
import { type DavResponse, readMultistatus } from '../../http/multistatus.ts';
import { visibleText } from '../../lib/foreign-text.ts';

/** While a file was only just changed it is looked at again: how often (ms), and how many times. */
const settleMs = 700;
const settleLooks = 6;
const removeMs = 10_000;

/** Null: the file has another version than expected, and nothing was stored. */
type Stored = { readonly version: string | null } | null | 'refused';

export class WebDavFile implements RemoteFile {
  readonly name: string;
  readonly id: string;
  readonly #http: WebDavHttp;
  /** Whether the server stores only while If-Match fits; null: not tried yet. */
  #honoursIfMatch: boolean | null = null;
  /** Whether an upload is renamed into place; null: not found out yet. */
  #isRenamed: boolean | null = null;
  #isTidied = false;

  constructor(http: WebDavHttp, id: string) {
    this.name = http.name;
    this.id = id;
    this.#http = http;
  }

  async look(signal: AbortSignal): Promise<DavState | null> {
    const reply = await this.#http.ask({ method: 'HEAD', answers: [404, 410] }, signal);
    const state = this.#stateIn(reply);
    if (state === null || state.opaqueTag !== null) return state;
    // lighttpd gives neither ETag nor date with a file whose type it does not know, but has both as properties.
    const header = await stateHeaders(this.#http, signal);
    const known = header('etag') === null ? reply : { header };
    if (known.header('etag') !== null || known.header('last-modified') !== null) return davState(known);
    const message = `The server sends neither an ETag nor a date for ${this.name}, so a save by somebody else would go unnoticed. Nothing was read or written.`;
    throw new LeadsyncError('target.unreadable', message, {
      help: 'Have the server or its proxy pass on ETag and Last-Modified.',
    });
  }

  async read(into: (chunk: Buffer) => Promise<void>, signal: AbortSignal): Promise<DavState | null> {
    const before = await this.#settled(signal);
    if (before === null) return null;
    const reply = await this.#http.ask({ method: 'GET', into, answers: [404, 410] }, signal);
    const state = this.#stateIn(reply);
    if (state === null || state.opaqueTag !== null || before.opaqueTag === null) return state;
    const after = await this.look(signal);
    if (after === null || after.version === before.version) return after;
    throw new LeadsyncError('target.busy', `Somebody saved ${this.name} while it was read.`, {
      retry: 'later',
    });
  }

  async write(
    upload: Upload,
    expected: string | null,
    signal: AbortSignal,
  ): Promise<{ readonly version: string | null } | null> {
    const state = await this.look(signal);
    if ((state?.version ?? null) !== expected) return null;
    const honours = await this.#honours(signal);
    if (honours && !(await this.#renames(signal))) {
      const stored = await this.#putIfMatch(upload, expected, signal);
      if (stored !== 'refused') return stored;
    }
    const stored = await this.#moveInto(upload, state, signal);
    if (stored !== 'refused') return stored;
    this.#isRenamed = false;
    const last = honours ? await this.#putIfMatch(upload, expected, signal) : 'refused';
    if (last !== 'refused') return last;
    const message = `The server refuses to store ${this.name} on a condition. The file is unchanged.`;
    throw new LeadsyncError('target.refused', message, {
      help: 'Write to the address under which the server knows itself, or have its proxy pass ETag, If-Match and Destination on unchanged.',
    });
  }

  async assertNotOpen(signal: AbortSignal): Promise<void> {
    await assertNotLocked(this.#http, signal);
    const editor = await editorOf(this.#http, signal);
    if (editor !== null) throw openInEditor(this.name, editor);
  }

  async assertWritable(signal: AbortSignal): Promise<string> {
    const state = await this.look(signal);
    await assertFolder(this.#http, signal);
    const honours = await this.#honours(signal);
    if (state !== null && state.opaqueTag === null)
      return 'the server gives no ETag, so leadsync compares time and size, stores under a temporary name and renames; a save within the moment of renaming is lost';
    return honours
      ? ''
      : 'the server does not honour If-Match, so leadsync stores under a temporary name and renames; a save within the moment of renaming is lost';
  }

  #stateIn(reply: HttpReply): DavState | null {
    if (reply.status >= 300) return null;
    if (/^text\/html\b/i.test(reply.header('content-type') ?? ''))
      throw new LeadsyncError(
        'target.unreadable',
        `${this.name} shows a web page, not the file. Nothing was read or written.`,
        {
          help: `Set the path to the WebDAV address of the file (${docsPath('webdav.md')}). When it is a page to log in, the server wants another kind of login.`,
        },
      );
    return davState(reply);
  }

  /** The state once it differs from any later one; after some seconds, as it is. */
  async #settled(signal: AbortSignal): Promise<DavState | null> {
    for (let looks = 1; ; looks++) {
      const state = await this.look(signal);
      if (state === null || state.isSettled || looks === settleLooks) return state;
      await sleep(settleMs, undefined, { signal });
    }
  }

  /** Asks to store a file that is not there, if it has an ETag that it cannot have. */
  async #honours(signal: AbortSignal): Promise<boolean> {
    if (this.#honoursIfMatch !== null) return this.#honoursIfMatch;
    const path = this.#temporaryPath();
    const { status } = await this.#http.ask(
      {
        method: 'PUT',
        path,
        headers: { 'if-match': '"leadsync-never"', 'content-length': '0' },
        answers: [400, 404, 409, 412, 428],
      },
      signal,
    );
    if (status < 300) await this.#remove(path);
    this.#honoursIfMatch = status === 412;
    return this.#honoursIfMatch;
  }

  /**
   * Apache looks at If-Match when an upload begins, and so loses what people save during it, but at the condition of a rename
   * when it renames. Elsewhere a rename makes another file of it, without the versions and shares of the old one (Nextcloud).
   */
  async #renames(signal: AbortSignal): Promise<boolean> {
    if (this.#isRenamed === null) {
      // Of the folder: lighttpd never ends its answer about a file that is missing.
      const call = {
        method: 'OPTIONS',
        path: this.#http.folder,
        answers: [400, 403, 404, 405, 501],
      } as const;
      const reply = await this.#http.ask(call, signal);
      this.#isRenamed = reply.header('dav')?.includes('apache.org/dav/propset/fs') ?? false;
    }
    return this.#isRenamed;
  }

  /** `refused`: not because the file has another version. */
  async #putIfMatch(upload: Upload, expected: string | null, signal: AbortSignal): Promise<Stored> {
    const state = expected === null ? await this.look(signal) : await this.#settled(signal);
    if ((state?.version ?? null) !== expected) return null;
    if (state !== null && state.strongTag === null) return 'refused';
    const tag = state?.strongTag ?? null;
    const headers: Record<string, string> = tag === null ? { 'if-none-match': '*' } : { 'if-match': tag };
    const reply = await this.#http.ask({ method: 'PUT', headers, body: { upload }, answers: [412] }, signal);
    if (reply.status !== 412) return { version: versionTold(reply) };
    return ((await this.look(signal))?.version ?? null) === expected ? 'refused' : null;
  }

  /**
   * Stores beside the file, looks once more, and renames, on the condition that the file still has its ETag: also a broken
   * upload leaves the file as it was. `refused`: not because the file has another version.
   */
  async #moveInto(upload: Upload, state: DavState | null, signal: AbortSignal): Promise<Stored> {
    const expected = state?.version ?? null;
    if (!this.#isTidied) await removeLeftovers(this.#http, temporaryPrefix(this.#http), signal);
    this.#isTidied = true;
    const path = this.#temporaryPath();
    let isMoved = false;
    try {
      await this.#http.ask({ method: 'PUT', path, body: { upload } }, signal);
      await using lock = state === null ? null : await lockFile(this.#http, signal);
      if (((await this.look(signal))?.version ?? null) !== expected) return null;
      const destination = this.#http.addressOf(this.#http.path);
      const tag = state?.opaqueTag ?? null;
      const conditions = (lock?.token ?? '') + (tag === null ? '' : `[${tag}]`);
      const headers = {
        destination,
        overwrite: state === null ? 'F' : 'T',
        ...(conditions !== '' && { if: `<${destination}> (${conditions})` }),
      };
      // 400 and 502: behind a proxy the server knows itself by another address.
      const answers = [400, 412, 502];
      const { status } = await this.#http.ask({ method: 'MOVE', path, headers, answers }, signal);
      isMoved = status < 300;
      if (isMoved) return { version: null };
      return ((await this.look(signal))?.version ?? null) === expected ? 'refused' : null;
    } finally {
      if (!isMoved) await this.#remove(path);
    }
  }

  /** Also of a run that is being stopped. What cannot be removed now, a later run removes. */
  async #remove(path: string): Promise<void> {
    await this.#http.ask({ method: 'DELETE', path }, AbortSignal.timeout(removeMs)).catch(() => {});
  }

  #temporaryPath(): string {
    return this.#http.beside(temporaryPrefix(this.#http) + randomBytes(6).toString('hex'));
  }
}

function temporaryPrefix({ path }: WebDavHttp): string {
  return `.${decodeURIComponent(path.split('/').at(-1) ?? '')}.leadsync-tmp-`;
}

/** The strong ETag in the reply to PUT; null: none, or a weak one. */
function versionTold(reply: Parameters<typeof davState>[0]): string | null {
  const { strongTag, version } = davState(reply);
  return strongTag === null ? null : version;
}

/** Who has the file open in a spreadsheet program, which then has a lock file beside it; null: nobody. */
async function editorOf(http: WebDavHttp, signal: AbortSignal): Promise<Editor | null> {
  const name = decodeURIComponent(http.path.split('/').at(-1) ?? '');
  for (const { nameFor, userOf } of editorLocks) {
    const lockFile = nameFor(name);
    const chunks: Buffer[] = [];
    const into = async (chunk: Buffer): Promise<void> => void chunks.push(chunk);
    const { status } = await http.ask(
      {
        method: 'GET',
        path: http.beside(lockFile),
        into,
        // Some servers refuse such names.
        answers: [301, 302, 307, 308, 400, 403, 404, 405, 410],
      },
      signal,
    );
    if (status < 300) return { lockFile, user: userOf(Buffer.concat(chunks).subarray(0, 1024)) };
  }
  return null;
}

/** The state of a file, as a reply shows it. */
interface DavState extends FileState {
  /** For If-Match; null: the server gives none, or a weak one, which If-Match never fits. */
  readonly strongTag: string | null;
  /** The ETag without its mark of weakness; null: the server gives none. */
  readonly opaqueTag: string | null;
  /** False: a change within the same second might look the same, or Apache has no strong ETag yet. Look again. */
  readonly isSettled: boolean;
}

/** Dates in HTTP have seconds; this old (ms, by the server's own clock), no change can share the second any more. */
const settledMs = 2_000;
/** A file that is dated further into the future (ms) never settles. */
const futureMs = 5_000;

function davState({ header }: Pick<HttpReply, 'header'>): DavState {
  const tag = header('etag')?.trim() ?? '';
  const [, weak, opaque] = /^(W\/)?("[^"]*")$/i.exec(tag) ?? [];
  const modified = header('last-modified') ?? '';
  const size = Number(header('content-length') ?? Number.NaN);
  const strongTag = opaque !== undefined && weak === undefined ? opaque : null;
  const age = parseHttpDate(header('date') ?? '') - parseHttpDate(modified);
  const isSettled = Number.isNaN(age) || age < -futureMs ? strongTag !== null : age >= settledMs;
  return {
    // A weak tag becomes the same strong one after a moment.
    version: opaque === undefined ? `modified ${modified} ${size}` : `etag ${opaque}`,
    size,
    contentTag: opaque !== undefined && isSettled ? `etag ${opaque}` : null,
    strongTag,
    opaqueTag: opaque ?? null,
    isSettled,
  };
}

interface WebDavOptions extends WebDavAccess {
  /** Absolute path of the folder for local copies. */
  readonly folder: string;
}

const kind = 'webdav:';

export function webDavPlace(options: WebDavOptions): FilePlace {
  const { url, folder } = options;
  const location = new RemoteLocation(new WebDavFile(new WebDavHttp(options), idOf(url)), folder);
  return {
    name: url,
    isUploaded: true,
    locate: async () => location,
    // The password is for one host.
    formerly(id) {
      const former = id.startsWith(kind) ? URL.parse(id.slice(kind.length)) : null;
      return former?.origin === new URL(url).origin ? webDavPlace({ ...options, url: former.href }) : null;
    },
  };
}

/** One spelling for all ways to encode a path. */
function idOf(url: string): string {
  const { origin, pathname } = new URL(url);
  const names = pathname
    .split('/')
    .map((name) => encodeURIComponent(decodeURIComponent(name).normalize('NFC')));
  return kind + origin + names.join('/');
}

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

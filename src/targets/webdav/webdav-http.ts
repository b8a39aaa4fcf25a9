import { type FaultRow, faultRow, type FaultTable, whyNoConnection } from '../../http/faults.ts';
import type { ExchangeBounds, HttpFault, OnReply } from '../../http/exchange.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { docsPath } from '../../lib/version.ts';
import { extname } from 'node:path';
import { HttpConnection, type HttpReply, type HttpRequest, shownAddress } from '../../http/connection.ts';
import { systemClock } from '../../ports/clock.ts';

interface DavRefusal {
  readonly status: number;
  readonly isWrite: boolean;
  readonly hasLogin: boolean;
  /** Where a redirect leads, without a query; null: nowhere. */
  readonly location: string | null;
}

/** A request without a complete reply; it may have been carried out. `name`: the address of the file. */
function lostReply(fault: HttpFault, name: string): LeadsyncError {
  if (fault.kind === 'too-large')
    return new LeadsyncError('target.too-large', `${name} is larger than leadsync reads: ${fault.message}.`, {
      help: 'Move what is not the table to a file of its own.',
    });
  const none = whyNoConnection(fault);
  const says = none
    ? `No connection to the server of ${name}: ${none.says}. Nothing was sent.`
    : `The server of ${name} gave no complete answer: ${fault.message}.`;
  const help = none?.help ?? 'Check whether the server is running. A worker tries again by itself.';
  return new LeadsyncError('target.unavailable', says, { retry: 'later', help });
}

const unchanged = 'The file is unchanged.';
const untouched = 'Nothing was read or written.';
const again = 'A worker tries again by itself.';
const howToLogIn = (): string =>
  `Set WEBDAV_USER and WEBDAV_PASSWORD (user and password of the target; ${docsPath('webdav.md')}).`;

function mayNot(code: string, { status, hasLogin, isWrite }: DavRefusal): FaultRow {
  const [verb, effect] = isWrite ? ['write', unchanged] : ['read', untouched];
  const who = hasLogin ? `this user ${verb}` : `anybody ${verb} without logging in`;
  const rights = 'Give this user the right to change the file and to create files in its folder.';
  const help = hasLogin ? rights : howToLogIn();
  return [code, `: the server does not let ${who} (${status}). ${effect}`, help];
}

function loginRefused(hasLogin: boolean): readonly [says: string, help: string] {
  if (!hasLogin) return ['lets nobody read without logging in', howToLogIn()];
  return [
    'rejects the user name or the password',
    `Check WEBDAV_USER and WEBDAV_PASSWORD (user and password of the target). Many servers want an app password (${docsPath('webdav.md')}).`,
  ];
}

/** What is said continues the address of the file. */
const faults: FaultTable<DavRefusal> = {
  '401': (refusal) => {
    if (refusal.isWrite) return mayNot('target.unauthenticated', refusal);
    const [says, help] = loginRefused(refusal.hasLogin);
    return ['target.unauthenticated', `: the server ${says} (401). ${untouched}`, help];
  },
  '403': (refusal) => mayNot('target.forbidden', refusal),
  '404 409 410': ({ status }) => [
    'target.not-writable',
    ` cannot be stored: its folder does not exist on the server (${status}). Nothing was written.`,
    'Create the folder, or correct the path of the target.',
  ],
  '405 501': ({ status }) => [
    'target.refused',
    ` does not lie on a WebDAV server: it refused the method (${status}). ${unchanged}`,
    `Set the path to the WebDAV address of the file, not to the page that shows it (${docsPath('webdav.md')}).`,
  ],
  '413': [
    'target.too-large',
    ` is larger than the server takes (413). ${unchanged}`,
    'Raise the limit for uploads on the server.',
  ],
  '423': [
    'target.busy',
    ` is locked by somebody (423). ${unchanged}`,
    `Save and close it in the program that has it open. ${again}`,
    'later',
  ],
  '429 503': ({ status }) => [
    'target.rate-limited',
    `: the server accepts no requests for now (${status}). ${unchanged}`,
    again,
    'later',
  ],
  '507': [
    'target.disk-full',
    ` cannot be stored: there is no room on the server (507). ${unchanged}`,
    'Make room in that account; the next run writes what is left.',
    'later',
  ],
  '3xx': ({ status, location }) => [
    'target.bad-url',
    ` leads elsewhere${location === null ? '' : `, to ${location}`} (${status}), where leadsync does not follow: to another host, or to what is no table. ${untouched}`,
    `Set the path to the WebDAV address of the file itself. When this is a page to log in, the server wants another kind of login, such as an app password (${docsPath('webdav.md')}).`,
  ],
  '5xx': ({ status }) => ['target.unavailable', `: the server failed (${status}).`, again, 'later'],
  other: ({ status }) => [
    'target.refused',
    `: the server refused a request (${status}). ${unchanged}`,
    `Check that the path is the WebDAV address of the file (${docsPath('webdav.md')}).`,
  ],
};

export function isFolder(name: string): LeadsyncError {
  return new LeadsyncError('target.unreadable', `${name} is a folder. Nothing was read or written.`, {
    help: 'Add the name of the file to the path of the target.',
  });
}

export interface WebDavAccess {
  /** The address of the file: https, or http to this machine; without user, query and fragment. */
  readonly url: string;
  /** The Authorization header as it is now; null: none is needed. */
  readonly authorization: () => string | null;
  readonly onReply?: OnReply;
}

interface DavCall extends Pick<HttpRequest, 'method'>, Partial<Omit<HttpRequest, 'method' | 'path'>> {
  /** Encoded; absent: the file's, and redirects on the same host are followed. */
  readonly path?: string;
  /** Statuses that are answers, besides 2xx. */
  readonly answers?: readonly number[];
  readonly into?: (chunk: Buffer) => Promise<void>;
}

/** Ms and bytes. A file of 50 MB takes seven minutes at 1 Mbit/s. */
const connectMs = 10_000;
const transfer: ExchangeBounds = { headersMs: 900_000, totalMs: 900_000, bodyBytes: 512 * 1024 * 1024 };
const quick: ExchangeBounds = { headersMs: 60_000, totalMs: 60_000, bodyBytes: 8 * 1024 * 1024 };
/** The reply to HEAD tells the length of the file. */
const look: ExchangeBounds = { ...quick, bodyBytes: transfer.bodyBytes };

const writes: ReadonlySet<string> = new Set(['PUT', 'MOVE', 'DELETE', 'LOCK']);
const moves: readonly number[] = [301, 302, 307, 308];
const mostRedirects = 3;

/** About one file, each once, but redirects on the same host are followed. Throws for replies but 2xx and `answers`, without the password. */
export class WebDavHttp {
  readonly name: string;
  readonly #access: WebDavAccess;
  readonly #connection: HttpConnection;
  #url: URL;

  constructor(access: WebDavAccess) {
    this.name = access.url;
    this.#access = access;
    this.#url = new URL(access.url);
    const { onReply } = access;
    this.#connection = new HttpConnection(this.#url.origin, { connectMs, clock: systemClock, onReply });
  }

  /** The path of the file, encoded. */
  get path(): string {
    return this.#url.pathname;
  }

  get folder(): string {
    return new URL('.', this.#url).pathname;
  }

  beside(name: string): string {
    return new URL(encodeURIComponent(name), this.#url).pathname;
  }

  addressOf(path: string): string {
    return this.#url.origin + path;
  }

  async ask({ path, answers = [], ...call }: DavCall, signal: AbortSignal): Promise<HttpReply> {
    if (path !== undefined) return this.#attempt({ ...call, path, answers }, signal);
    for (let redirects = 0; ; redirects++) {
      const reply = await this.#attempt({ ...call, answers: [...answers, ...moves] }, signal);
      if (!moves.includes(reply.status)) return reply;
      const moved = redirects < mostRedirects ? this.#sameHost(reply) : null;
      if (moved === null) throw this.#refused(reply, call.method);
      this.#url = moved;
    }
  }

  /** Where a redirect leads, when it is on the same host, and a file of the same kind: no page to log in. */
  #sameHost(reply: HttpReply): URL | null {
    const to = URL.parse(reply.header('location') ?? '', this.#url.href);
    const isSame = to?.origin === this.#url.origin && to.search === '' && !to.pathname.endsWith('/');
    return isSame && endingOf(to) === endingOf(this.#url) && to.pathname !== this.#url.pathname ? to : null;
  }

  #attempt(
    { path = this.#url.pathname, headers, body = 'none', answers, into, ...call }: DavCall,
    signal: AbortSignal,
  ): Promise<HttpReply> {
    const authorization = this.#access.authorization();
    const short = call.method === 'HEAD' ? look : quick;
    const isLong = into !== undefined || (typeof body === 'object' && 'upload' in body);
    return this.#connection.ask(
      { ...call, path, headers: { ...(authorization !== null && { authorization }), ...headers }, body },
      {
        bounds: isLong ? transfer : short,
        signal,
        answers,
        ...(into && { into }),
        faults: {
          lost: (fault) => lostReply(fault, this.name),
          refused: (reply) => this.#refused(reply, call.method),
        },
      },
    );
  }

  /** By the status alone. */
  #refused({ status, waitMs, header }: HttpReply, method: DavCall['method']): LeadsyncError {
    const location = shownAddress(header('location'), this.#url);
    if (location === `${this.name}/`) return isFolder(this.name);
    const [isWrite, hasLogin] = [writes.has(method), this.#access.authorization() !== null];
    const [code, says, options] = faultRow(faults, { status, isWrite, hasLogin, location });
    const wait = waitMs !== null && { retryAfterMs: waitMs };
    return new LeadsyncError(code, this.name + says, { ...options, ...wait });
  }
}

const endingOf = ({ pathname }: URL): string => extname(pathname).toLowerCase();

import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, renameSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** What servers do differently. Without any: strong ETags, also in the reply to PUT, and conditions are honoured. */
export interface DavHabits {
  /** `none`: no ETag at all; `weak`: never a strong one; `undated`: neither ETag nor date, in headers and properties. */
  readonly etags?: 'none' | 'weak' | 'undated';
  /** PUT replies without an ETag. */
  readonly isSilent?: boolean;
  /** If-Match and If-None-Match are not looked at, and what is stored is written in place. */
  readonly isHeedless?: boolean;
  /** Says that it is Apache, on which leadsync stores beside the file and renames on a condition. */
  readonly isApache?: boolean;
  /** By which every request but that of anonymous servers has to log in. */
  readonly authorization?: string;
}

/**
 * What becomes of a request: null: it is carried out; `lost`: it never arrives; `unheard`: it is carried out, and the reply is
 * lost; `cut`: half of its body arrives; a number: the status of a refusal.
 */
export type DavFate = 'lost' | 'unheard' | 'cut' | number | null;

export interface DavServer extends AsyncDisposable {
  readonly origin: string;
  readonly requests: string[];
  /** Decides about each request; people may act in it. */
  fate: (method: string, path: string) => Promise<DavFate> | DavFate;
  /** Called when a request was carried out. */
  beforeReply: (method: string, path: string, status: number) => Promise<void> | void;
}

/** A WebDAV server (RFC 4918, as far as files need it) for the files of one folder. */
export async function startDavServer(folder: string, habits: DavHabits = {}): Promise<DavServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { socket } = request;
    answer(request, response).catch(() => socket.destroy());
  });
  const self: DavServer = {
    origin: '',
    requests,
    fate: () => null,
    beforeReply: () => {},
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', socket } = request;
    requests.push(`${method} ${url}`);
    const fate = await self.fate(method, url);
    if (fate === 'lost') return void socket.destroy();
    if (typeof fate === 'number') return refuse(request, response, fate);
    const file = join(folder, decodeURIComponent(url));
    if (habits.authorization !== undefined && request.headers.authorization !== habits.authorization)
      return refuse(request, response, 401);
    const found = stateNow(file, habits);
    if (!habits.isHeedless && !fits(request, found?.tag ?? null)) return refuse(request, response, 412);
    const [status, headers, body] = await carryOut({ request, response, file, found, folder, habits, fate });
    if (status === 0) return;
    await self.beforeReply(method, url, status);
    if (fate === 'unheard') return void socket.destroy();
    response.writeHead(status, { date: new Date().toUTCString(), ...headers }).end(body);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(self, { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

interface Found {
  readonly isFolder: boolean;
  readonly size: number;
  readonly modified: Date;
  readonly tag: string;
}

function stateNow(file: string, { etags }: DavHabits): Found | null {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return null;
  const { ino, size, mtimeNs, ctimeNs } = stats;
  const hash = createHash('sha1').update([ino, size, mtimeNs, ctimeNs].join(' ')).digest('hex');
  return {
    isFolder: stats.isDirectory(),
    size: Number(size),
    modified: stats.mtime,
    tag: `${etags === 'weak' ? 'W/' : ''}"${hash}"`,
  };
}

function fits({ headers }: IncomingMessage, tag: string | null): boolean {
  const match = headers['if-match'];
  if (match !== undefined && (match === '*' ? tag === null : match !== tag || tag.startsWith('W/')))
    return false;
  return headers['if-none-match'] !== '*' || tag === null;
}

interface Work {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly file: string;
  readonly found: Found | null;
  readonly folder: string;
  readonly habits: DavHabits;
  readonly fate: DavFate;
}

type Answer = readonly [status: number, headers?: Record<string, string>, body?: string];

/** Status 0: the reply was sent already, or never will be. */
async function carryOut(work: Work): Promise<Answer> {
  const { request, response, file, found, folder, habits } = work;
  if (request.method === 'PUT') return put(work);
  request.resume();
  const known = headersOf(found, habits);
  switch (request.method) {
    case 'HEAD':
      if (found === null || found.isFolder) return [404];
      response
        .writeHead(200, { date: new Date().toUTCString(), ...known, 'content-length': found.size })
        .end();
      return [0];
    case 'GET':
      if (found === null || found.isFolder) return [404];
      response.writeHead(200, { date: new Date().toUTCString(), ...known, 'content-length': found.size });
      await pipeline(createReadStream(file, { end: Math.max(0, found.size - 1) }), response);
      return [0];
    case 'DELETE':
      await rm(file, { force: true });
      return [found === null ? 404 : 204];
    case 'OPTIONS':
      return habits.isApache === true ? [200, { dav: '<http://apache.org/dav/propset/fs/1>' }] : [405];
    case 'MOVE': {
      const to = join(folder, decodeURIComponent(new URL(String(request.headers['destination'])).pathname));
      const there = stateNow(to, habits);
      const [, wanted] = /\[(?:W\/)?(".*?")\]/.exec(String(request.headers['if'] ?? '')) ?? [];
      const isOther = wanted !== undefined && there?.tag.replace('W/', '') !== wanted;
      if (isOther || (request.headers['overwrite'] === 'F' && there !== null)) return [412];
      // Nothing comes between this look and the rename.
      renameSync(file, to);
      return [201];
    }
    case 'PROPFIND':
      if (found === null) return [404];
      return [207, { 'content-type': 'application/xml' }, await properties(work, found)];
    default:
      return [405];
  }
}

async function put({ request, file, found, folder, habits, fate }: Work): Promise<Answer> {
  if (found?.isFolder === true || stateNow(dirname(file), habits) === null) {
    request.resume();
    return [409];
  }
  const temporary = habits.isHeedless === true ? file : join(folder, `.put-${randomUUID()}`);
  const half = Number(request.headers['content-length'] ?? 0) / 2;
  const take = async function* (): AsyncGenerator<Buffer> {
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (fate === 'cut' && size > half) {
        yield chunk.subarray(0, Math.floor(chunk.length / 2));
        throw new Error('the connection broke');
      }
      yield chunk;
    }
  };
  try {
    await pipeline(take(), createWriteStream(temporary));
  } catch (error) {
    if (temporary !== file) await rm(temporary, { force: true });
    throw error;
  }
  // While the body came somebody may have saved. Nothing comes between this look and the rename.
  if (temporary !== file && !fits(request, stateNow(file, habits)?.tag ?? null)) {
    await rm(temporary, { force: true });
    return [412];
  }
  if (temporary !== file) renameSync(temporary, file);
  const { etag = '' } = headersOf(stateNow(file, habits), habits);
  return [found === null ? 201 : 204, habits.isSilent === true || etag === '' ? {} : { etag }];
}

function headersOf(found: Found | null, { etags }: DavHabits): Record<string, string> {
  if (found === null) return {};
  return {
    // A strong ETag alone tells two saves of one second apart.
    ...((etags === 'none' || etags === 'weak') && { 'last-modified': found.modified.toUTCString() }),
    ...((etags === undefined || etags === 'weak') && { etag: found.tag }),
  };
}

async function properties({ request, file, folder, habits }: Work, found: Found): Promise<string> {
  const inside = request.headers['depth'] === '1' && found.isFolder ? await readdir(file) : [];
  const responses = [file, ...inside.map((name) => join(file, name))].map(async (path) => {
    const stats = await stat(path);
    const type = stats.isDirectory() ? '<D:collection/>' : '';
    const href = `/${path
      .slice(folder.length + 1)
      .split('/')
      .map(encodeURIComponent)
      .join('/')}`;
    const modified =
      habits.etags === 'undated' ? '' : `<D:getlastmodified>${stats.mtime.toUTCString()}</D:getlastmodified>`;
    return `<D:response><D:href>${href}</D:href><D:propstat><D:prop><D:resourcetype>${type}</D:resourcetype>${modified}<D:displayname>${encodeURIComponent(basename(path))}</D:displayname></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`;
  });
  return `<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">${(await Promise.all(responses)).join('')}</D:multistatus>`;
}

function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
  request.resume();
  response.writeHead(status, { date: new Date().toUTCString() }).end();
}

import { randomBytes } from 'node:crypto';
import type { Reply } from '../hubspot/send-reply.ts';
import { cTagOf, type Drive, type DriveFile, eTagOf, showFolder, showItem } from './drive.ts';
import * as refuse from './graph-error.ts';

/** What the app may do on the site. */
type Grant = 'write' | 'read' | 'none';

export interface GraphState {
  readonly drive: Drive;
  /** The item that a sharing link leads to, by the link's encoded form. */
  readonly links: Map<string, string>;
  /** Short-lived addresses: of contents, and of upload sessions. */
  readonly downloads: Map<string, Buffer>;
  readonly uploads: Map<string, UploadSession>;
  grant: Grant;
  /** Bytes that the site holds at most. */
  quota: number;
  /** Whether SharePoint answers a stale If-Match with 409 instead of 412. */
  answers409: boolean;
  /** Called after the app saved a file. */
  readonly saved: (file: DriveFile) => void;
}

export interface UploadSession {
  readonly path: string;
  readonly ifMatch: string | undefined;
  readonly defersCommit: boolean;
  readonly parts: Buffer[];
  size: number;
}

export interface GraphRequest {
  readonly method: string;
  /** Decoded by segment, after `/v1.0`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Of this server. */
  readonly origin: string;
}

const app = 'leadsync';

/** Answers a request to `/v1.0/…` that has a valid token. */
export function answer(state: GraphState, request: GraphRequest): Reply {
  const { method, path, query } = request;
  if (state.grant === 'none') return refuse.accessDenied();
  const target = targetOf(state, path);
  if (target === null) return refuse.itemNotFound();
  const { file, filePath, action } = target;
  if (method !== 'GET' && state.grant === 'read') return refuse.accessDenied();
  if (method === 'PUT' && action === 'content') return putContent(state, request, file, filePath);
  if (method === 'POST' && action === 'createUploadSession')
    return createSession(state, request, file, filePath);
  if (file === undefined) {
    const isFolder = method === 'GET' && action === '' && state.drive.folders.has(filePath.toLowerCase());
    return isFolder ? { status: 200, body: showFolder(state.drive, filePath) } : refuse.itemNotFound();
  }
  if (method === 'GET' && action === '')
    return { status: 200, body: showItem(state.drive, file, query.get('$select')?.split(',') ?? null) };
  if (method === 'DELETE' && action === '') {
    state.drive.remove(file.path);
    return { status: 204 };
  }
  if (method === 'GET' && action === 'content') {
    const key = randomBytes(12).toString('hex');
    state.downloads.set(key, file.bytes);
    return { status: 302, headers: { location: `${request.origin}/download/${key}` } };
  }
  return refuse.invalidRequest('The request is malformed or incorrect.');
}

/** Puts together what was uploaded: of an upload session, or in one request. */
export function commit(state: GraphState, path: string, bytes: Buffer, ifMatch: string | undefined): Reply {
  const file = state.drive.at(path);
  const refused = refusal(state, file, ifMatch, bytes.length);
  if (refused !== null) return refused;
  const saved = state.drive.save(path, bytes, app);
  const body = showItem(state.drive, saved, null);
  state.saved(saved);
  return { status: file === undefined ? 201 : 200, body };
}

function putContent(
  state: GraphState,
  request: GraphRequest,
  file: DriveFile | undefined,
  path: string,
): Reply {
  const { headers, body, query } = request;
  const behaviour = query.get('@microsoft.graph.conflictBehavior');
  if (file === undefined && !hasFolder(state, path)) return refuse.itemNotFound();
  if (file !== undefined && behaviour === 'fail') return refuse.nameAlreadyExists();
  return commit(state, path, body, one(headers['if-match']));
}

function createSession(
  state: GraphState,
  request: GraphRequest,
  file: DriveFile | undefined,
  path: string,
): Reply {
  const ifMatch = one(request.headers['if-match']);
  const refused = refusal(state, file, ifMatch, 0);
  if (refused !== null) return refused;
  const { deferCommit = false } = JSON.parse(request.body.toString() || '{}') as { deferCommit?: boolean };
  const key = randomBytes(12).toString('hex');
  state.uploads.set(key, { path, ifMatch: undefined, defersCommit: deferCommit, parts: [], size: 0 });
  return {
    status: 200,
    body: {
      uploadUrl: `${request.origin}/upload/${key}`,
      expirationDateTime: '2026-11-30T10:00:00.000Z',
      nextExpectedRanges: ['0-'],
    },
  };
}

function refusal(state: GraphState, file: DriveFile | undefined, ifMatch: string | undefined, size: number) {
  if (file?.isOpen === true || (file !== undefined && file.checkedOutBy !== null))
    return refuse.resourceLocked();
  const isStale =
    ifMatch !== undefined && (file === undefined || ![eTagOf(file), cTagOf(file)].includes(ifMatch));
  if (isStale) return state.answers409 ? refuse.resourceModified() : refuse.preconditionFailed();
  return size > state.quota ? refuse.insufficientStorage() : null;
}

interface Target {
  readonly file: DriveFile | undefined;
  readonly filePath: string;
  /** Such as `content`; empty: the item itself. */
  readonly action: string;
}

function targetOf(state: GraphState, path: string): Target | null {
  const { drive } = state;
  const ofFile = (file: DriveFile | undefined, action = ''): Target | null =>
    file === undefined ? null : { file, filePath: file.path, action };
  const shared = /^\/shares\/([^/]+)\/driveItem(?:\/(\w+))?$/.exec(path);
  if (shared !== null) return ofFile(drive.byId(state.links.get(shared[1] ?? '') ?? ''), shared[2]);
  const [, driveId, rest = ''] = /^\/drives\/([^/]+)(\/.*)$/.exec(path) ?? [];
  if (driveId !== drive.id) return null;
  const byId = /^\/items\/([^/:]+)(?:\/(\w+))?$/.exec(rest);
  if (byId !== null) return ofFile(drive.byId(byId[1] ?? ''), byId[2]);
  if (rest === '/root') return { file: undefined, filePath: '', action: '' };
  const byPath = /^\/root:\/([^:]*)(?::\/(\w+))?$/.exec(rest);
  if (byPath === null) return null;
  const [, filePath = '', action = ''] = byPath;
  return { file: drive.at(filePath), filePath, action };
}

function hasFolder({ drive }: GraphState, path: string): boolean {
  return drive.folders.has(path.split('/').slice(0, -1).join('/').toLowerCase());
}

export const one = (header: string | string[] | undefined): string | undefined => [header].flat()[0];

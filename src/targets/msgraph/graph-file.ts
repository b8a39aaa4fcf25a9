import { formatOf, linkedFormat } from '../../config/file-formats.ts';
import { randomUUID } from 'node:crypto';
import { LeadsyncError } from '../../lib/errors.ts';
import type { FilePlace, FileState } from '../file/file-place.ts';
import { type RemoteFile, RemoteLocation, type Upload } from '../remote/remote-location.ts';
import { checkedOutFault, grantHelp, GraphHttp, type GraphOptions, isMoved } from './graph-http.ts';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { systemClock } from '../../ports/clock.ts';
import { type GraphApp, openGraphAccount } from './graph-account.ts';
import { decoded } from '../../lib/foreign-text.ts';

/** The documented limit of an upload in one request (bytes). */
const simpleBytes = 250_000_000;
/** SharePoint touches what it shows of a file (properties, thumbnails) more than once after a save. */
const touches = 5;

/** One file in a drive of Microsoft 365. Its version is the cTag, which moves with the content alone. */
class GraphFile implements RemoteFile {
  readonly id: string;
  readonly #address: GraphAddress;
  readonly #http: GraphHttp;

  constructor(id: string, address: GraphAddress, http: GraphHttp) {
    this.id = id;
    this.#address = address;
    this.#http = http;
  }

  get name(): string {
    return this.#http.name;
  }

  async look(signal: AbortSignal): Promise<FileState | null> {
    const item = await this.#find(signal);
    return item && { version: item.content, size: item.size, contentTag: item.content };
  }

  async read(
    into: (chunk: Buffer) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Pick<FileState, 'version'> | null> {
    const item = await this.#find(signal);
    if (item === null) return null;
    const reply = await this.#http.ask({ path: `${itemPath(item)}/content`, answers: [302] }, signal);
    const path = reply.location ?? '';
    const { status } = await this.#http.ask({ path, into, answers: [401, 403, 404, 410] }, signal);
    if (status >= 300)
      throw new LeadsyncError(
        'target.unavailable',
        `The short-lived address of ${this.name} did not work (${status}). Nothing was read.`,
        { retry: 'now' },
      );
    // The address serves the current content: after a save in between, it is unknown which version was read.
    const isSame = (await this.#findSame(item, signal)) !== null;
    return { version: isSame ? item.content : `unknown ${randomUUID()}` };
  }

  async write(upload: Upload, expected: string | null, signal: AbortSignal): ReturnType<RemoteFile['write']> {
    if (expected === null) return this.#create(upload, signal);
    let item = await this.#find(signal);
    for (let touch = 0; item !== null && item.content === expected && touch < touches; touch++) {
      assertNotCheckedOut(item, this.name);
      const saved = await this.#replace(item, upload, signal);
      if (saved !== null) return versionOf(saved, upload);
      // The eTag moves with what is shown of the file, too, which is no reason to begin again.
      item = await this.#find(signal);
    }
    return null;
  }

  /** Graph does not tell that a file is open, only that it is checked out; others then see an older copy of it. */
  async assertNotOpen(signal: AbortSignal): Promise<void> {
    assertNotCheckedOut(await this.#find(signal), this.name);
  }

  /** Whether the app may write shows only at a write. */
  async assertWritable(signal: AbortSignal): Promise<string> {
    await this.#find(signal);
    return 'whether the app may write, and nobody has the file open, shows at the first write';
  }

  /** Null: the eTag has moved. */
  async #replace(item: DriveItem, upload: Upload, signal: AbortSignal): Promise<DriveItem | null> {
    if (upload.size > simpleBytes) {
      const isSame = async () => (await this.#findSame(item, signal)) !== null;
      return uploadInParts(this.#http, item, upload, isSame, signal);
    }
    const path = `${itemPath(item)}/content`;
    const headers = { 'if-match': item.eTag };
    const reply = await this.#http.ask({ method: 'PUT', path, headers, upload, answers: [409, 412] }, signal);
    if (reply.status < 300) return this.#http.parse(reply, driveItem);
    if (isMoved(reply)) return null;
    throw this.#http.fault(reply);
  }

  async #create(upload: Upload, signal: AbortSignal): ReturnType<RemoteFile['write']> {
    const path = `${addressPath(this.#address)}:/content?@microsoft.graph.conflictBehavior=fail`;
    const reply = await this.#http.ask({ method: 'PUT', path, upload, answers: [409, 412] }, signal);
    return reply.status < 300 ? versionOf(this.#http.parse(reply, driveItem), upload) : null;
  }

  /** The item, if the address still leads to it and its content is the same. */
  async #findSame({ id, content }: DriveItem, signal: AbortSignal): Promise<DriveItem | null> {
    const now = await this.#find(signal);
    return now?.id === id && now.content === content ? now : null;
  }

  async #find(signal: AbortSignal): Promise<DriveItem | null> {
    return 'link' in this.#address
      ? findFile(this.#http, this.#address, signal)
      : askForFile(this.#http, this.#address, signal);
  }
}

/** Throws `target.not-found`, `target.unreadable` for a folder, and for a link to anything but an Excel workbook. */
async function findFile(http: GraphHttp, address: GraphAddress, signal: AbortSignal): Promise<DriveItem> {
  const item = await askForFile(http, address, signal);
  if (item === null)
    throw new LeadsyncError(
      'target.not-found',
      `${http.name} leads to no file that the app may see. Nothing was read or written.`,
      {
        help: `Copy the link again: Share, Copy link. ${grantHelp()}`,
      },
    );
  if (formatOf(item.name) !== linkedFormat)
    throw unreadable(`${http.name} leads to ${item.name}: no Excel workbook. Nothing was read or written.`);
  return item;
}

/** Null: missing in a folder that is there. */
async function askForFile(
  http: GraphHttp,
  address: GraphAddress,
  signal: AbortSignal,
): Promise<DriveItem | null> {
  const path = `${addressPath(address)}?$select=${itemFields}`;
  const reply = await http.ask({ path, answers: [404] }, signal);
  const item = reply.status === 404 ? null : http.parse(reply, driveItem);
  if (item === null && 'path' in address) await assertFolder(http, address, signal);
  if (item?.isFolder === true) throw unreadable(`${http.name} is a folder. Nothing was read or written.`);
  return item;
}

/** Without rights SharePoint may answer 404 as well. */
async function assertFolder(
  http: GraphHttp,
  { drive, path }: Extract<GraphAddress, { path: string }>,
  signal: AbortSignal,
): Promise<void> {
  const folder = path.split('/').slice(0, -1).join('/');
  const known = addressPath({ drive, path: folder }).replace(/:\/$/, '');
  const { status } = await http.ask({ path: `${known}?$select=id`, answers: [404] }, signal);
  if (status !== 404) return;
  const what = folder === '' ? `drive ${drive}` : `folder ${folder} in drive ${drive}, or not that drive`;
  throw new LeadsyncError('target.not-found', `Microsoft 365 shows the app no ${what}. Nothing was made.`, {
    help: `Check drive and path. ${grantHelp()}`,
  });
}

/** SharePoint adds properties to a saved workbook; then only a read shows its content. */
function versionOf(saved: DriveItem, upload: Upload): { readonly version: string | null } {
  return { version: saved.size === upload.size ? saved.content : null };
}

function assertNotCheckedOut(item: DriveItem | null, name: string): void {
  if (item !== null && item.checkedOutBy !== null) throw checkedOutFault(name, item.checkedOutBy);
}

function unreadable(message: string): LeadsyncError {
  return new LeadsyncError('target.unreadable', message, {
    help: 'Correct drive, path or link of the target.',
  });
}

/** 32 × 320 KiB, as Microsoft recommends: every part but the last must be a multiple of 320 KiB. */
const partBytes = 32 * 327_680;

const session = z.object({ uploadUrl: z.string() }).describe('an upload session');

/**
 * In parts, which Graph puts together at the end while the file has the eTag of `item`. Null: it has another, or `isSame`, called just
 * before the end, returns false. A failed upload is deleted; the next run begins anew.
 */
export async function uploadInParts(
  http: GraphHttp,
  item: DriveItem,
  upload: Upload,
  isSame: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<DriveItem | null> {
  const begun = await http.ask(
    {
      method: 'POST',
      path: `${itemPath(item)}/createUploadSession`,
      headers: { 'if-match': item.eTag },
      json: { deferCommit: true, item: { '@microsoft.graph.conflictBehavior': 'replace', name: item.name } },
      answers: [409, 412],
    },
    signal,
  );
  if (isMoved(begun)) return null;
  if (begun.status === 409) throw http.fault(begun);
  const { uploadUrl } = http.parse(begun, session);
  let isDone = false;
  try {
    await sendParts(http, uploadUrl, upload, signal);
    if (!(await isSame())) return null;
    const end = {
      method: 'POST',
      path: uploadUrl,
      headers: { 'content-length': '0' },
      answers: [409, 412],
    } as const;
    const reply = await http.ask(end, signal);
    if (isMoved(reply)) return null;
    if (reply.status >= 300) throw http.fault(reply);
    isDone = true;
    return http.parse(reply, driveItem);
  } finally {
    // Also after a stop; Graph deletes uncancelled sessions within days.
    if (!isDone)
      await http
        .ask({ method: 'DELETE', path: uploadUrl, answers: [404] }, AbortSignal.timeout(5_000))
        .catch(() => undefined);
  }
}

async function sendParts(
  http: GraphHttp,
  uploadUrl: string,
  upload: Upload,
  signal: AbortSignal,
): Promise<void> {
  let start = 0;
  for await (const bytes of partsOf(upload.chunks())) {
    const headers = { 'content-range': `bytes ${start}-${start + bytes.length - 1}/${upload.size}` };
    const part = { size: bytes.length, chunks: () => Readable.from([bytes]) };
    await http.ask({ method: 'PUT', path: uploadUrl, headers, upload: part }, signal);
    start += bytes.length;
  }
}

async function* partsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [held, bytes]: [Buffer[], number] = [[], 0];
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < partBytes) continue;
    const whole = Buffer.concat(held);
    yield whole.subarray(0, partBytes);
    [held, bytes] = [[whole.subarray(partBytes)], bytes - partBytes];
  }
  if (bytes > 0) yield Buffer.concat(held);
}

export interface GraphPlaceOptions extends GraphOptions {
  /** Absolute path of the folder for local copies. */
  readonly folder: string;
}

const kind = 'msgraph:';

export function openGraphPlace(
  address: GraphAddress,
  app: GraphApp,
  { apiUrl, ...rest }: Pick<GraphPlaceOptions, 'apiUrl' | 'folder' | 'onReply'>,
): FilePlace {
  const clock = systemClock;
  const account = openGraphAccount(app, apiUrl, clock);
  return graphPlace(address, { ...rest, apiUrl: `${apiUrl}/v1.0`, account, clock });
}

export function graphPlace(address: GraphAddress, options: GraphPlaceOptions): FilePlace {
  const http = new GraphHttp(shownAddress(address), options);
  const locationAt = (drive: string, path: string) =>
    new RemoteLocation(new GraphFile(idOf(drive, path), address, http), options.folder);
  let known: RemoteLocation | null = 'path' in address ? locationAt(address.drive, address.path) : null;
  return {
    name: http.name,
    isUploaded: true,
    async locate(signal) {
      if (known !== null) return known;
      // Only Graph knows where a link leads.
      const { drive, path } = await findFile(http, address, signal);
      known = locationAt(drive, path);
      return known;
    },
    formerly(id) {
      const [, drive, path] = /^msgraph:([^/]+)\/(.+)$/s.exec(id) ?? [];
      return drive === undefined || path === undefined ? null : graphPlace({ drive, path }, options);
    },
  };
}

/** SharePoint's paths do not differ in case alone. */
function idOf(drive: string, path: string): string {
  const parts = path.normalize('NFC').toLowerCase().split('/');
  return `${kind}${drive}/${parts.filter((part) => part !== '').join('/')}`;
}

export type GraphAddress =
  | {
      /** Id of a document library or a OneDrive. */
      readonly drive: string;
      /** From the root of the drive, with `/` between folders, not encoded. */
      readonly path: string;
    }
  | {
      /** A sharing link, as "Copy link" gives it. Holds a secret when it is open to anyone. */
      readonly link: string;
    };

const person = z.object({ displayName: z.string().exactOptional(), email: z.string().exactOptional() });
const identitySet = z
  .object({ user: person.nullish(), application: person.nullish() })
  .transform(({ user, application }) => user?.displayName ?? user?.email ?? application?.displayName ?? null);

/** What of a file is asked for; `publication` comes only when it is. */
export const itemFields =
  'id,name,size,eTag,cTag,file,folder,parentReference,lastModifiedBy,lastModifiedDateTime,publication';

export const driveItem = z
  .object({
    id: z.string().min(1),
    name: z.string(),
    size: z.number().default(0),
    eTag: z.string().min(1),
    /** Moves with the content alone; a folder has none. */
    cTag: z.string().min(1).exactOptional(),
    folder: z.unknown().optional(),
    parentReference: z.object({ driveId: z.string().min(1), path: z.string().default('') }),
    lastModifiedBy: identitySet.nullish(),
    lastModifiedDateTime: z.string().exactOptional(),
    publication: z
      .object({ level: z.string().exactOptional(), checkedOutBy: identitySet.nullish() })
      .nullish(),
  })
  .transform(({ parentReference, folder, cTag, lastModifiedBy, publication, ...item }) => ({
    ...item,
    drive: parentReference.driveId,
    /** From the root of the drive. */
    path: `${folderOf(parentReference.path)}/${item.name}`,
    isFolder: folder !== undefined,
    content: cTag ?? item.eTag,
    savedBy: lastModifiedBy ?? null,
    /** Empty: by somebody unnamed; null: not checked out. */
    checkedOutBy: publication?.level === 'checkout' ? (publication.checkedOutBy ?? '') : null,
  }))
  .describe('a file of a drive');

export type DriveItem = z.output<typeof driveItem>;

function folderOf(reference: string): string {
  const folder = reference.replace(/^.*?root:/s, '');
  return decoded(folder) ?? folder;
}

export function addressPath(address: GraphAddress): string {
  if ('link' in address) return `/shares/${encodedLink(address.link)}/driveItem`;
  return `/drives/${encodeURIComponent(address.drive)}/root:/${encodedPath(address.path)}`;
}

/** The path of a known item: it stays the same when a person renames or moves the file. */
function itemPath({ drive, id }: Pick<DriveItem, 'drive' | 'id'>): string {
  return `/drives/${encodeURIComponent(drive)}/items/${encodeURIComponent(id)}`;
}

/** For messages: the path within the drive, or the link without its last part, which can be a key. */
function shownAddress(address: GraphAddress): string {
  if ('path' in address) return `Microsoft 365: ${address.path}`;
  const { host, pathname } = new URL(address.link);
  return `Microsoft 365: ${host}${pathname.replace(/[^/]*$/, '…')}`;
}

/** Without `/` at its ends; each folder encoded by itself. */
function encodedPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '')
    .map(encodeURIComponent)
    .join('/');
}

/** As Microsoft describes it for /shares: base64url without padding, after `u!`. */
export function encodedLink(link: string): string {
  return `u!${Buffer.from(link).toString('base64url')}`;
}

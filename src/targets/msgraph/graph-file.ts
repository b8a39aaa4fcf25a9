import { formatOf, linkedFormat } from '../../config/file-formats.ts';
import { randomUUID } from 'node:crypto';
import { LeadsyncError } from '../../lib/errors.ts';
import type { FilePlace, FileState } from '../file/file-place.ts';
import { type RemoteFile, RemoteLocation, type Upload } from '../remote/remote-location.ts';
import {
  addressPath,
  type DriveItem,
  driveItem,
  type GraphAddress,
  itemFields,
  itemPath,
  shownAddress,
} from './drive-item.ts';
import {
  checkedOutFault,
  grantHelp,
  GraphHttp,
  type GraphOptions,
  type GraphReply,
  isMoved,
} from './graph-http.ts';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { systemClock } from '../../ports/clock.ts';
import { type GraphApp, openGraphAccount } from './graph-account.ts';

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
  const item = await askForItem(http, address, signal);
  if (item === null && 'path' in address) await assertFolder(http, address, signal);
  if (item?.isFolder === true) throw unreadable(`${http.name} is a folder. Nothing was read or written.`);
  return item;
}

async function askForItem(
  http: GraphHttp,
  address: GraphAddress,
  signal: AbortSignal,
): Promise<DriveItem | null> {
  const path = `${addressPath(address)}?$select=${itemFields}`;
  const reply = await http.ask({ path, answers: [404] }, signal);
  return reply.status === 404 ? null : http.parse(reply, driveItem);
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
/** Faults in a row that end an upload. */
const mostFaults = 5;

const session = z.object({ uploadUrl: z.string() }).describe('an upload session');
const progress = z
  .object({ nextExpectedRanges: z.array(z.string()) })
  .describe('what of an upload is missing');

/**
 * In parts, which Graph puts together at the end while the file has the eTag of `item`. Null: it has another, or `isSame`, called just
 * before the end, returns false. After a fault the session's progress is read. A failed upload is deleted.
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
  for await (const part of partsOf(upload.chunks())) {
    const end = start + part.length;
    let faults = 0;
    for (let at = start; at < end; ) {
      const next = await sendPart(http, uploadUrl, part.subarray(at - start), at, upload.size, signal);
      faults = next > at ? 0 : faults + 1;
      if (faults > mostFaults) throw stuck(http.name);
      // Of what comes before, Graph has said that it arrived.
      at = Math.max(next, start);
    }
    start = end;
  }
}

async function sendPart(
  http: GraphHttp,
  uploadUrl: string,
  bytes: Buffer,
  start: number,
  size: number,
  signal: AbortSignal,
): Promise<number> {
  const end = start + bytes.length;
  const headers = { 'content-range': `bytes ${start}-${end - 1}/${size}` };
  const upload = { size: bytes.length, chunks: () => Readable.from([bytes]) };
  try {
    // 416: this part had arrived, and the reply was lost.
    const sent = await http.ask({ method: 'PUT', path: uploadUrl, headers, upload, answers: [416] }, signal);
    return nextStart(sent, end);
  } catch (error) {
    if (!(error instanceof LeadsyncError) || error.code !== 'target.unavailable') throw error;
    return nextStart(await http.ask({ path: uploadUrl }, signal), start);
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

function stuck(name: string): LeadsyncError {
  const message = `Microsoft does not take the next part of ${name}. Nothing was written.`;
  return new LeadsyncError('target.unavailable', message, { retry: 'later' });
}

/** The first byte that has not arrived; `usual` where the reply does not tell. */
function nextStart({ json }: GraphReply, usual: number): number {
  const [range = ''] = progress.safeParse(json).data?.nextExpectedRanges ?? [];
  const [, start] = /^(\d+)-/.exec(range) ?? [];
  return start === undefined ? usual : Number(start);
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

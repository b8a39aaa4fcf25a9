import { formatOf, linkedFormat } from '../../config/file-formats.ts';
import { randomUUID } from 'node:crypto';
import { LeadsyncError } from '../../lib/errors.ts';
import type { FileState } from '../file/file-place.ts';
import type { RemoteFile, Upload } from '../remote/remote-file.ts';
import {
  addressPath,
  type DriveItem,
  driveItem,
  type GraphAddress,
  itemFields,
  itemPath,
} from './drive-item.ts';
import { checkedOutFault, grantHelp, isMoved } from './graph-fault.ts';
import type { GraphHttp } from './graph-http.ts';
import { uploadInParts } from './upload-session.ts';

/** The documented limit of an upload in one request (bytes). */
const simpleBytes = 250_000_000;
/** SharePoint touches what it shows of a file (properties, thumbnails) more than once after a save. */
const touches = 5;

/** One file in a drive of Microsoft 365. Its version is the cTag, which moves with the content alone. */
export class GraphFile implements RemoteFile {
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
export async function findFile(
  http: GraphHttp,
  address: GraphAddress,
  signal: AbortSignal,
): Promise<DriveItem> {
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

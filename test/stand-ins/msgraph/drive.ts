import { createHash, randomUUID } from 'node:crypto';

/** A file as SharePoint keeps it. */
export interface DriveFile {
  readonly id: string;
  readonly guid: string;
  /** From the root, with folders. */
  path: string;
  bytes: Buffer;
  /** Moves with every change. */
  tag: number;
  /** Moves with the content. */
  content: number;
  savedBy: string;
  /** Somebody has it open. */
  isOpen: boolean;
  checkedOutBy: string | null;
  /** Earlier contents, the oldest first. */
  readonly versions: Buffer[];
}

/** One document library. Paths do not differ in case alone, as in SharePoint. */
export class Drive {
  readonly id: string;
  readonly folders: Set<string>;
  readonly #files = new Map<string, DriveFile>();

  constructor(id: string, folders: readonly string[]) {
    this.id = id;
    this.folders = new Set(['', ...folders].map(keyOf));
  }

  at(path: string): DriveFile | undefined {
    return this.#files.get(keyOf(path));
  }

  paths(): string[] {
    return [...this.#files.values()].map(({ path }) => path);
  }

  byId(id: string): DriveFile | undefined {
    return [...this.#files.values()].find((file) => file.id === id);
  }

  /** Makes the file or saves new content. */
  save(path: string, bytes: Buffer, by: string): DriveFile {
    const known = this.at(path);
    if (known !== undefined) {
      known.versions.push(known.bytes);
      Object.assign(known, { bytes, savedBy: by, tag: known.tag + 1, content: known.content + 1 });
      return known;
    }
    const guid = randomUUID().toUpperCase();
    const id = `01${createHash('sha256').update(guid).digest('hex').slice(0, 32).toUpperCase()}`;
    const rest = { tag: 1, content: 1, savedBy: by, isOpen: false, checkedOutBy: null, versions: [] };
    const file: DriveFile = { id, guid, path, bytes, ...rest };
    this.#files.set(keyOf(path), file);
    return file;
  }

  move(from: string, to: string): void {
    const file = this.at(from);
    if (file === undefined) return;
    this.#files.delete(keyOf(from));
    this.#files.set(keyOf(to), Object.assign(file, { path: to, tag: file.tag + 1 }));
  }

  remove(path: string): void {
    this.#files.delete(keyOf(path));
  }
}

export const eTagOf = ({ guid, tag }: DriveFile): string => `"{${guid}},${tag}"`;
export const cTagOf = ({ guid, content }: DriveFile): string => `"c:{${guid}},${content}"`;

/** The item as Graph shows it; `publication` only when it is asked for, as documented. */
export function showItem(drive: Drive, file: DriveFile, select: readonly string[] | null): object {
  const [name = '', ...folders] = file.path.split('/').toReversed();
  const parent = folders.toReversed().join('/');
  const all: Record<string, unknown> = {
    '@odata.context': 'https://graph.microsoft.com/v1.0/$metadata#drives/items/$entity',
    id: file.id,
    name,
    size: file.bytes.length,
    eTag: eTagOf(file),
    cTag: cTagOf(file),
    createdDateTime: '2026-11-01T08:00:00Z',
    lastModifiedDateTime: '2026-11-23T10:00:00Z',
    lastModifiedBy: { user: { id: 'efee1b77-fb3b-4f65-99d6-274c11914d12', displayName: file.savedBy } },
    parentReference: {
      driveId: drive.id,
      driveType: 'documentLibrary',
      path: `/drives/${drive.id}/root:${parent === '' ? '' : `/${parent}`}`,
    },
    file: { mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
    webUrl: `https://contoso.sharepoint.com/sites/sales/Shared%20Documents/${encodeURIComponent(file.path)}`,
  };
  if (select === null) return all;
  const publication =
    file.checkedOutBy === null
      ? { level: 'published', versionId: `${file.content}.0` }
      : {
          level: 'checkout',
          versionId: `${file.content}.0`,
          checkedOutBy: { user: { displayName: file.checkedOutBy } },
        };
  const shown: Record<string, unknown> = { ...all, publication };
  return Object.fromEntries(select.flatMap((field) => (field in shown ? [[field, shown[field]]] : [])));
}

export function showFolder(drive: Drive, path: string): object {
  return {
    id: `folder:${path}`,
    name: path,
    eTag: '"{F},1"',
    folder: { childCount: 1 },
    parentReference: { driveId: drive.id },
  };
}

const keyOf = (path: string): string => path.replaceAll(/^\/+|\/+$/g, '').toLowerCase();

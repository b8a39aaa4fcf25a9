import { z } from 'zod';

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
  try {
    return decodeURIComponent(folder);
  } catch {
    return folder;
  }
}

export function addressPath(address: GraphAddress): string {
  if ('link' in address) return `/shares/${encodedLink(address.link)}/driveItem`;
  return `/drives/${encodeURIComponent(address.drive)}/root:/${encodedPath(address.path)}`;
}

/** The path of a known item: it stays the same when a person renames or moves the file. */
export function itemPath({ drive, id }: Pick<DriveItem, 'drive' | 'id'>): string {
  return `/drives/${encodeURIComponent(drive)}/items/${encodeURIComponent(id)}`;
}

/** For messages: the path within the drive, or the link without its last part, which can be a key. */
export function shownAddress(address: GraphAddress): string {
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

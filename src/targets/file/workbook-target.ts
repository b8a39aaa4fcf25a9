import { join } from 'node:path';
import { isSharingLink } from '../../config/addresses.ts';
import { type FileFormatName, formatOf, knownEndings, linkedFormat } from '../../config/file-formats.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import type { OnReply } from '../../http/exchange.ts';
import type { Target } from '../../ports/target.ts';
import { localPlace } from '../local/local-place.ts';
import type { GraphApp } from '../msgraph/graph-account.ts';
import type { FileTableOptions, FirstRows, FormatCode } from './file-format.ts';
import type { FilePlace } from './file-place.ts';

export interface WorkbookTargetOptions extends Omit<FileTableOptions, 'name'> {
  /** Absolute path (a symbolic link stays one), https address on a WebDAV server, sharing link of SharePoint, or path within `drive`. */
  readonly path: string;
  /** Id of a drive of Microsoft 365. */
  readonly drive?: string;
  readonly user?: string;
  readonly password?: Revealed;
}

interface Revealed {
  reveal(): string;
}

interface Around {
  /** Absolute path; local copies lie in a folder below it. */
  readonly dataDir: string;
  readonly msgraph: GraphApp;
  /** Root of Microsoft Graph, without the version. */
  readonly msgraphUrl: string;
  readonly onReply?: OnReply;
}

/** Loads only what is needed. */
const formats: Readonly<Record<FileFormatName, () => Promise<FormatCode>>> = {
  xlsx: async () => (await import('../xlsx/xlsx-target.ts')).xlsxFormat,
  csv: async () => (await import('../csv/csv-target.ts')).csvFormat,
};

async function formatAt(path: string): Promise<FormatCode> {
  const name = isSharingLink(path) ? linkedFormat : formatOf(path);
  if (name !== null) return formats[name]();
  const message = `${path} does not end in ${knownEndings}. Nothing was read or written.`;
  throw new LeadsyncError('target.unreadable', message, { help: 'Correct the path of the target.' });
}

/** Throws `target.unreadable` for a path of no known ending. */
export async function createWorkbookTarget(
  { path, drive, user, password, ...options }: WorkbookTargetOptions,
  around: Around,
): Promise<Target> {
  const format = await formatAt(path);
  return format.create(await openFilePlace({ path, drive, user, password }, around), options);
}

/** Looks into a file that can be written; null: it is missing or empty. Writes nothing. */
export async function withFirstRows<T>(
  where: Where,
  around: Around,
  sheet: string | undefined,
  signal: AbortSignal,
  look: (found: FirstRows | null) => Promise<T>,
): Promise<T> {
  const format = await formatAt(where.path ?? '');
  const place = await openFilePlace(where, around);
  const location = await place.locate(signal);
  await location.assertWritable(signal);
  await using file = await location.open(signal);
  if (file === null || file.size === 0) return await look(null);
  const why = (await location.whyReadOnly?.()) ?? null;
  if (why !== null) throw new LeadsyncError('target.not-writable', why);
  return await look(await format.firstRows(file, place.name, sheet));
}

type Where = {
  readonly [Key in 'path' | 'drive' | 'user' | 'password']?: WorkbookTargetOptions[Key] | undefined;
};

async function openFilePlace(
  { path = '', drive, user = '', password }: Where,
  { dataDir, msgraph, msgraphUrl, onReply }: Around,
): Promise<FilePlace> {
  const rest = { folder: join(dataDir, 'copies'), ...(onReply && { onReply }) };
  if (drive !== undefined || isSharingLink(path)) {
    const { openGraphPlace } = await import('../msgraph/graph-file.ts');
    const address = drive === undefined ? { link: path } : { drive, path };
    return openGraphPlace(address, msgraph, { ...rest, apiUrl: msgraphUrl });
  }
  if (!/^https?:\/\//.test(path)) return localPlace(path);
  const { webDavPlace } = await import('../webdav/webdav-file.ts');
  const authorization = (): string | null => {
    return password ? `Basic ${Buffer.from(`${user}:${password.reveal()}`).toString('base64')}` : null;
  };
  return webDavPlace({ url: path, authorization, ...rest });
}

/** Writes one more heading beside the column `beside`, as a sync writes that of a new field. Throws what `Target.open` throws. */
export async function writeHeading(
  file: WorkbookTargetOptions,
  around: Around,
  { heading, beside }: { readonly heading: string; readonly beside: string },
  signal: AbortSignal,
): Promise<void> {
  const field = { field: 'heading', column: heading, type: 'text', direction: 'two-way' } as const;
  const target = await createWorkbookTarget({ ...file, idColumn: beside, fields: [field] }, around);
  await target.open({ create: true, newFields: [field.field] }, signal);
}

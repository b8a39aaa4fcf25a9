import { join } from 'node:path';
import { isSharingLink } from '../../config/addresses.ts';
import type { OnReply } from '../../http/exchange.ts';
import type { Target } from '../../ports/target.ts';
import { localPlace } from '../local/local-place.ts';
import type { XlsxTargetOptions } from '../xlsx/sheet.ts';
import type { GraphApp } from '../msgraph/graph-credentials.ts';
import type { FilePlace } from './file-place.ts';

export interface WorkbookTargetOptions extends Omit<XlsxTargetOptions, 'name'> {
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
  /** Root of Microsoft Graph; absent: Microsoft's own. */
  readonly apiUrl?: string | undefined;
  readonly onReply?: OnReply;
}

/** By path or address and ending: Excel workbook (.xlsx, .xlsm), or CSV. Loads only what is needed. */
export async function createWorkbookTarget(
  { path, drive, user, password, ...options }: WorkbookTargetOptions,
  around: Around,
): Promise<Target> {
  const place = await openFilePlace({ path, drive, user, password }, around);
  // A sharing link does not tell what it leads to: only workbooks are expected there.
  if (/\.xls[xm]$/i.test(path) || isSharingLink(path)) {
    const { createXlsxTarget } = await import('../xlsx/xlsx-target.ts');
    return createXlsxTarget(place, options);
  }
  const { createCsvTarget } = await import('../csv/csv-target.ts');
  return createCsvTarget(place, options);
}

type Where = {
  readonly [Key in 'path' | 'drive' | 'user' | 'password']?: WorkbookTargetOptions[Key] | undefined;
};

export async function openFilePlace(
  { path = '', drive, user = '', password }: Where,
  { dataDir, msgraph, apiUrl, onReply }: Around,
): Promise<FilePlace> {
  const rest = { folder: join(dataDir, 'copies'), ...(onReply && { onReply }) };
  if (drive !== undefined || isSharingLink(path)) {
    const { openGraphPlace } = await import('../msgraph/graph-place.ts');
    const address = drive === undefined ? { link: path } : { drive, path };
    return openGraphPlace(address, msgraph, { ...rest, apiUrl });
  }
  if (!/^https?:\/\//.test(path)) return localPlace(path);
  const { webDavPlace } = await import('../webdav/webdav-place.ts');
  const authorization = (): string | null => {
    return password ? `Basic ${Buffer.from(`${user}:${password.reveal()}`).toString('base64')}` : null;
  };
  return webDavPlace({ url: path, authorization, ...rest });
}

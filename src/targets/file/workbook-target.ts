import type { OnReply } from '../../http/exchange.ts';
import type { Target } from '../../ports/target.ts';
import { localPlace } from '../local/local-place.ts';
import type { XlsxTargetOptions } from '../xlsx/sheet.ts';
import type { FilePlace } from './file-place.ts';

export interface WorkbookTargetOptions extends Omit<XlsxTargetOptions, 'name'> {
  /** Absolute path of the file, where a symbolic link stays one, or its https address on a WebDAV server. */
  readonly path: string;
  readonly user?: string;
  readonly password?: Revealed;
  /** Bearer token, instead of user and password. */
  readonly accessToken?: Revealed;
}

interface Revealed {
  reveal(): string;
}

/** What a place on a server needs besides. */
interface Around {
  /** Absolute path of the folder for local copies. */
  readonly copies: string;
  readonly onReply?: OnReply;
}

/**
 * The target for a file, by its path or address and by its ending: Excel workbook (.xlsx, .xlsm), or CSV. Loads only what is
 * needed.
 */
export async function createWorkbookTarget(
  { path, user, password, accessToken, ...options }: WorkbookTargetOptions,
  around: Around,
): Promise<Target> {
  const place = await placeOf({ path, user, password, accessToken }, around);
  if (/\.xls[xm]$/i.test(path)) {
    const { createXlsxTarget } = await import('../xlsx/xlsx-target.ts');
    return createXlsxTarget(place, options);
  }
  const { createCsvTarget } = await import('../csv/csv-target.ts');
  return createCsvTarget(place, options);
}

type Where = {
  readonly [Key in 'path' | 'user' | 'password' | 'accessToken']: WorkbookTargetOptions[Key] | undefined;
};

async function placeOf(
  { path = '', user = '', password, accessToken }: Where,
  { copies, ...rest }: Around,
): Promise<FilePlace> {
  if (!/^https?:\/\//.test(path)) return localPlace(path);
  const { webDavPlace } = await import('../webdav/webdav-place.ts');
  const basic = password && `Basic ${Buffer.from(`${user}:${password.reveal()}`).toString('base64')}`;
  const authorization = accessToken ? `Bearer ${accessToken.reveal()}` : (basic ?? null);
  return webDavPlace({ url: path, authorization, folder: copies, ...rest });
}

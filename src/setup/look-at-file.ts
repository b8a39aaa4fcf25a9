import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCsvName } from '../config/addresses.ts';
import { filePlace } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import { LeadsyncError } from '../errors.ts';
import type { FilePlace } from '../targets/file/file-place.ts';
import { watchedAccess } from '../targets/file/source-file.ts';
import { openFilePlace } from '../targets/file/workbook-target.ts';
import type { MsGraphOptions } from '../targets/msgraph/graph-place.ts';
import { type FoundTable, noTable, tableOf } from './found-table.ts';

/** A file, and the sheets of a workbook that are not hidden. */
export interface FoundFile extends FoundTable {
  readonly sheets: readonly string[];
}

/** Names of the CSV files and workbooks in a folder, without what editors leave beside them. */
export async function tablesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /^[^~.].*\.(csv|tsv|xls[xm])$/i.test(name)).toSorted();
}

/** A file on this machine (an absolute path), on a WebDAV server, or in Microsoft 365. */
export interface FileAddress {
  readonly path: string;
  readonly drive?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: Secret | undefined;
  readonly accessToken?: Secret | undefined;
  readonly msgraph?: MsGraphOptions;
}

/**
 * Looks into a file; nothing is written.
 * @param sheet of a workbook; default: the first that is not hidden
 * @throws LeadsyncError `target.not-writable` when it can only be read, and what opening and reading throw: see `Target`
 */
export async function lookAtFile(
  address: FileAddress,
  sheet: string | undefined,
  signal: AbortSignal,
): Promise<FoundFile> {
  const { path, drive, msgraph = { url: '', loginUrl: '' } } = address;
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-look-'));
  try {
    const where = { ...address, path: filePlace('', path, drive) };
    return await lookInto(await openFilePlace(where, { dataDir: folder, msgraph }), sheet, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function lookInto(
  place: FilePlace,
  sheet: string | undefined,
  signal: AbortSignal,
): Promise<FoundFile> {
  const location = await place.locate(signal);
  const { name } = place;
  await location.assertWritable(signal);
  await using file = await location.open(signal);
  if (file === null || file.size === 0) return { ...noTable, sheets: [] };
  const why = await location.whyReadOnly(signal);
  if (why !== null) throw new LeadsyncError('target.not-writable', why);
  if (isCsvName(name)) {
    const { readCsvFirstRows } = await import('../targets/csv/first-rows.ts');
    return { ...tableOf(await readCsvFirstRows(file, name, signal)), sheets: [] };
  }
  const { readXlsxFirstRows } = await import('../targets/xlsx/first-rows.ts');
  const { sheets, rows } = await readXlsxFirstRows(watchedAccess(file, signal), name, sheet);
  return { ...tableOf(rows), sheets };
}

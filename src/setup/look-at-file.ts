import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LeadsyncError } from '../errors.ts';
import type { FilePlace } from '../targets/file/file-place.ts';
import { watchedAccess } from '../targets/file/source-file.ts';
import { localPlace } from '../targets/local/local-place.ts';
import { type FoundTable, noTable, tableOf } from './found-table.ts';

/** A file, and the sheets of a workbook that are not hidden. */
export interface FoundFile extends FoundTable {
  readonly sheets: readonly string[];
}

/** Names of the CSV files and workbooks in a folder, without what editors leave beside them. */
export async function tablesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /^[^~.].*\.(csv|xls[xm])$/i.test(name)).toSorted();
}

/**
 * Looks into a file; nothing is written.
 * @param sheet of a workbook; default: the first that is not hidden
 * @throws LeadsyncError `target.not-writable` when it can only be read, and what opening and reading throw: see `Target`
 */
export async function lookAtFile(
  place: FilePlace,
  sheet: string | undefined,
  signal: AbortSignal,
): Promise<FoundFile> {
  const location = await place.locate(signal);
  const { name } = place;
  await using file = await location.open(signal);
  if (file === null || file.size === 0) return { ...noTable, sheets: [] };
  const why = await location.whyReadOnly(signal);
  if (why !== null) throw new LeadsyncError('target.not-writable', why);
  if (/\.csv$/i.test(name)) {
    const { readCsvFirstRows } = await import('../targets/csv/first-rows.ts');
    // Whatever its first row says, it is that of the headings.
    const [first = [], ...rest] = await readCsvFirstRows(file, name, signal);
    const { headings } = tableOf([first]);
    return { headings, hasRows: rest.some((row) => tableOf([row]).headings !== null), sheets: [] };
  }
  const { readXlsxFirstRows } = await import('../targets/xlsx/first-rows.ts');
  const { sheets, rows } = await readXlsxFirstRows(watchedAccess(file, signal), name, sheet);
  return { ...tableOf(rows), sheets };
}

/** A file on this machine. Throws `target.not-writable` when its folder is missing or cannot be written. */
export async function fileHere(path: string): Promise<FilePlace> {
  await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
    throw new LeadsyncError(
      'target.not-writable',
      `the folder of ${path} is missing or cannot be written; leadsync replaces the file as a whole`,
      { cause },
    );
  });
  return localPlace(path);
}

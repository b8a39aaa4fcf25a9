import { isCsvName } from '../../config/addresses.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { cellName } from '../shared/cell-name.ts';
import type { FilePlace } from './file-place.ts';
import { watchedAccess } from './source-file.ts';
import { createWorkbookTarget, type WorkbookTargetOptions } from './workbook-target.ts';

/** What a file shows to somebody who does not know its headings. */
export interface FirstRows {
  /** The sheets of a workbook that are not hidden. */
  readonly sheets: readonly string[];
  /** Texts. */
  readonly rows: readonly (readonly string[])[];
  /** A cell for one more heading, beside those in the row `at`, which has `width` cells. Can be called once. */
  readonly freeCell: (at: number, width: number) => string | Promise<string>;
}

/**
 * Looks into a file that can be written; null: it is missing or empty. Writes nothing. @param sheet default: the first that is
 * not hidden. @throws LeadsyncError `target.not-writable` when it can only be read, and what opening and reading throw: see `Target`
 */
export async function withFirstRows<T>(
  place: FilePlace,
  sheet: string | undefined,
  signal: AbortSignal,
  look: (found: FirstRows | null) => Promise<T>,
): Promise<T> {
  const location = await place.locate(signal);
  await location.assertWritable(signal);
  await using file = await location.open(signal);
  if (file === null || file.size === 0) return await look(null);
  const why = await location.whyReadOnly(signal);
  if (why !== null) throw new LeadsyncError('target.not-writable', why);
  if (isCsvName(place.name)) {
    const { readCsvFirstRows } = await import('../csv/first-rows.ts');
    const rows = await readCsvFirstRows(file, place.name, signal);
    return await look({ sheets: [], rows, freeCell: cellName });
  }
  const { readXlsxFirstRows } = await import('../xlsx/first-rows.ts');
  return await look(await readXlsxFirstRows(watchedAccess(file, signal), place.name, sheet));
}

/** Writes one more heading beside the column `beside`, as a sync writes that of a new field. Throws what `Target.open` throws. */
export async function writeHeading(
  file: WorkbookTargetOptions,
  around: Parameters<typeof createWorkbookTarget>[1],
  { heading, beside }: { readonly heading: string; readonly beside: string },
  signal: AbortSignal,
): Promise<void> {
  const field = { field: 'heading', column: heading, type: 'text', direction: 'two-way' } as const;
  const target = await createWorkbookTarget({ ...file, idColumn: beside, fields: [field] }, around);
  await target.open({ create: true, newFields: [field.field] }, signal);
}

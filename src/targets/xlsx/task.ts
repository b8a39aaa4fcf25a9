import type { Aside } from '../../core/lead/aside.ts';
import type { RowChange, TargetRow } from '../../ports/target.ts';
import type { FileTableOptions, FileHead } from '../file/file-format.ts';
import { targetRow } from '../shared/row-content.ts';
import { readXlsxMark } from './mark.ts';
import { planXlsxColumns } from './new-columns.ts';
import type { KnownSheet } from './packed-rows.ts';
import { openXlsxSheet, readXlsxRow, xlsxAsides } from './sheet.ts';
import { type PartEdit, planXlsxWrite, type XlsxWritePlan } from './write-plan.ts';
import type { RandomAccess } from './zip-directory.ts';

/** What to read of a workbook, as plain data, so that a thread can do it. */
export type XlsxTask =
  | { readonly kind: 'head' }
  | { readonly kind: 'rows' }
  | {
      readonly kind: 'plan';
      readonly changes: readonly RowChange[];
      readonly mark: string | undefined;
      /** For `planXlsxWrite`; never passed to a thread. */
      readonly known: KnownSheet | null;
    }
  | { readonly kind: 'columns'; readonly fields: ReadonlySet<string> };

/** What each kind of task gives: `rows` in batches, the others once. */
export interface XlsxResults {
  readonly head: FileHead;
  readonly rows: { readonly rows: TargetRow[]; readonly asides: readonly Aside[] };
  readonly plan: XlsxWritePlan;
  readonly columns: readonly PartEdit[];
}

/** @throws LeadsyncError as openXlsxSheet and planXlsxWrite do */
export async function* doXlsxTask(
  file: RandomAccess,
  options: FileTableOptions,
  task: XlsxTask,
): AsyncGenerator<XlsxResults[XlsxTask['kind']]> {
  if (task.kind === 'plan') {
    yield await planXlsxWrite(file, options, task.changes, task.mark, task.known);
    return;
  }
  if (task.kind === 'columns') {
    yield await planXlsxColumns(file, options, task.fields);
    return;
  }
  const sheet = await openXlsxSheet(file, options);
  const { book, columns } = sheet;
  if (task.kind === 'head') {
    await sheet.rows.return(undefined);
    yield { missing: columns.missing, mark: await readXlsxMark(book.pack, book.sheetName) };
    return;
  }
  for await (const batch of sheet.rows) {
    const rows = batch.flatMap((row) => {
      const present = readXlsxRow(row, sheet);
      return present === null ? [] : targetRow(present, row.row, columns);
    });
    const asides = batch.flatMap((row) => xlsxAsides(row, sheet));
    if (rows.length + asides.length > 0) yield { rows, asides };
  }
}

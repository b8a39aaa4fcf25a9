import { shownStatus } from '../shared/columns.ts';
import type { RowChange, TargetRow, TargetSnapshot } from '../../ports/target.ts';
import { openXlsxSheet, readXlsxRow, type XlsxMapping } from './sheet.ts';
import { readXlsxMark } from './mark.ts';
import { planXlsxColumns } from './new-columns.ts';
import type { KnownSheet } from './packed-rows.ts';
import { type PartEdit, planXlsxWrite, type XlsxWritePlan } from './write-plan.ts';
import type { RandomAccess } from './zip-directory.ts';

/** A read of a workbook as plain data, so that a thread can do it. */
export interface XlsxJob {
  readonly task:
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
  readonly mapping: XlsxMapping;
  /** For messages. */
  readonly name: string;
}

export type XlsxResult =
  | { readonly kind: 'head'; readonly missing: TargetSnapshot['missing']; readonly mark: string | null }
  | { readonly kind: 'rows'; readonly rows: TargetRow[] }
  | { readonly kind: 'plan'; readonly plan: XlsxWritePlan }
  | { readonly kind: 'columns'; readonly edits: readonly PartEdit[] };

/** One result, or batches for `rows`. @throws LeadsyncError as openXlsxSheet and planXlsxWrite do. */
export async function* doXlsxJob(file: RandomAccess, job: XlsxJob): AsyncGenerator<XlsxResult> {
  const { task, mapping, name } = job;
  if (task.kind === 'plan') {
    const { changes, mark, known } = task;
    yield { kind: 'plan', plan: await planXlsxWrite(file, changes, mapping, name, mark, known) };
    return;
  }
  if (task.kind === 'columns') {
    yield { kind: 'columns', edits: await planXlsxColumns(file, task.fields, mapping, name) };
    return;
  }
  const sheet = await openXlsxSheet(file, mapping, name);
  if (task.kind === 'head') {
    await sheet.rows.return(undefined);
    const mark = await readXlsxMark(sheet.book.pack, sheet.book.sheetName);
    yield { kind: 'head', missing: sheet.columns.missing, mark };
    return;
  }
  for await (const batch of sheet.rows) {
    const rows = batch.flatMap((row) => {
      const present = readXlsxRow(row, sheet);
      if (present === null) return [];
      const status = shownStatus(sheet.columns, present.status);
      const { leadId, unreadableId, cells } = present;
      return [{ row: row.row, leadId, ...(unreadableId !== undefined && { unreadableId }), cells, status }];
    });
    if (rows.length > 0) yield { kind: 'rows', rows };
  }
}

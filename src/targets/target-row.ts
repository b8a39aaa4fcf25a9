import type { Columns } from './columns.ts';
import type { PresentRow } from './row-changes.ts';
import type { TargetRow } from './target.ts';

/** A row that was read as the sync sees it; `row` is its number. */
export function targetRow(
  { leadId, cells, status }: PresentRow<unknown>,
  row: number,
  columns: Columns,
): TargetRow {
  return { row, leadId, cells, status: columns.status === null ? null : (status ?? '') };
}

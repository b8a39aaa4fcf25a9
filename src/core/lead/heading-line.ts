import type { FieldMapping } from './mapping.ts';
import { type Cells, folded, plainCell } from './value.ts';

/**
 * Whether a row of a table is its headings once more, as when exports are pasted below each other: it shows no mapped value but
 * headings, each in its own column, the id's or two of them.
 */
export function repeatsHeadings(
  { leadId, cells }: { readonly leadId: string | null; readonly cells: Cells },
  fields: readonly Pick<FieldMapping, 'field' | 'column'>[],
  idColumn: string,
): boolean {
  if (leadId !== null && folded(leadId) !== folded(idColumn)) return false;
  let shown = leadId === null ? 0 : 2;
  for (const { field, column } of fields) {
    const text = folded(plainCell(cells[field] ?? null));
    if (text === '') continue;
    if (text !== folded(column)) return false;
    shown += 1;
  }
  return shown >= 2;
}

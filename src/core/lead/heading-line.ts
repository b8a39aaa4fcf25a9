import type { FieldMapping } from './mapping.ts';
import { isUuid } from './uuid.ts';
import { type Cells, plainCell } from './value.ts';

/**
 * What two headings share when they name the same column: case, the form of accents, and white space of any kind do not
 * matter, line breaks and invisible characters included.
 */
export function headingKey(heading: string): string {
  const text = heading.normalize('NFC').replaceAll(/[\s\p{Cf}]/gu, '');
  return text.toUpperCase().toLowerCase().normalize('NFC');
}

/**
 * Whether a row of a table is its headings once more, as when exports are pasted below each other: it shows no mapped value but
 * headings, each in its own column, the id's or two of them.
 */
export function repeatsHeadings(
  { leadId, cells }: { readonly leadId: string | null; readonly cells: Cells },
  fields: readonly Pick<FieldMapping, 'field' | 'column'>[],
  idColumn: string,
): boolean {
  if (leadId !== null && (isUuid(leadId) || headingKey(leadId) !== headingKey(idColumn))) return false;
  let shown = leadId === null ? 0 : 2;
  for (const { field, column } of fields) {
    const text = headingKey(plainCell(cells[field] ?? null) ?? '');
    if (text === '') continue;
    if (text !== headingKey(column)) return false;
    shown += 1;
  }
  return shown >= 2;
}

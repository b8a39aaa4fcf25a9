import { type ColumnMapping, folded } from '../shared/columns.ts';

/** A column that a field gets; positions are 0-based. */
export interface NewColumn {
  readonly heading: string;
  readonly index: number;
}

/**
 * Where the columns of fields go that have none: behind the last heading, in columns in which no cell is filled. A person
 * may have written beside the table without a heading.
 */
export function placeNewColumns(
  headings: readonly string[],
  isUsed: (index: number) => boolean,
  { fields }: ColumnMapping,
  wanted: ReadonlySet<string>,
): readonly NewColumn[] {
  const shown = new Set(headings.map(folded));
  const missing = fields.filter(({ field, column }) => wanted.has(field) && !shown.has(folded(column)));
  let index = headings.findLastIndex((heading) => heading.trim() !== '');
  return missing.map(({ column }) => {
    do index++;
    while (isUsed(index));
    return { heading: column, index };
  });
}

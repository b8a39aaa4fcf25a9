import { headingKey } from '../../core/lead/heading-line.ts';
import { type ColumnMapping, lastHeading } from '../shared/columns.ts';

/** Positions are 0-based. */
export interface NewColumn {
  readonly heading: string;
  readonly index: number;
}

/** After the last heading, in columns without any content: people write beside tables without headings. */
export function placeNewColumns(
  headings: readonly string[],
  isUsed: (index: number) => boolean,
  { fields }: ColumnMapping,
  wanted: ReadonlySet<string>,
): readonly NewColumn[] {
  const shown = new Set(headings.map(headingKey));
  const missing = fields.filter(({ field, column }) => wanted.has(field) && !shown.has(headingKey(column)));
  let index = lastHeading(headings);
  return missing.map(({ column }) => {
    do index++;
    while (isUsed(index));
    return { heading: column, index };
  });
}

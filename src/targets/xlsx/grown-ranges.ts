import { type CellRange, contains, type PlacedRange, showRange } from './cell-reference.ts';
import { type Splice, splice } from '../file/splice.ts';
import type { SheetLayout } from './rows.ts';
import type { SheetTable } from './tables.ts';

/**
 * Extends the used range of the sheet, and the filter and table that contain our headings, if the new rows follow
 * without a gap.
 */
export function grownRanges(
  rows: readonly number[],
  headerRow: number,
  idColumn: number,
  layout: SheetLayout,
  tables: readonly SheetTable[],
): { readonly sheet: readonly Splice[]; readonly tables: readonly { part: string; splices: Splice[] }[] } {
  const added = new Set(rows);
  const grown = ({ range }: PlacedRange): CellRange => {
    let { bottom } = range;
    while (added.has(bottom + 1)) bottom++;
    return { ...range, bottom };
  };
  const isOurs = ({ range }: PlacedRange) => range.top === headerRow && contains(range, headerRow, idColumn);
  const { dimension, autoFilter } = layout;
  const bottom = Math.max(dimension?.range.bottom ?? 0, rows.at(-1) ?? 0);
  return {
    sheet: [
      ...replaced(dimension, dimension && { ...dimension.range, bottom }),
      ...(autoFilter !== null && isOurs(autoFilter) ? replaced(autoFilter, grown(autoFilter)) : []),
    ],
    tables: tables
      .filter(({ whole, hasTotals }) => isOurs(whole) && !hasTotals)
      .map(({ part, whole, filter }) => ({
        part: part.name,
        splices: [
          ...replaced(whole, grown(whole)),
          ...(filter === null ? [] : replaced(filter, grown(filter))),
        ],
      })),
  };
}

function replaced(place: PlacedRange | null, range: CellRange | null): Splice[] {
  if (place === null || range === null || range.bottom === place.range.bottom) return [];
  return [splice(place.start, place.end, showRange(range))];
}

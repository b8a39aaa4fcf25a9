import { type CellRange, isAround, showRange } from '../shared/table-range.ts';
import type { PlacedRange } from './cell-reference.ts';
import { type Splice, splice } from '../file/splice.ts';
import { placeOf, type XlsxSheet } from './sheet.ts';
import type { MovedTail } from './tail.ts';

/** The used range, and the filter and table with our headings, if new rows follow without a gap. `tail`: what they pushed down. */
export function grownRanges(
  rows: readonly number[],
  { header, columns, layout, tables, bottom: last }: XlsxSheet,
  tail: MovedTail | null,
): { readonly sheet: readonly Splice[]; readonly tables: readonly { part: string; splices: Splice[] }[] } {
  const added = new Set(rows);
  const end = Math.max(rows.at(-1) ?? 0, tail === null ? 0 : (tail.rows.at(-1)?.row ?? 0) + tail.shift);
  const grown = ({ range }: PlacedRange): CellRange => {
    if (tail !== null && range.bottom >= tail.first) return { ...range, bottom: range.bottom + tail.shift };
    let bottom = Math.max(range.bottom, last ?? 0);
    if (!added.has(bottom + 1)) return range;
    while (added.has(bottom + 1)) bottom++;
    return { ...range, bottom };
  };
  const isOurs = ({ range }: PlacedRange) => isAround(range, placeOf({ header, columns }));
  const { dimension, autoFilter } = layout;
  const bottom = Math.max(dimension?.range.bottom ?? 0, end);
  return {
    sheet: [
      ...replaced(dimension, dimension && { ...dimension.range, bottom }),
      ...(autoFilter !== null && isOurs(autoFilter) ? replaced(autoFilter, grown(autoFilter)) : []),
    ],
    tables: tables
      .filter(({ whole, hasTotals }) => isOurs(whole) && (!hasTotals || tail !== null))
      .map(({ part, whole, filter }) => ({
        part: part.name,
        splices: [
          ...replaced(whole, grown(whole)),
          ...(filter === null ? [] : replaced(filter, grown(filter))),
        ],
      })),
  };
}

/** Another range in the place of one. */
export function replaced(place: PlacedRange | null, range: CellRange | null): Splice[] {
  if (place === null || range === null || showRange(range) === showRange(place.range)) return [];
  return [splice(place.start, place.end, showRange(range))];
}

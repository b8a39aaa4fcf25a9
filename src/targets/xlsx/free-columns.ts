import { lastHeading } from '../shared/columns.ts';
import { type CellRange, contains, freeCell } from '../shared/table-range.ts';
import type { SheetLayout, SheetRow } from './rows.ts';
import type { SheetTable } from './tables.ts';

type Rows = AsyncIterable<readonly SheetRow[]>;

/** Whether a column has content below the headings, or lies in a merge, a formula's range or another table. Reads all `rows`. */
export async function readUsed(
  rows: Rows,
  headerRow: number,
  layout: SheetLayout,
  others: readonly SheetTable[],
): Promise<(index: number) => boolean> {
  const used = new Set<number>();
  for await (const batch of rows)
    for (const { cells } of batch)
      for (const { column, raw, formula } of cells) if (raw !== '' || formula !== null) used.add(column);
  const ranges: CellRange[] = [...layout.merged, ...layout.filled, ...others.map(({ range }) => range)];
  const taken = ranges.filter(({ bottom }) => bottom >= headerRow);
  return (index) => used.has(index) || taken.some(({ left, right }) => index >= left && index <= right);
}

/** `freeCell` of a sheet. Reads all `rows`. */
export async function freeSheetCell(
  { row }: SheetRow,
  headings: readonly string[],
  rows: Rows,
  layout: SheetLayout,
  tables: readonly SheetTable[],
): Promise<string> {
  const last = lastHeading(headings);
  const others = tables.filter(({ range }) => range.top !== row || !contains(range, row, last));
  const isUsed = await readUsed(rows, row, layout, others);
  return freeCell(headings, row, isUsed, layout.autoFilter?.range);
}

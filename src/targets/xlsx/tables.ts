import { type CellRange, contains, type FormattedTable, freeCell } from '../shared/table-range.ts';
import { type PlacedRange, placedRange } from './cell-reference.ts';
import type { XlsxWorkbook } from './workbook.ts';
import { attribute, type XmlElement } from './xml.ts';
import type { ZipEntry } from './zip.ts';
import { lastHeading } from '../shared/columns.ts';
import type { SheetLayout, SheetRow } from './rows.ts';

export interface SheetTable extends FormattedTable {
  readonly part: ZipEntry;
  readonly whole: PlacedRange;
  readonly filter: PlacedRange | null;
  /** Its list of columns, and the highest id in it. */
  readonly columns: XmlElement | null;
  readonly lastId: number;
}

export async function readTables({ pack, sheet }: XlsxWorkbook): Promise<readonly SheetTable[]> {
  const tables: SheetTable[] = [];
  for (const { type, part: target } of (await pack.relationships(sheet.name)).values()) {
    const part = type.endsWith('/table') ? pack.find(target) : null;
    if (part === null) continue;
    await pack.parse(part, (elements) => {
      const named = (wanted: string) => elements.filter(({ local }) => local === wanted);
      const [whole] = named('table').flatMap((table) => placedRange(table) ?? []);
      if (whole === undefined) return;
      const [filter = null] = named('autoFilter').flatMap((one) => placedRange(one) ?? []);
      const number = ({ attributes }: XmlElement, name: string) => Number(attribute(attributes, name) ?? 0);
      const hasTotals = named('table').some((table) => number(table, 'totalsRowCount') > 0);
      const [columns = null] = named('tableColumns');
      const lastId = named('tableColumn').reduce((most, column) => Math.max(most, number(column, 'id')), 0);
      tables.push({ part, whole, range: whole.range, filter, hasTotals, columns, lastId });
    });
  }
  return tables;
}

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

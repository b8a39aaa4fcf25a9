import type { FormattedTable } from '../shared/table-range.ts';
import { type PlacedRange, placedRange } from './cell-reference.ts';
import type { XlsxWorkbook } from './workbook.ts';
import type { XmlElement } from './xml-elements.ts';
import { attribute } from './xml-scanner.ts';
import type { ZipEntry } from './zip-directory.ts';

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

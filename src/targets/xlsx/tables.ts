import { readRange } from './cell-reference.ts';
import type { PlacedRange } from './rows.ts';
import type { XlsxWorkbook } from './workbook.ts';
import { attribute, attributePlace, localName } from './xml-scanner.ts';
import type { ZipEntry } from './zip-directory.ts';

/** A table of the sheet ("format as table"): its headings, rows and totals row. */
export interface SheetTable {
  readonly part: ZipEntry;
  readonly whole: PlacedRange;
  readonly filter: PlacedRange | null;
  readonly hasTotals: boolean;
  readonly columns: TableColumns;
}

/** A table's column list: the positions of its count and its end in the part, and the highest id. */
interface TableColumns {
  readonly count: { readonly start: number; readonly end: number } | null;
  readonly end: number;
  readonly lastId: number;
  /** Its elements' prefix with colon, or empty. */
  readonly prefix: string;
}

export async function readTables({ pack, sheet }: XlsxWorkbook): Promise<readonly SheetTable[]> {
  const tables: SheetTable[] = [];
  for (const { type, part } of (await pack.relationships(sheet.name)).values()) {
    const entry = type.endsWith('/table') ? pack.find(part) : null;
    if (entry === null) continue;
    const found: { whole: PlacedRange | null; filter: PlacedRange | null; totals: boolean } = {
      whole: null,
      filter: null,
      totals: false,
    };
    const columns = { count: null as TableColumns['count'], end: 0, lastId: 0, prefix: '' };
    await pack.scan(entry, {
      open: (name, attributes, start) => {
        const local = localName(name);
        if (local === 'tableColumns') {
          const place = attributePlace(attributes, 'count');
          const from = start + 1 + name.length;
          columns.count = place && { start: from + place.start, end: from + place.end };
          columns.prefix = name.slice(0, name.length - local.length);
        }
        if (local === 'tableColumn')
          columns.lastId = Math.max(columns.lastId, Number(attribute(attributes, 'id') ?? 0));
        if (local !== 'table' && local !== 'autoFilter') return;
        const range = readRange(attribute(attributes, 'ref') ?? '');
        const place = attributePlace(attributes, 'ref');
        if (range === null || place === null) return;
        const from = start + 1 + name.length;
        const placed = { range, start: from + place.start, end: from + place.end };
        if (local === 'autoFilter') found.filter ??= placed;
        else found.whole ??= placed;
        if (local === 'table') found.totals = Number(attribute(attributes, 'totalsRowCount') ?? 0) > 0;
      },
      close: (name, start) => {
        if (localName(name) === 'tableColumns') columns.end = start;
      },
      text: () => undefined,
    });
    if (found.whole !== null) {
      tables.push({
        part: entry,
        whole: found.whole,
        filter: found.filter,
        hasTotals: found.totals,
        columns,
      });
    }
  }
  return tables;
}

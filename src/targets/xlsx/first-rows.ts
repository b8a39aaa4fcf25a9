import { type FirstRows, resumed } from '../file/file-format.ts';
import { type SourceFile, watchedAccess } from '../file/source-file.ts';
import { headingRows } from '../shared/columns.ts';
import { SerialClock } from '../shared/serial-clock.ts';
import { cellReader } from './cell-reader.ts';
import { xlsxFaults } from './fault.ts';
import { freeSheetCell } from './free-columns.ts';
import { SheetReader } from './rows.ts';
import { firstRows, textsOf } from './sheet.ts';
import { readSharedStrings } from './strings.ts';
import { readDateStyles } from './styles.ts';
import { readTables } from './tables.ts';
import { openWorkbook, visibleSheets } from './workbook.ts';

/** Headings are looked for in the first 20 rows; one more shows whether anything follows. */
const mostRows = headingRows + 1;

/** @throws LeadsyncError `target.unreadable`, `target.incomplete` */
export async function readXlsxFirstRows(
  source: SourceFile,
  path: string,
  signal: AbortSignal,
  sheet?: string,
): Promise<FirstRows> {
  const file = watchedAccess(source, signal);
  const fault = xlsxFaults(path);
  const book = await openWorkbook(file, sheet === undefined ? {} : { sheet }, fault);
  const dates = await readDateStyles(book.pack, book.styles);
  const strings = await readSharedStrings(book.pack, book.strings);
  const cells = cellReader(strings, dates, new SerialClock('UTC', book.date1904));
  const reader = new SheetReader(book);
  const batches = reader.rows();
  const found = await firstRows(batches);
  const rows = found
    .slice(0, mostRows)
    .map((row) => book.pack.guarded(book.sheet, () => textsOf(row, cells)));
  const tables = await readTables(book);
  return {
    sheets: await visibleSheets(file, fault),
    rows,
    freeCell: async (at) => {
      const header = found[at];
      if (header === undefined) throw new Error('no such row');
      const rest = resumed(found.slice(at + 1), batches);
      return freeSheetCell(header, rows[at] ?? [], rest, reader.layout, tables);
    },
  };
}

import { headingRows } from '../shared/columns.ts';
import { SerialClock } from '../shared/serial-clock.ts';
import { cellReader } from './cell-reader.ts';
import { xlsxFaults } from './fault.ts';
import { SheetReader } from './rows.ts';
import { firstRows, textsOf } from './sheet.ts';
import { readSharedStrings } from './strings.ts';
import { readDateStyles } from './styles.ts';
import { openWorkbook, visibleSheets } from './workbook.ts';
import type { RandomAccess } from './zip-directory.ts';

/** Headings are looked for in the first 20 rows; one more shows whether anything follows. */
const mostRows = headingRows + 1;

/** The sheets that are not hidden, and the texts of the first rows of one of them. */
export interface XlsxFirstRows {
  readonly sheets: readonly string[];
  readonly sheet: string;
  readonly rows: readonly (readonly string[])[];
}

/**
 * What a workbook shows to somebody who does not know its headings.
 * @param sheet default: the first that is not hidden
 * @throws LeadsyncError `target.unreadable`, `target.incomplete`
 */
export async function readXlsxFirstRows(
  file: RandomAccess,
  path: string,
  sheet?: string,
): Promise<XlsxFirstRows> {
  const fault = xlsxFaults(path);
  const book = await openWorkbook(file, sheet === undefined ? {} : { sheet }, fault);
  const dates = await readDateStyles(book.pack, book.styles);
  const strings = await readSharedStrings(book.pack, book.strings);
  const cells = cellReader(strings, dates, new SerialClock('UTC', book.date1904));
  const batches = new SheetReader(book).rows();
  const found = await firstRows(batches);
  await batches.return(undefined);
  const rows = found
    .slice(0, mostRows)
    .map((row) => book.pack.guarded(book.sheet, () => textsOf(row, cells)));
  return { sheets: await visibleSheets(file, fault), sheet: book.sheetName, rows };
}

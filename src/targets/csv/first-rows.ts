import type { SourceFile } from '../file/source-file.ts';
import { headingRows } from '../shared/columns.ts';
import { csvEncodingOf, decodedFile } from './encoding.ts';
import { csvHeadBytes, detectCsvDialect } from './format.ts';
import { readCsvRecords } from './records.ts';
import { unguarded } from '../../core/lead/formula-guard.ts';

/** Headings are looked for in the first 20 rows; one more shows whether anything follows. */
const mostRows = headingRows + 1;

/** The texts of the first rows of a CSV file whose headings are not known. @throws LeadsyncError as `readCsvRecords` does */
export async function readCsvFirstRows(
  file: SourceFile,
  path: string,
  signal: AbortSignal,
): Promise<readonly (readonly string[])[]> {
  const text = decodedFile(file, await csvEncodingOf(file, signal), path);
  const format = detectCsvDialect(await text.head(csvHeadBytes), {
    name: path,
    timeZone: 'UTC',
    idColumn: '',
    fields: [],
  });
  const rows: string[][] = [];
  for await (const records of readCsvRecords(text.chunks(signal), format, path)) {
    rows.push(...records.map(({ cells }) => cells.map((cell) => unguarded(cell.text))));
    if (rows.length >= mostRows) break;
  }
  return rows.slice(0, mostRows);
}

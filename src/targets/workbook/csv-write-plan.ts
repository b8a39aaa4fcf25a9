import type { RowChange, RowOutcome } from '../target.ts';
import type { CsvRecord } from './csv-records.ts';
import { openCsvSheet, readCsvRow, type CsvMapping } from './csv-sheet.ts';
import { csvSplices, hasOwnCells } from './csv-splices.ts';
import { notStorableInCsv } from './csv-text.ts';
import { RowChanges } from '../row-changes.ts';
import type { SourceFile } from './source-file.ts';
import type { Splice } from './splice.ts';

/**
 * Reads the whole file once and tells what becomes of each change and which bytes it takes. Nothing is written, and
 * of the file only the rows that the changes are about are kept in memory.
 * @throws LeadsyncError as openCsvSheet and readCsvRecords do.
 */
export async function planCsvWrite(
  file: SourceFile,
  changes: readonly RowChange[],
  mapping: CsvMapping,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly outcomes: readonly RowOutcome[]; readonly splices: readonly Splice[] }> {
  const { format, header, columns, records } = await openCsvSheet(file, mapping, name, signal);
  const rowChanges = new RowChanges<CsvRecord>(changes, {
    fields: new Set(columns.fields.keys()),
    hasStatus: columns.status !== null,
    hasOwnCells: (record) => hasOwnCells(record, columns),
    notStorable: notStorableInCsv,
  });
  let last = header;
  let allQuoted = isAllQuoted(header);
  for await (const batch of records) {
    for (const record of batch) {
      if (isBlank(record)) continue;
      if (last === header) allQuoted &&= isAllQuoted(record);
      last = record;
      const row = readCsvRow(record, columns, mapping.timeZone);
      if (row !== null) rowChanges.see(row);
    }
  }
  const decisions = rowChanges.decide();
  const lineEnd = await lineEndOf(file, header);
  const style = { delimiter: format.delimiter, lineEnd, allQuoted };
  const splices = csvSplices(decisions, columns, style, { last, width: header.cells.length });
  return { outcomes: decisions.outcomes, splices };
}

function isBlank(record: CsvRecord): boolean {
  return record.cells.every((cell) => cell.text === '');
}

function isAllQuoted(record: CsvRecord): boolean {
  return record.cells.every((cell) => cell.quoted);
}

/** As after the header; a file of one line without any gets what we write into new files. */
async function lineEndOf(file: SourceFile, header: CsvRecord): Promise<string> {
  const head = await file.head(header.end);
  return head.toString('latin1', header.contentEnd, header.end) || '\r\n';
}

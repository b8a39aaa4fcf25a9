import type { CsvRecord } from './records.ts';
import { headingsShown, openCsvSheet } from './sheet.ts';
import { paddedTo } from './splices.ts';
import type { CsvTargetOptions } from './format.ts';
import { isAllQuoted, isBlank } from './write-plan.ts';
import { placeNewColumns } from '../file/new-columns.ts';
import type { SourceFile } from '../file/source-file.ts';
import type { Splice } from '../file/splice.ts';

/** Also pads all rows that were as wide as the headings. Reads the file twice. Throws as openCsvSheet and readCsvRecords do. */
export async function csvColumnSplices(
  file: SourceFile,
  fields: ReadonlySet<string>,
  options: CsvTargetOptions,
  signal: AbortSignal,
): Promise<readonly Splice[]> {
  const used = new Set<number>();
  const first = await openCsvSheet(file, options, signal);
  for await (const batch of first.records)
    for (const { cells } of batch)
      for (const [index, { text }] of cells.entries()) if (text.trim() !== '') used.add(index);
  const columns = placeNewColumns(headingsShown(first.header), (index) => used.has(index), options, fields);
  const last = columns.at(-1);
  if (last === undefined) return [];

  const { header, records, format } = await openCsvSheet(file, options, signal);
  const { delimiter } = format;
  const style = { delimiter, lineEnd: '', allQuoted: isAllQuoted(header), timeZone: options.timeZone };
  const headings = new Map(columns.map(({ heading, index }) => [index, heading]));
  const width = last.index + 1;
  const splices = [...paddedTo(header, width, headings, style)];
  for await (const batch of records)
    for (const record of batch)
      if (reachesEnd(record, header)) splices.push(...paddedTo(record, width, new Map(), style));
  return splices;
}

/** A row that ends early does not show its last cells; padded, it would show them as empty. */
function reachesEnd(record: CsvRecord, header: CsvRecord): boolean {
  return !isBlank(record) && record.cells.length >= header.cells.length;
}

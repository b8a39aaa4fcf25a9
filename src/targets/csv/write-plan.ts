import type { FileTableOptions } from '../file/file-format.ts';
import { IdSet } from '../../core/lead/id-set.ts';
import { idKey } from '../../core/lead/lead.ts';
import { isLikeId, isNote, TablePieces } from '../../core/lead/table-pieces.ts';
import type { RowChange, RowOutcome } from '../../ports/target.ts';
import type { Columns } from '../shared/columns.ts';
import { notStorable, withPlaces } from '../shared/row-content.ts';
import { RowChanges, rulesOf } from '../shared/row-changes.ts';
import type { SourceFile } from '../file/source-file.ts';
import type { Splice } from '../file/splice.ts';
import { placeNewColumns } from '../file/new-columns.ts';
import type { CsvRecord } from './records.ts';
import { openCsvSheet, readCsvRow, tooWide, headingsShown } from './sheet.ts';
import { type CsvEncoding, notInEncoding } from './encoding.ts';
import {
  type CsvEnd,
  type CsvStyle,
  csvSplices,
  hasOwnCells,
  notPaddable,
  longestCsvText,
  paddedTo,
} from './splices.ts';

/** What is known of a file after a full read: enough to append rows without reading it again. */
export interface KnownCsv {
  readonly columns: Columns;
  readonly style: CsvStyle;
  readonly end: CsvEnd;
  readonly ids: IdSet;
}

export interface CsvWriteOptions extends FileTableOptions {
  /** Of the file on disk; `file` is transcoded to UTF-8 already. */
  readonly encoding: CsvEncoding;
}

export interface CsvWritePlan {
  readonly outcomes: readonly RowOutcome[];
  readonly splices: readonly Splice[];
  /** What is known of the file after the splices; callable once. Null: unknown. */
  readonly after: (() => KnownCsv) | null;
}

/** Reads the file once, unless it is `known` and rows are only added; writes nothing. Throws as openCsvSheet and readCsvRecords do. */
export async function planCsvWrite(
  file: SourceFile,
  changes: readonly RowChange[],
  options: CsvWriteOptions,
  signal: AbortSignal,
  known: KnownCsv | null,
): Promise<CsvWritePlan> {
  const isNew = (change: RowChange): boolean =>
    change.kind === 'append' && known?.ids.mayHave(idKey(change.leadId)) === false;
  const csv =
    known !== null && changes.every(isNew)
      ? { ...known, rowChanges: rowChangesOf(changes, known.columns, options.encoding, known.end.width) }
      : await readToEnd(file, changes, options, signal);
  const { rowChanges, columns, style, end, ids } = csv;
  const decisions = rowChanges.decide();
  const splices = csvSplices(decisions, columns, style, end);
  const [added] = splices;
  if (decisions.writes.length > 0 || added === undefined || ids === null)
    return { outcomes: decisions.outcomes, splices, after: null };

  const after = (): KnownCsv => {
    for (const { leadId } of decisions.appends) ids.add(idKey(leadId));
    const bytes = added.start + added.bytes.length;
    const row = end.last.row + decisions.appends.length;
    const last = { row, contentEnd: bytes - style.lineEnd.length, end: bytes };
    return { columns, style, end: { ...end, last }, ids };
  };
  return { outcomes: withPlaces(decisions, changes, (index) => end.last.row + 1 + index), splices, after };
}

async function readToEnd(
  file: SourceFile,
  changes: readonly RowChange[],
  options: CsvWriteOptions,
  signal: AbortSignal,
): Promise<
  Omit<KnownCsv, 'ids'> & { readonly ids: IdSet | null; readonly rowChanges: RowChanges<CsvRecord> }
> {
  const sheet = await openCsvSheet(file, options, signal);
  const { format, header, columns, records } = sheet;
  const rowChanges = rowChangesOf(changes, columns, options.encoding, header.cells.length);
  const ids = changes.every(({ kind }) => kind === 'append') ? new IdSet() : null;
  const pieces = new TablePieces();
  let last = header;
  let isFirst = true;
  let allQuoted = isAllQuoted(header);
  for await (const batch of records) {
    for (const record of batch) {
      if (isBlank(record)) continue;
      if (isFirst) allQuoted &&= isAllQuoted(record);
      isFirst = false;
      const row = readCsvRow(record, sheet, options.timeZone);
      if (row === null) continue;
      const isOfTable = pieces.see(record.row, isLikeId(row.leadId ?? ''), row.standing);
      if (isOfTable && !isNote(row)) last = record;
      rowChanges.see(row);
      if (row.leadId !== null) ids?.add(idKey(row.leadId));
    }
  }
  const lineEnd = await lineEndOf(file, header);
  const style = { delimiter: format.delimiter, lineEnd, allQuoted, timeZone: options.timeZone };
  return { rowChanges, columns, style, end: { last, width: header.cells.length }, ids };
}

function rowChangesOf(
  changes: readonly RowChange[],
  columns: Columns,
  encoding: CsvEncoding,
  width: number,
): RowChanges<CsvRecord> {
  return new RowChanges(changes, {
    ...rulesOf(columns),
    hasOwnCells: (record) => hasOwnCells(record, columns),
    notStorable: (text) => notStorable(text, longestCsvText) ?? notInEncoding(text, encoding),
    notWritable: (write) => shiftedRow(write.place, width) ?? notPaddable(write, columns),
  });
}

/** Why nothing is written into a row that is too wide, as a sentence: the cell below a heading may be another one. */
function shiftedRow(record: CsvRecord, width: number): string | null {
  const shifted = tooWide(record, width);
  return shifted === null ? null : `Row ${record.row} has ${shifted}.`;
}

function isBlank(record: CsvRecord): boolean {
  return record.cells.every((cell) => cell.text === '');
}

function isAllQuoted(record: CsvRecord): boolean {
  return record.cells.every((cell) => cell.quoted);
}

/** As after the header; for a single line without one, as in new files. */
async function lineEndOf(file: SourceFile, header: CsvRecord): Promise<string> {
  const head = await file.head(header.end);
  return head.toString('latin1', header.contentEnd, header.end) || '\r\n';
}

/** Also pads all rows that were as wide as the headings. Reads the file twice. Throws as openCsvSheet and readCsvRecords do. */
export async function csvColumnSplices(
  file: SourceFile,
  fields: ReadonlySet<string>,
  options: FileTableOptions,
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

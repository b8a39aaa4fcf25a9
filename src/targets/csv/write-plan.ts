import { counted } from '../../core/lead/wording.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { guarded } from '../../core/lead/formula-guard.ts';
import type { FieldType, Value } from '../../core/lead/value.ts';
import { type Columns, placeNewColumns, readColumns } from '../shared/columns.ts';
import { type NewRow, RowChanges, type RowDecisions, type RowWrite, rulesOf } from '../shared/row-changes.ts';
import { contentOf, notStorable, withPlaces } from '../shared/row-content.ts';
import { type Splice, splice } from '../file/splice.ts';
import type { CsvRecord } from './records.ts';
import type { FileTableOptions } from '../file/file-format.ts';
import { IdSet } from '../../core/lead/id-set.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import { isLikeId, isNote, TablePieces } from '../../core/lead/table-rows.ts';
import type { RowChange, RowOutcome } from '../../ports/target.ts';
import type { SourceFile } from '../file/file-place.ts';
import { headingsShown, openCsvSheet, readCsvRow, tooWide } from './sheet.ts';
import { type CsvEncoding, notInEncoding } from './format.ts';

export interface CsvStyle {
  readonly delimiter: string;
  readonly lineEnd: string;
  readonly allQuoted: boolean;
  /** IANA zone in which dates without a time are read. */
  readonly timeZone: string;
}

interface CsvEnd {
  /** The last record of the table: new rows go after it, before blank lines and what people wrote below. */
  readonly last: Pick<CsvRecord, 'row' | 'contentEnd' | 'end'>;
  readonly width: number;
}

function csvSplices(
  decisions: RowDecisions<CsvRecord>,
  columns: Columns,
  style: CsvStyle,
  end: CsvEnd,
): readonly Splice[] {
  const splices = decisions.writes.flatMap((write) =>
    isTakenOut(write, columns)
      ? [splice(write.place.start, write.place.end, '')]
      : rowSplices(write, columns, style),
  );
  const lines = decisions.appends.map((row) => newLine(newTexts(row, columns, end.width, style), style));
  if (lines.length === 0) return splices;
  const { last } = end;
  const unended =
    last.contentEnd === last.end &&
    !decisions.writes.some((write) => isTakenOut(write, columns) && write.place === last);
  return [...splices, splice(last.end, last.end, (unended ? style.lineEnd : '') + lines.join(''))];
}

/** Whether the whole line goes. */
function isTakenOut({ remove, place }: RowWrite<CsvRecord>, columns: Columns): boolean {
  return remove && !hasOwnCells(place, columns);
}

function hasOwnCells({ cells }: CsvRecord, columns: Columns): boolean {
  const owned = readColumns(columns);
  return cells.some(({ text }, index) => text.trim() !== '' && !owned.has(index));
}

export function newLine(texts: readonly string[], { delimiter, allQuoted, lineEnd }: CsvStyle): string {
  const cells = texts.map((text) => csvCell(guarded(text), delimiter, allQuoted));
  return cells.join(delimiter) + lineEnd;
}

function newTexts(
  { leadId, values, status }: NewRow,
  columns: Columns,
  width: number,
  { timeZone }: CsvStyle,
): readonly string[] {
  const texts = Array<string>(width).fill('');
  texts[columns.id] = leadId;
  if (status !== null && columns.status !== null) texts[columns.status] = status;
  for (const [field, { index, type }] of columns.fields)
    texts[index] = textOf(values[field] ?? null, type, timeZone);
  return texts;
}

function textOf(value: Value, type: FieldType, timeZone: string): string {
  return value ? fieldKinds[type].write(value, timeZone) : '';
}

function textsOf(
  write: Partial<RowWrite<unknown>>,
  columns: Columns,
  { timeZone }: Pick<CsvStyle, 'timeZone'>,
): Map<number, string> {
  return new Map(
    [...contentOf(write, columns)].map(([index, { value, type }]) => [index, textOf(value, type, timeZone)]),
  );
}

function rowSplices(write: RowWrite<CsvRecord>, columns: Columns, style: CsvStyle): Splice[] {
  const { place } = write;
  const content = textsOf(write, columns, style);
  const filled = [...content].filter(([, text]) => text !== '').map(([index]) => index);
  return paddedTo(place, Math.max(0, ...filled.map((index) => index + 1)), content, style);
}

function paddedTo(
  record: CsvRecord,
  width: number,
  content: ReadonlyMap<number, string>,
  style: CsvStyle,
): Splice[] {
  const splices: Splice[] = [];
  for (const [index, text] of content) {
    const cell = record.cells[index];
    if (cell === undefined) continue;
    splices.push(splice(cell.start, cell.end, csvCell(guarded(text), style.delimiter, cell.quoted)));
  }
  let padding = '';
  for (let index = record.cells.length; index < width; index++) {
    padding += style.delimiter + csvCell(guarded(content.get(index) ?? ''), style.delimiter, style.allQuoted);
  }
  return padding === '' ? splices : [...splices, splice(record.contentEnd, record.contentEnd, padding)];
}

/** Why a short row cannot be written to, as a sentence: the cells between its end and the text would look as if emptied by a person. */
function notPaddable(write: RowWrite<CsvRecord>, columns: Columns): string | null {
  const { place } = write;
  if (write.leadId !== null || write.remove || write.unlink !== null) return null;
  const content = contentOf(write, columns);
  const last = Math.max(
    ...[...content].filter(([, { value }]) => (value ?? '') !== '').map(([index]) => index),
  );
  const unknown = [...columns.fields.values()].some(
    ({ index }) => index >= place.cells.length && index < last && !content.has(index),
  );
  if (!unknown) return null;
  return `Row ${place.row} ends after ${counted(place.cells.length, 'cell')}, before other mapped columns: fill them in.`;
}

/** A cell as written (RFC 4180, section 2); quoted when a program might split it, at this separator or at another one, or `always`. */
export function csvCell(text: string, delimiter: string, always: boolean): string {
  const quoted = always || text.includes(delimiter) || /[",;|\t\r\n]/.test(text);
  return quoted ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Longest text that we write: well below what records.ts reads as one row. */
export const longestCsvText = 1_000_000;

export function notStorableInCsv(text: string, encoding: CsvEncoding): string | null {
  return notStorable(text, longestCsvText) ?? notInEncoding(text, encoding);
}

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
  known: KnownCsv | null,
): Promise<CsvWritePlan> {
  const isNew = (change: RowChange): boolean =>
    change.kind === 'append' && known?.ids.mayHave(idKey(change.leadId)) === false;
  const csv =
    known !== null && changes.every(isNew)
      ? { ...known, rowChanges: rowChangesOf(changes, known.columns, options.encoding, known.end.width) }
      : await readToEnd(file, changes, options);
  const { rowChanges, columns, style, end, ids } = csv;
  const decisions = rowChanges.decide();
  const splices = csvSplices(decisions, columns, style, end);
  const above = decisions.writes.filter(
    (write) => isTakenOut(write, columns) && write.place.row <= end.last.row,
  );
  const first = end.last.row + 1 - above.length;
  const outcomes = withPlaces(decisions, changes, (index) => first + index);
  const [added] = splices;
  if (decisions.writes.length > 0 || added === undefined || ids === null)
    return { outcomes, splices, after: null };

  const after = (): KnownCsv => {
    for (const { leadId } of decisions.appends) ids.add(idKey(leadId));
    const bytes = added.start + added.bytes.length;
    const row = end.last.row + decisions.appends.length;
    const last = { row, contentEnd: bytes - style.lineEnd.length, end: bytes };
    return { columns, style, end: { ...end, last }, ids };
  };
  return { outcomes, splices, after };
}

async function readToEnd(
  file: SourceFile,
  changes: readonly RowChange[],
  options: CsvWriteOptions,
): Promise<
  Omit<KnownCsv, 'ids'> & { readonly ids: IdSet | null; readonly rowChanges: RowChanges<CsvRecord> }
> {
  const sheet = await openCsvSheet(file, options);
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
    notStorable: (text) => notStorableInCsv(text, encoding),
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
): Promise<readonly Splice[]> {
  const used = new Set<number>();
  const first = await openCsvSheet(file, options);
  for await (const batch of first.records)
    for (const { cells } of batch)
      for (const [index, { text }] of cells.entries()) if (text.trim() !== '') used.add(index);
  const columns = placeNewColumns(headingsShown(first.header), (index) => used.has(index), options, fields);
  const last = columns.at(-1);
  if (last === undefined) return [];

  const { header, records, format } = await openCsvSheet(file, options);
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

import { isUtf8 } from 'node:buffer';
import { CsvError, parse, type Parser } from 'csv-parse';
import { type CsvDialect, cutLength, unreadableCsv } from './format.ts';
import { incompleteFile } from '../file/file-fault.ts';

/** A cell and its bytes in the file, quotes included. */
interface CsvCell {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
}

/** A row of the file; a blank line is a row with one empty cell. */
export interface CsvRecord {
  /** 1 for the header, counted as spreadsheet programs do. */
  readonly row: number;
  /** The first of its lines, counted as text editors do. */
  readonly line: number;
  /** Its lines as they stand in the file; null: one only. */
  readonly lines: readonly string[] | null;
  readonly cells: readonly CsvCell[];
  readonly start: number;
  /** Where the last cell ends. */
  readonly contentEnd: number;
  /** Start of the next record, after the line end. */
  readonly end: number;
}

/** Bytes of one record; a longer one means an unclosed quote. */
const longestRecord = 16 * 1024 * 1024;

/** More than any spreadsheet program shows; a parsed cell takes a hundred times the memory of its comma. */
const mostCells = 20_000;

/**
 * Row by row, a batch per chunk. Throws `target.incomplete` when it ends in a quoted cell, in a character, or in a row with fewer
 * cells than the first; `target.unreadable` with the line for bytes that are not UTF-8, NUL bytes, and text after a closing quote
 * (the usual sign of an unclosed one further up).
 */
export async function* readCsvRecords(
  chunks: AsyncIterable<Buffer>,
  format: CsvDialect,
  name: string,
): AsyncGenerator<readonly CsvRecord[]> {
  let line = format.hasSeparatorLine ? 2 : 1;
  const faultAt = (fault: string, cause?: unknown) => unreadableCsv(name, `${fault} (line ${line})`, cause);
  const cutAt = (where: string, cause?: unknown) => incompleteFile(`${name} ${where} (line ${line})`, cause);
  const collected: { texts: string[]; cells: Omit<CsvCell, 'text' | 'start'>[]; end: number }[] = [];
  let cells: Omit<CsvCell, 'text' | 'start'>[] = [];
  const parser = parse({
    delimiter: format.delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_quotes: true,
    relax_column_count: true,
    max_record_size: longestRecord,
    cast: (text, { bytes, quoting }) => {
      if (cells.length === mostCells) throw faultAt(`has a row of more than ${mostCells} cells`);
      cells.push({ end: format.start + bytes, quoted: quoting });
      return text;
    },
    // Collected per chunk; nothing passes through the stream.
    on_record: (texts: string[], { bytes }) => {
      collected.push({ texts, cells, end: format.start + bytes });
      cells = [];
      return null;
    },
  });
  parser.on('error', () => undefined);

  /** Bytes of the file from `position` on: incomplete records. */
  let rest: Buffer = Buffer.alloc(0);
  let position = format.start;
  let row = 0;
  let width = 0;
  let isOver = false;
  const complete = (): CsvRecord[] =>
    collected.splice(0).map(({ texts, cells: found, end }) => {
      const bytes = rest.subarray(0, end - position);
      if (!isUtf8(bytes)) {
        if (isOver && isUtf8(bytes.subarray(0, bytes.length - cutLength(bytes))))
          throw cutAt('ends in the middle of a character');
        throw faultAt('is neither in UTF-8 nor entirely in another known encoding');
      }
      const record = toRecord({ row: ++row, line, bytes, start: position, end }, texts, found);
      if (row === format.headerRow) width = found.length;
      if (record.contentEnd === end && found.length < width && bytes.length > 0 && !isComment(record))
        throw cutAt(`ends in the middle of a row, after ${found.length} of ${width} cells`);
      if (record.cells.some(isMisquoted)) throw faultAt('has text after a closing quote');
      line += lineEnds(bytes);
      rest = rest.subarray(bytes.length);
      position = end;
      return record;
    });

  let toSkip = format.start;
  try {
    for await (const whole of chunks) {
      const chunk = whole.subarray(toSkip);
      toSkip -= whole.length - chunk.length;
      if (chunk.length === 0) continue;
      if (chunk.includes(0)) throw faultAt('is not a CSV file in UTF-8: NUL bytes follow');
      rest = Buffer.concat([rest, chunk]);
      await step(parser, chunk, faultAt, cutAt);
      yield complete();
    }
    isOver = true;
    await step(parser, null, faultAt, cutAt);
    yield complete();
  } finally {
    parser.destroy();
  }
}

/** Passes one chunk (null: the end) to the parser and waits until it is consumed. */
async function step(
  parser: Parser,
  chunk: Buffer | null,
  faultAt: (fault: string, cause: unknown) => Error,
  cutAt: (where: string, cause: unknown) => Error,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const done = (error?: Error | null) => (error instanceof Error ? reject(error) : resolve());
  if (chunk === null) parser.end(done);
  else parser.write(chunk, done);
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw error.code === 'CSV_MAX_RECORD_SIZE'
      ? faultAt('has a row that is too long, probably after a quote that is not closed', error)
      : cutAt('ends within a cell whose quote is not closed', error);
  }
}

function toRecord(
  { row, line, start, end, bytes }: Pick<CsvRecord, 'row' | 'line' | 'start' | 'end'> & { bytes: Buffer },
  texts: readonly string[],
  found: readonly Omit<CsvCell, 'text' | 'start'>[],
): CsvRecord {
  let next = start;
  const cells = found.map((cell, index) => {
    const placed = { ...cell, text: texts[index] ?? '', start: next };
    next = cell.end + 1;
    return placed;
  });
  const contentEnd = next - 1;
  const isLong = cells.some(({ quoted, text }) => quoted && lineEnd.test(text));
  const lines = isLong ? bytes.toString('utf8', 0, contentEnd - start).split(lineEnd) : null;
  return { row, line, lines, cells, start, contentEnd, end };
}

/** A line of its own that programs write, such as `# exported 2027`, or the mark of a file's end of old ones. */
export function isComment({ cells }: Pick<CsvRecord, 'cells'>): boolean {
  return cells.length === 1 && ['#', '\u001A'].includes(cells[0]?.text.charAt(0) ?? '');
}

/** Whether text follows the closing quote: the parser then leaves the quotes in the text. */
function isMisquoted(cell: CsvCell): boolean {
  if (!cell.quoted) return false;
  const quotes = cell.text.split('"').length - 1;
  return cell.end - cell.start !== Buffer.byteLength(cell.text) + quotes + 2;
}

const lineEnd = /\r\n|\r|\n/;

/** Lines as a text editor counts them, including those inside quoted cells. */
function lineEnds(bytes: Buffer): number {
  return bytes.toString('latin1').split(lineEnd).length - 1;
}

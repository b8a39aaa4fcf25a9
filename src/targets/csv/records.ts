import { isUtf8 } from 'node:buffer';
import { type CsvDialect, cutLength, unreadableCsv } from './format.ts';
import { type CsvCell, recordAt } from './record-at.ts';
import { incompleteFile } from '../file/file-fault.ts';

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

/**
 * Row by row, a batch per chunk. Throws `target.incomplete` when it ends in a quoted cell, in a character, or in a row with fewer
 * cells than the first; `target.unreadable` with the line for bytes that are not UTF-8, NUL bytes, and text after a closing quote
 * (the usual sign of an unclosed one further up).
 */
export async function* readCsvRecords(
  chunks: AsyncIterable<Buffer>,
  { start, delimiter, headerRow, hasSeparatorLine }: CsvDialect,
  name: string,
): AsyncGenerator<readonly CsvRecord[]> {
  let line = hasSeparatorLine ? 2 : 1;
  const faultAt = (fault: string) => unreadableCsv(name, `${fault} (line ${line})`);
  const cutAt = (where: string) => incompleteFile(`${name} ${where} (line ${line})`);
  let row = 0;
  let width = 0;
  /** Bytes of the file from `position` on: incomplete records. */
  let rest: Buffer = Buffer.alloc(0);
  let position = start;

  const complete = (isLast: boolean): readonly CsvRecord[] => {
    const records: CsvRecord[] = [];
    let at = 0;
    while (at < rest.length) {
      const found = recordAt({ bytes: rest, position, isLast }, at, delimiter);
      if (typeof found === 'string') throw faultAt(found);
      if (found === null) break;
      const bytes = rest.subarray(at, found.end);
      if (!isUtf8(bytes)) {
        if (isLast && isUtf8(bytes.subarray(0, bytes.length - cutLength(bytes))))
          throw cutAt('ends in the middle of a character');
        throw faultAt('is neither in UTF-8 nor entirely in another known encoding');
      }
      const place = { row: ++row, line, start: position + at, end: position + found.end };
      const record = toRecord(place, found.cells, bytes);
      const isEnded = record.contentEnd < record.end;
      if (row === headerRow) width = found.cells.length;
      if (!isEnded && found.cells.length < width && !isComment(record))
        throw cutAt(`ends in the middle of a row, after ${found.cells.length} of ${width} cells`);
      line += (record.lines?.length ?? 1) - Number(!isEnded);
      at = found.end;
      records.push(record);
    }
    rest = rest.subarray(at);
    position += at;
    return records;
  };

  let toSkip = start;
  let waiting: Buffer[] = [];
  let waited = 0;
  for await (const whole of chunks) {
    const chunk = whole.subarray(toSkip);
    toSkip -= whole.length - chunk.length;
    if (chunk.includes(0)) throw faultAt('is not a CSV file in UTF-8: NUL bytes follow');
    waiting.push(chunk);
    waited += chunk.length;
    // Of a long record only twice as many bytes are looked at again.
    if (waited <= rest.length) continue;
    rest = Buffer.concat([rest, ...waiting]);
    [waiting, waited] = [[], 0];
    yield complete(false);
    if (rest.length > longestRecord)
      throw faultAt('has a row that is too long, probably after a quote that is not closed');
  }
  rest = Buffer.concat([rest, ...waiting]);
  yield complete(true);
  if (rest.length > 0) throw cutAt('ends within a cell whose quote is not closed');
}

function toRecord(
  place: Pick<CsvRecord, 'row' | 'line' | 'start' | 'end'>,
  cells: readonly CsvCell[],
  bytes: Buffer,
): CsvRecord {
  const contentEnd = cells.at(-1)?.end ?? place.start;
  const isLong = cells.some(({ quoted, text }) => quoted && lineEnd.test(text));
  const lines = isLong ? bytes.toString('utf8', 0, contentEnd - place.start).split(lineEnd) : null;
  return { ...place, lines, cells, contentEnd };
}

/** A line of its own that programs write, such as `# exported 2027`, or the mark of a file's end of old ones. */
export function isComment({ cells }: Pick<CsvRecord, 'cells'>): boolean {
  return cells.length === 1 && ['#', '\u001A'].includes(cells[0]?.text.charAt(0) ?? '');
}

const lineEnd = /\r\n|\r|\n/;

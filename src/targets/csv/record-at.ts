/** A cell and its bytes in the file, quotes included. */
export interface CsvCell {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
}

/** The bytes in which a record is looked for. */
export interface CsvBytes {
  readonly bytes: Buffer;
  /** Where they begin in the file. */
  readonly position: number;
  /** Whether the file ends with them. */
  readonly isLast: boolean;
}

/** More than any spreadsheet program shows; a cell takes a hundred times the memory of its comma. */
const mostCells = 20_000;

const [quote, carriageReturn, lineFeed] = [0x22, 0x0d, 0x0a];

/**
 * The record that begins at a byte (RFC 4180; its line end may be any of the three): its cells, and where the next one begins.
 * Null: its end is not there. A text: what is wrong with it, after "The file".
 */
export function recordAt(
  { bytes, position, isLast }: CsvBytes,
  at: number,
  delimiter: string,
): { readonly cells: readonly CsvCell[]; readonly end: number } | string | null {
  const cells: CsvCell[] = [];
  const separator = delimiter.charCodeAt(0);
  for (let start = at; ; ) {
    if (cells.length === mostCells) return `has a row of more than ${mostCells} cells`;
    const quoted = bytes[start] === quote;
    const end = quoted ? quotedEnd(bytes, start) : plainEnd(bytes, start, separator);
    // The last byte may be the first of two quotes, or of a line end of two bytes.
    if (end === null || (!isLast && end >= bytes.length - 1)) return null;
    const text = quoted
      ? bytes.toString('utf8', start + 1, end - 1).replaceAll('""', '"')
      : bytes.toString('utf8', start, end);
    cells.push({ text, start: position + start, end: position + end, quoted });
    const next = bytes[end];
    start = end + 1;
    if (next === separator) continue;
    if (next === undefined) return { cells, end };
    if (next !== carriageReturn && next !== lineFeed) return 'has text after a closing quote';
    return { cells, end: next === carriageReturn && bytes[start] === lineFeed ? start + 1 : start };
  }
}

function plainEnd(bytes: Buffer, start: number, separator: number): number {
  for (let end = start; ; end++) {
    const byte = bytes[end];
    if (byte === separator || byte === lineFeed || byte === carriageReturn || byte === undefined) return end;
  }
}

/** After the closing quote; null: there is none. */
function quotedEnd(bytes: Buffer, start: number): number | null {
  for (let from = start + 1; ; ) {
    const close = bytes.indexOf(quote, from);
    if (close < 0) return null;
    if (bytes[close + 1] !== quote) return close + 1;
    from = close + 2;
  }
}

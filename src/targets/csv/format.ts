import { isAscii, isUtf8 } from 'node:buffer';
import { incompleteFile } from '../file/file-fault.ts';
import type { SourceFile } from '../file/file-place.ts';
import type { FileTableOptions } from '../file/file-format.ts';
import { unguarded } from '../../core/lead/formula-guard.ts';
import { headingKey } from '../../core/lead/mapping.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { headingRows, headingsAmong } from '../shared/columns.ts';
import { recordAt } from './record-at.ts';

export type CsvEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Windows-1252 in place of the C1 controls; blanks: unassigned. Otherwise as Unicode. */
const c1 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';
const byCharacter = new Map(
  Array.from(c1).flatMap((char, at) => (char === ' ' ? [] : [[char, 0x80 + at] as const])),
);
const unassigned = /[\0\x81\x8d\x8f\x90\x9d]/;
const utf8Sequence = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/;

/** UTF-16 by its mark; Windows-1252 when not UTF-8 and all bytes are of it; else UTF-8, whose reader reports the bad line. Reads it all. */
export async function csvEncodingOf(file: SourceFile): Promise<CsvEncoding> {
  const [first = 0, second = 0] = await file.head(2);
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  let rest: Buffer = Buffer.alloc(0);
  let isValid = true;
  let has1252 = true;
  for await (const chunk of file.chunks()) {
    if (rest.length === 0 && isAscii(chunk) && !chunk.includes(0)) continue;
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - cutLength(bytes);
    rest = bytes.subarray(whole);
    const text = bytes.subarray(0, whole);
    isValid &&= isUtf8(text);
    const latin1 = text.toString('latin1');
    // A mix of UTF-8 and other bytes: as Windows-1252, the UTF-8 part would be garbled.
    has1252 &&= !unassigned.test(latin1) && !utf8Sequence.test(latin1);
    if (!has1252) return 'utf-8';
  }
  return isValid ? 'utf-8' : 'windows-1252';
}

/** The file transcoded to UTF-8, for readers that use byte positions. */
export function decodedFile(file: SourceFile, encoding: CsvEncoding, name: string): SourceFile {
  if (encoding === 'utf-8') return file;
  const decode = (): ((chunk: Buffer | null) => Buffer) => {
    if (encoding === 'windows-1252') return (chunk) => from1252(chunk ?? Buffer.alloc(0));
    const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
    return (chunk) => {
      try {
        return Buffer.from(chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true }));
      } catch (error) {
        if (chunk !== null) throw error;
        throw incompleteFile(`${name} ends in the middle of a character`, error);
      }
    };
  };
  return {
    ...file,
    // A character takes at most twice as many bytes in UTF-16.
    head: async (length) => decode()(await file.head(2 * length)).subarray(0, length),
    async *chunks() {
      const next = decode();
      for await (const chunk of file.chunks()) yield next(chunk);
      yield next(null);
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

export async function* encodedChunks(
  chunks: AsyncIterable<Buffer>,
  encoding: CsvEncoding,
): AsyncGenerator<Buffer> {
  if (encoding === 'utf-8') {
    yield* chunks;
    return;
  }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const chunk of chunks) yield encode(decoder.decode(chunk, { stream: true }), encoding);
  yield encode(decoder.decode(), encoding);
}

export function notInEncoding(text: string, encoding: CsvEncoding): string | null {
  if (encoding !== 'windows-1252') return null;
  const foreign = Array.from(text.normalize('NFC')).find((char) => byteOf(char) === null);
  if (foreign === undefined) return null;
  return `The file is in Windows-1252, which has no ${JSON.stringify(foreign)}: save it as "CSV UTF-8".`;
}

function encode(text: string, encoding: CsvEncoding): Buffer {
  if (encoding === 'windows-1252')
    return Buffer.from(Array.from(text.normalize('NFC'), (char) => byteOf(char) ?? 0x3f));
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

function byteOf(char: string): number | null {
  const code = char.codePointAt(0) ?? 0;
  const isSame = code < 0x80 || (code >= 0xa0 && code <= 0xff);
  return isSame ? code : (byCharacter.get(char) ?? null);
}

function from1252(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  return Buffer.from(text.replaceAll(/[\x80-\x9f]/g, (char) => c1[char.charCodeAt(0) - 0x80] ?? char));
}

/** How many bytes at the end begin an incomplete UTF-8 character. */
export function cutLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

export interface CsvDialect {
  /** Bytes before the first record: a byte order mark, and a line such as `sep=;`. */
  readonly start: number;
  readonly delimiter: string;
  /** The number of the record with the headings, from 1. */
  readonly headerRow: number;
  /** Whether there is such a line, which spreadsheet programs do not show. */
  readonly hasSeparatorLine: boolean;
}

export const csvHeadBytes = 64 * 1024;

export const utf8Bom = Buffer.from([0xef, 0xbb, 0xbf]);

const foreign: readonly { readonly start: readonly number[]; readonly what: string }[] = [
  { start: [0x50, 0x4b, 0x03, 0x04], what: 'an Excel workbook (.xlsx) or another zip file, not a CSV file' },
  { start: [0xd0, 0xcf, 0x11, 0xe0], what: 'an old Excel workbook (.xls), not a CSV file' },
];

const delimiters = [',', ';', '\t', '|'];

/**
 * Headings as in a workbook. The delimiter: of a first line `sep=;`, as Excel writes it; else the one that gives most of the
 * known headings in a row, then most cells; else comma. Throws `target.unreadable` for another kind of file.
 */
export function detectCsvDialect(head: Buffer, options: FileTableOptions): CsvDialect {
  for (const { start, what } of foreign) {
    if (head.subarray(0, start.length).equals(Buffer.from(start)))
      throw unreadableCsv(options.name, `is ${what}`);
  }
  const mark = head.subarray(0, utf8Bom.length).equals(utf8Bom) ? utf8Bom.length : 0;
  const line = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i.exec(head.toString('latin1', mark, mark + 16));
  const start = mark + (line?.[0].length ?? 0);
  const { idColumn, fields } = options;
  const known = new Set([idColumn, ...fields.map(({ column }) => column)].map(headingKey));
  const scored = (line === null ? delimiters : [line[1] ?? ',']).map((delimiter) => {
    const rows = firstRows(head.subarray(start), delimiter);
    const counts = rows.map((cells) => cells.filter((cell) => known.has(headingKey(cell))).length);
    const cells = Math.max(0, ...rows.map(({ length }) => length));
    const headerRow = headingsAmong(rows, options) + 1;
    return { delimiter, headerRow, known: Math.max(0, ...counts), cells };
  });
  const [best] = scored.toSorted((a, b) => b.known - a.known || b.cells - a.cells);
  const { delimiter = ',', headerRow = 1 } = best ?? {};
  return { start, delimiter, headerRow, hasSeparatorLine: line !== null };
}

/** `fault` continues "The file …". */
export function unreadableCsv(name: string, fault: string): LeadsyncError {
  return new LeadsyncError('target.unreadable', `${name} ${fault}. Nothing was read or written.`, {
    help: 'Open it in your spreadsheet program and save it as "CSV UTF-8 (comma delimited)".',
  });
}

/** Up to a broken one: the reader of the whole file reports it, with its line. */
function firstRows(bytes: Buffer, delimiter: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  for (let at = 0; at < bytes.length && rows.length < headingRows; ) {
    const found = recordAt({ bytes, position: 0, isLast: true }, at, delimiter);
    if (found === null || typeof found === 'string') break;
    rows.push(found.cells.map(({ text }) => unguarded(text)));
    at = found.end;
  }
  return rows;
}

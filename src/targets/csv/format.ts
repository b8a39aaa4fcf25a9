import type { FileTableOptions } from '../file/file-format.ts';
import { unguarded } from '../../core/lead/formula-guard.ts';
import { headingKey } from '../../core/lead/heading-line.ts';
import { CsvError, parse } from 'csv-parse/sync';
import { LeadsyncError } from '../../lib/errors.ts';
import { headingRows, headingsAmong } from '../shared/columns.ts';

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
export function unreadableCsv(name: string, fault: string, cause?: unknown): LeadsyncError {
  return new LeadsyncError('target.unreadable', `${name} ${fault}. Nothing was read or written.`, {
    help: 'Open it in your spreadsheet program and save it as "CSV UTF-8 (comma delimited)".',
    cause,
  });
}

function firstRows(head: Buffer, delimiter: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  try {
    parse(head, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_quotes: true,
      relax_column_count: true,
      to: headingRows,
      on_record: (texts: string[]) => {
        rows.push(texts.map(unguarded));
        return null;
      },
    });
  } catch (error) {
    // The reader of the whole file reports a bad row, with its line.
    if (!(error instanceof CsvError)) throw error;
  }
  return rows;
}

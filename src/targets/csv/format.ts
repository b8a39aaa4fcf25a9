import { headingKey } from '../../core/lead/heading-line.ts';
import { CsvError, parse } from 'csv-parse/sync';
import { LeadsyncError } from '../../errors.ts';
import type { ColumnMapping } from '../shared/columns.ts';

export interface CsvTargetOptions extends ColumnMapping {
  /** Of the file, for messages. */
  readonly name: string;
  /** IANA zone of dates without offset. */
  readonly timeZone: string;
}

/** The format of a CSV file, detected from its first bytes. */
export interface CsvDialect {
  /** Bytes before the first record: a byte order mark, and a line such as `sep=;`. */
  readonly start: number;
  readonly delimiter: string;
  /** Whether there is such a line, which spreadsheet programs do not show. */
  readonly hasSeparatorLine: boolean;
}

/** How much of a file `detectCsvDialect` needs. */
export const csvHeadBytes = 64 * 1024;

export const utf8Bom = Buffer.from([0xef, 0xbb, 0xbf]);

const foreign: readonly { readonly start: readonly number[]; readonly what: string }[] = [
  { start: [0x50, 0x4b, 0x03, 0x04], what: 'an Excel workbook (.xlsx) or another zip file, not a CSV file' },
  { start: [0xd0, 0xcf, 0x11, 0xe0], what: 'an old Excel workbook (.xls), not a CSV file' },
];

const delimiters = [',', ';', '\t', '|'];

/**
 * Finds the delimiter: from a first line such as `sep=;`, as Excel writes it; else the one that gives most of the known
 * headings in the first row, then most cells; else comma. @throws LeadsyncError `target.unreadable` for another kind of
 * file.
 */
export function detectCsvDialect(head: Buffer, options: CsvTargetOptions): CsvDialect {
  for (const { start, what } of foreign) {
    if (head.subarray(0, start.length).equals(Buffer.from(start)))
      throw unreadableCsv(options.name, `is ${what}`);
  }
  const mark = head.subarray(0, utf8Bom.length).equals(utf8Bom) ? utf8Bom.length : 0;
  const line = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i.exec(head.toString('latin1', mark, mark + 16));
  if (line !== null)
    return { start: mark + line[0].length, delimiter: line[1] ?? ',', hasSeparatorLine: true };
  const { idColumn, fields } = options;
  const known = new Set([idColumn, ...fields.map(({ column }) => column)].map(headingKey));
  const scored = delimiters.map((delimiter) => {
    const cells = firstRow(head, delimiter);
    return {
      delimiter,
      known: cells.filter((cell) => known.has(headingKey(cell))).length,
      cells: cells.length,
    };
  });
  const [best] = scored.toSorted((a, b) => b.known - a.known || b.cells - a.cells);
  return { start: mark, delimiter: best?.delimiter ?? ',', hasSeparatorLine: false };
}

/** The error for a file that is not usable CSV. `fault` continues "The file …". */
export function unreadableCsv(name: string, fault: string, cause?: unknown): LeadsyncError {
  return new LeadsyncError('target.unreadable', `${name} ${fault}. Nothing was read or written.`, {
    help: 'Open it in your spreadsheet program and save it as "CSV UTF-8 (comma delimited)".',
    cause,
  });
}

function firstRow(head: Buffer, delimiter: string): readonly string[] {
  try {
    const rows = parse(head, {
      bom: true,
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_quotes: true,
      relax_column_count: true,
      to: 1,
    });
    return rows[0] ?? [];
  } catch (error) {
    // The reader of the whole file reports a bad first row, with its line.
    if (error instanceof CsvError) return [];
    throw error;
  }
}

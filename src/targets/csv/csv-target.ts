import { setImmediate as eventLoop } from 'node:timers/promises';
import { unguarded } from '../../core/lead/formula-guard.ts';
import type { OnAsides, RowChange, Target, TargetRow } from '../../ports/target.ts';
import { cellName } from '../shared/cell-name.ts';
import { headingRows, headingsOf } from '../shared/columns.ts';
import { targetRow } from '../shared/row-content.ts';
import {
  type CsvEncoding,
  csvEncodingOf,
  csvHeadBytes,
  decodedFile,
  detectCsvDialect,
  encodedChunks,
  utf8Bom,
} from './format.ts';
import { visibleText } from '../../lib/foreign-text.ts';
import { type CsvRecord, readCsvRecords } from './records.ts';
import { csvAsides, type CsvSheet, openCsvSheet, readCsvRow } from './sheet.ts';
import { csvColumnSplices, type KnownCsv, newLine, notStorableInCsv, planCsvWrite } from './write-plan.ts';
import type {
  FileFormat,
  FileHead,
  FilePlan,
  FileTableOptions,
  FirstRows,
  FormatCode,
} from '../file/file-format.ts';
import type { FilePlace, SourceFile } from '../file/file-place.ts';
import { FileTarget } from '../file/file-target.ts';
import { spliced } from '../file/splice.ts';

/** One CSV file (RFC 4180, in UTF-8, UTF-16 or Windows-1252); all bytes other than mapped cells stay. */
export function createCsvTarget(place: FilePlace, options: Omit<FileTableOptions, 'name'>): Target {
  return new FileTarget(place, new CsvFormat({ ...options, name: place.name }));
}

export const csvFormat: FormatCode = { create: createCsvTarget, firstRows: readFirstRows };

/** Of an average row. */
const bytesOfRow = 100;

/** Only zero bytes: what a crash leaves of a file, not blank lines. */
const isZeroed = (bytes: Buffer): boolean => bytes.length > 0 && bytes.every((byte) => byte === 0);

async function exampleOf({ header, records }: CsvSheet): Promise<string> {
  // oxlint-disable-next-line no-control-regex -- everything outside ASCII
  const isTelling = ({ text }: CsvRecord['cells'][number]): boolean => /[^\x00-\x7f]/.test(text);
  let cell = header.cells.find(isTelling);
  for await (const batch of records) {
    cell ??= batch.flatMap(({ cells }) => cells).find(isTelling);
    if (cell !== undefined) break;
  }
  const example = cell === undefined ? '' : `it shows ${JSON.stringify(visibleText(cell.text, 40))}. `;
  return `${example}If letters are wrong, or others than those of Western Europe are to come, save the file as "CSV UTF-8"`;
}

const clamp = (value: number, least: number, most: number): number =>
  Math.round(Math.min(Math.max(value, least), most));

class CsvFormat implements FileFormat {
  readonly part = '';
  readonly #options: FileTableOptions;
  #left: { readonly version: string; readonly known: KnownCsv } | null = null;

  #encoding: { readonly version: string; readonly encoding: CsvEncoding } | null = null;

  constructor(options: FileTableOptions) {
    this.#options = options;
  }

  /** In proportion to the rows a write has to pass: larger batches mean fewer passes, but more memory. */
  batchSize(bytes: number): number {
    const rows = bytes / bytesOfRow;
    // The rows of a known file are only copied.
    if (this.#left !== null) return clamp(rows / 20, 5_000, 10_000);
    return clamp(rows, 5_000, 20_000);
  }

  async hasPart(): Promise<boolean> {
    return true;
  }

  mayBeEmpty(bytes: number): boolean {
    return bytes <= csvHeadBytes;
  }

  /** A file of blank lines counts as empty. */
  async isEmpty(file: SourceFile): Promise<boolean> {
    if (!this.mayBeEmpty(file.size)) return false;
    const head = await file.head(csvHeadBytes);
    // A byte order mark of any encoding, line ends and blanks, in one byte or two.
    return /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\0\s]*$/.test(head.toString('latin1')) && !isZeroed(head);
  }

  async *newContent(): AsyncGenerator<Buffer> {
    const headings = headingsOf(this.#options);
    const { timeZone } = this.#options;
    const delimiter = /\.tsv$/i.test(this.#options.name) ? '\t' : ',';
    const style = { delimiter, lineEnd: '\r\n', allQuoted: false, timeZone };
    const line = newLine(headings, style);
    yield Buffer.concat([utf8Bom, Buffer.from(line)]);
  }

  async readHead(file: SourceFile): Promise<FileHead> {
    const sheet = await this.#open(file);
    const { missing } = sheet.columns;
    if ((await this.#encodingOf(file)) === 'windows-1252')
      return { missing, hint: `read as Windows-1252, a guess: ${await exampleOf(sheet)}` };
    await sheet.records.return(undefined);
    return { missing };
  }

  async notStorable(file: SourceFile | null): ReturnType<FileFormat['notStorable']> {
    const encoding = file === null ? 'utf-8' : await this.#encodingOf(file);
    return (text) => notStorableInCsv(text, encoding);
  }

  async *readRows(file: SourceFile, onAsides: OnAsides): AsyncGenerator<TargetRow[]> {
    // The writes are over, or have not begun.
    this.#left = null;
    const sheet = await this.#open(file);
    onAsides(csvAsides(sheet.header, sheet));
    for await (const records of sheet.records) {
      onAsides(records.flatMap((record) => csvAsides(record, sheet)));
      const batch = records.flatMap((record) => {
        const row = readCsvRow(record, sheet, this.#options.timeZone);
        return row === null ? [] : targetRow(row, record.row, sheet.columns);
      });
      if (batch.length > 0) yield batch;
      await eventLoop();
    }
  }

  async plan(file: SourceFile, changes: readonly RowChange[]): Promise<FilePlan> {
    const left = this.#left;
    const known = left !== null && left.version === file.version ? left.known : null;
    this.#left = null;
    const encoding = await this.#encodingOf(file);
    const text = decodedFile(file, encoding, this.#options.name);
    const plan = await planCsvWrite(text, changes, { ...this.#options, encoding }, known);
    const { outcomes, splices, after } = plan;
    if (splices.length === 0) return { outcomes, content: null };
    const written = (version: string): void => {
      this.#encoding = { version, encoding };
      this.#left = after === null ? null : { version, known: after() };
    };
    return { outcomes, content: encodedChunks(spliced(text.chunks(), splices), encoding), written };
  }

  async planColumns(file: SourceFile, fields: ReadonlySet<string>): Promise<FilePlan['content']> {
    this.#left = null;
    const encoding = await this.#encodingOf(file);
    const text = decodedFile(file, encoding, this.#options.name);
    const splices = await csvColumnSplices(text, fields, this.#options);
    return splices.length === 0 ? null : encodedChunks(spliced(text.chunks(), splices), encoding);
  }

  async #open(file: SourceFile): Promise<CsvSheet> {
    const text = decodedFile(file, await this.#encodingOf(file), this.#options.name);
    return openCsvSheet(text, this.#options);
  }

  async #encodingOf(file: SourceFile): Promise<CsvEncoding> {
    const version = file.version;
    if (this.#encoding?.version !== version)
      this.#encoding = { version, encoding: await csvEncodingOf(file) };
    return this.#encoding.encoding;
  }
}

/** Headings are looked for in the first 20 rows; one more shows whether anything follows. */
const mostRows = headingRows + 1;

async function readFirstRows(file: SourceFile, path: string): Promise<FirstRows> {
  const text = decodedFile(file, await csvEncodingOf(file), path);
  const format = detectCsvDialect(await text.head(csvHeadBytes), {
    name: path,
    timeZone: 'UTC',
    idColumn: '',
    fields: [],
  });
  const rows: string[][] = [];
  for await (const records of readCsvRecords(text.chunks(), format, path)) {
    rows.push(...records.map(({ cells }) => cells.map((cell) => unguarded(cell.text))));
    if (rows.length >= mostRows) break;
  }
  return { sheets: [], rows: rows.slice(0, mostRows), freeCell: cellName };
}

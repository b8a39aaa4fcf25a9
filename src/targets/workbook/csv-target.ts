import { setImmediate as eventLoop } from 'node:timers/promises';
import type { RowChange, Target, TargetRow, TargetSnapshot } from '../target.ts';
import { headingsOf, shownStatus } from '../columns.ts';
import { utf8Bom } from './csv-format.ts';
import { openCsvSheet, readCsvRow, type CsvMapping } from './csv-sheet.ts';
import { newLine } from './csv-splices.ts';
import { type KnownCsv, planCsvWrite } from './csv-write-plan.ts';
import { FileTarget, type FileFormat, type FilePlan } from './file-target.ts';
import { type SourceFile, versionOf } from './source-file.ts';
import { spliced } from './splice.ts';

export interface CsvTargetOptions extends CsvMapping {
  /** Absolute path of the file; a symbolic link stays one. */
  readonly path: string;
}

/** A target that is one CSV file (RFC 4180, UTF-8); everything that is not a mapped cell stays byte for byte. */
export function createCsvTarget(options: CsvTargetOptions): Target {
  return new FileTarget(options.path, new CsvFormat(options));
}

/** Of a usual row. */
const bytesOfRow = 100;

const clamp = (value: number, least: number, most: number): number =>
  Math.round(Math.min(Math.max(value, least), most));

class CsvFormat implements FileFormat {
  readonly #options: CsvTargetOptions;
  /** The file as the last write left it, when that is known. */
  #left: { readonly version: string; readonly known: KnownCsv } | null = null;

  constructor(options: CsvTargetOptions) {
    this.#options = options;
  }

  /** As many as a part of the rows that a write has to go through: the more of them, the fewer writes; each takes memory. */
  batchSize(bytes: number): number {
    const rows = bytes / bytesOfRow;
    // Those of a file that is known are only copied.
    if (this.#left !== null) return clamp(rows / 20, 5_000, 10_000);
    return clamp(rows, 5_000, 20_000);
  }

  async isEmpty(file: SourceFile): Promise<boolean> {
    const head = await file.head(utf8Bom.length + 1);
    return head.length === 0 || head.equals(utf8Bom);
  }

  async *newContent(): AsyncGenerator<Buffer> {
    const headings = headingsOf(this.#options);
    const style = { delimiter: ',', lineEnd: '\r\n', allQuoted: false };
    const line = newLine(new Map(headings.entries()), headings.length, style);
    yield Buffer.concat([utf8Bom, Buffer.from(line)]);
  }

  async readMissing(file: SourceFile, signal: AbortSignal): Promise<TargetSnapshot['missing']> {
    const sheet = await openCsvSheet(file, this.#options, this.#options.path, signal);
    await sheet.records.return(undefined);
    return sheet.columns.missing;
  }

  async *readRows(file: SourceFile, signal: AbortSignal): AsyncGenerator<TargetRow[]> {
    // The writes are over, or have not begun.
    this.#left = null;
    const sheet = await openCsvSheet(file, this.#options, this.#options.path, signal);
    for await (const records of sheet.records) {
      const batch = records.flatMap((record) => {
        const row = readCsvRow(record, sheet.columns, this.#options.timeZone);
        if (row === null) return [];
        const status = shownStatus(sheet.columns, row.status);
        return [{ row: record.row, leadId: row.leadId, cells: row.cells, status }];
      });
      if (batch.length > 0) yield batch;
      await eventLoop();
    }
  }

  async plan(file: SourceFile, changes: readonly RowChange[], signal: AbortSignal): Promise<FilePlan> {
    const left = this.#left;
    const known = left !== null && left.version === versionOf(file.stat) ? left.known : null;
    this.#left = null;
    const plan = await planCsvWrite(file, changes, this.#options, this.#options.path, signal, known);
    const { outcomes, splices, after } = plan;
    if (splices.length === 0) return { outcomes, content: null };
    const written = (version: string): void => {
      this.#left = after === null ? null : { version, known: after() };
    };
    return { outcomes, content: spliced(file.chunks(signal), splices), written };
  }
}

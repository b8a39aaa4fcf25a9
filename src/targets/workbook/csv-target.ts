import { setImmediate as eventLoop } from 'node:timers/promises';
import { LeadsyncError } from '../../errors.ts';
import type { RowChange, RowOutcome, Target, TargetRow, TargetSnapshot } from '../target.ts';
import type { Columns } from './columns.ts';
import { utf8Bom } from './csv-format.ts';
import { openCsvSheet, readCsvRow, type CsvMapping } from './csv-sheet.ts';
import { planCsvWrite } from './csv-write-plan.ts';
import { newLine } from './csv-splices.ts';
import { assertNotOpenInEditor } from './editor-lock.ts';
import { lockFile, type FileLock } from './file-lock.ts';
import { removeLeftovers, replaceFile } from './replace-file.ts';
import { followLinks, openSource, type SourceFile } from './source-file.ts';
import { spliced } from './splice.ts';

export interface CsvTargetOptions extends CsvMapping {
  /** Absolute path of the file; a symbolic link stays one. */
  readonly path: string;
}

/** How often a write starts again on the new content when somebody changes the file meanwhile. */
const passes = 3;

/** A target that is one CSV file (RFC 4180, UTF-8); everything that is not a mapped cell stays byte for byte. */
export function createCsvTarget(options: CsvTargetOptions): Target {
  return new CsvTarget(options);
}

class CsvTarget implements Target {
  readonly name: string;
  readonly batchSize = 20_000;
  readonly #options: CsvTargetOptions;
  #requests = 0;

  constructor(options: CsvTargetOptions) {
    this.name = options.path;
    this.#options = options;
  }

  get requests(): number {
    return this.#requests;
  }

  async open({ create }: { readonly create: boolean }, signal: AbortSignal): Promise<TargetSnapshot> {
    const path = await this.#unopenedPath();
    await using found = await this.#openContent(path);
    if (found === null && !create) return { missing: [], created: false, rows: noRows() };
    const created = found === null && (await this.#createFile(path));
    await using made = found === null ? await this.#openContent(path) : null;
    const file = found ?? made;
    if (file === null) throw this.#changed();
    const sheet = await openCsvSheet(file, this.#options, this.name, signal);
    await sheet.records.return(undefined);
    return { missing: sheet.columns.missing, created, rows: this.#rows(path, file, sheet.columns, signal) };
  }

  async write(changes: readonly RowChange[], signal: AbortSignal): Promise<readonly RowOutcome[]> {
    if (changes.length === 0) return [];
    const path = await this.#unopenedPath();
    await using lock = await lockFile(path);
    await removeLeftovers(path);
    for (let pass = 0; pass < passes; pass++) {
      const outcomes = await this.#writeOnce(path, changes, lock, signal);
      if (outcomes !== null) return outcomes;
    }
    throw this.#changed();
  }

  /** Null when the file was changed by somebody else before ours could take its place. */
  async #writeOnce(
    path: string,
    changes: readonly RowChange[],
    lock: FileLock,
    signal: AbortSignal,
  ): Promise<readonly RowOutcome[] | null> {
    await using file = await this.#openContent(path);
    if (file === null) throw this.#changed();
    const { outcomes, splices } = await planCsvWrite(file, changes, this.#options, this.name, signal);
    if (splices.length === 0) return (await file.isCurrent()) ? outcomes : null;
    this.#requests++;
    const replaced = await replaceFile({
      path,
      original: file.stat,
      content: spliced(file.chunks(signal), splices),
      mayReplace: async () => {
        signal.throwIfAborted();
        await assertNotOpenInEditor(path);
        await lock.assertHeld();
        return file.isCurrent();
      },
    });
    return replaced ? outcomes : null;
  }

  async *#rows(
    path: string,
    seen: SourceFile,
    columns: Columns,
    signal: AbortSignal,
  ): AsyncGenerator<TargetRow[]> {
    if (!(await seen.isCurrent())) throw this.#changed();
    await using file = await this.#openContent(path);
    if (file === null) throw this.#changed();
    const sheet = await openCsvSheet(file, this.#options, this.name, signal);
    for await (const records of sheet.records) {
      const batch = records.flatMap((record) => {
        const row = readCsvRow(record, columns, this.#options.timeZone);
        return row === null ? [] : [{ row: record.row, leadId: row.leadId, cells: row.cells }];
      });
      if (batch.length > 0) yield batch;
      await eventLoop();
    }
    if (!(await file.isCurrent()) || !(await seen.isCurrent())) throw this.#changed();
  }

  /** False when another process made the file before us. */
  async #createFile(path: string): Promise<boolean> {
    await using lock = await lockFile(path);
    await removeLeftovers(path);
    this.#requests++;
    await using empty = await openSource(path);
    const { idColumn, fields, statusColumn } = this.#options;
    const headings = [
      idColumn,
      ...fields.map((field) => field.column),
      ...(statusColumn === undefined ? [] : [statusColumn]),
    ];
    const style = { delimiter: ',', lineEnd: '\r\n', allQuoted: false };
    const line = newLine(new Map(headings.entries()), headings.length, style);
    return await replaceFile({
      path,
      original: empty?.stat ?? null,
      content: once(Buffer.concat([utf8Bom, Buffer.from(line)])),
      mayReplace: async () => {
        await using now = await this.#openContent(path);
        await lock.assertHeld();
        return now === null;
      },
    });
  }

  /** Null when the file is missing or has nothing in it. */
  async #openContent(path: string): Promise<SourceFile | null> {
    const file = await openSource(path);
    this.#requests++;
    if (file === null) return null;
    const head = await file.head(utf8Bom.length + 1);
    if (head.length > 0 && !head.equals(utf8Bom)) return file;
    await file[Symbol.asyncDispose]();
    return null;
  }

  async #unopenedPath(): Promise<string> {
    const path = await followLinks(this.#options.path);
    await assertNotOpenInEditor(this.#options.path);
    if (path !== this.#options.path) await assertNotOpenInEditor(path);
    return path;
  }

  #changed(): LeadsyncError {
    return new LeadsyncError(
      'target.changed',
      `${this.name} was changed while it was read or written. Nothing was written.`,
      {
        retry: 'now',
      },
    );
  }
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

async function* noRows(): AsyncGenerator<TargetRow[]> {}

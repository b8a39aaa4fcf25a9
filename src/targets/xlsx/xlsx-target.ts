import type { Author } from '../../core/lead/author.ts';
import { idKey } from '../../core/lead/lead.ts';
import type { RowChange, Target, TargetRow } from '../../ports/target.ts';
import type { FileFormat, FileHead, FilePlan } from '../file/file-format.ts';
import { FileTarget } from '../file/file-target.ts';
import { IdSet } from '../../core/lead/id-set.ts';
import { followLinks, openSource, type SourceFile, versionOf, watchedAccess } from '../file/source-file.ts';
import { spliced } from '../file/splice.ts';
import { xlsxFaults } from './fault.ts';
import { xlsxLastSaver } from './last-saver.ts';
import type { NewPart } from './mark.ts';
import { newWorkbook } from './new-workbook.ts';
import type { XlsxMapping } from './sheet.ts';
import type { XlsxJob } from './task.ts';
import { runXlsxJob } from './thread.ts';
import { addsOnly, type KnownSheet, packRows } from './packed-rows.ts';
import { openPackage } from './part.ts';
import { hasSheet } from './workbook.ts';
import type { PartEdit, SheetEnd } from './write-plan.ts';
import type { ZipEntry } from './zip-directory.ts';
import { pack } from './zip-pack.ts';
import { type NewContent, rewrittenZip } from './zip-rewrite.ts';

export interface XlsxTargetOptions extends XlsxMapping {
  /** Absolute path of the file, ending in .xlsx or .xlsm; a symbolic link stays one. */
  readonly path: string;
}

/**
 * A target that is one sheet of an Excel workbook. Only changed cells are written; all other bytes of the sheet and all
 * other parts stay.
 */
export function createXlsxTarget(options: XlsxTargetOptions): Target {
  return new XlsxTarget(options.path, new XlsxFormat(options));
}

/** Of an average row, packed. */
const bytesOfRow = 40;

class XlsxTarget extends FileTarget {
  /** A workbook does not record who changed a cell, only who last saved it. */
  async authors(cells: readonly unknown[], signal: AbortSignal): Promise<(Author | null)[]> {
    await using file = await openSource(await followLinks(this.name));
    const access = file === null ? null : watchedAccess(file, signal);
    const author = access === null ? null : await xlsxLastSaver(access, xlsxFaults(this.name));
    return cells.map(() => author);
  }
}

class XlsxFormat implements FileFormat {
  readonly #options: XlsxTargetOptions;
  /** The file as the last write left it, if known. */
  #left: { readonly version: string; readonly known: KnownSheet } | null = null;

  constructor(options: XlsxTargetOptions) {
    this.#options = options;
  }

  get part(): string {
    return this.#options.sheet ?? '';
  }

  async hasPart(file: SourceFile, signal: AbortSignal, part = this.part): Promise<boolean> {
    if (part === '' || (await this.isEmpty(file))) return true;
    return hasSheet(watchedAccess(file, signal), part, xlsxFaults(this.#options.path));
  }

  batchSize(bytes: number): number {
    // The rows of a known file are only copied.
    if (this.#left !== null) return 10_000;
    return Math.min(Math.max(Math.round(bytes / bytesOfRow), 5_000), 20_000);
  }

  async isEmpty(file: SourceFile): Promise<boolean> {
    return file.stat.size === 0n;
  }

  newContent(): AsyncIterable<Buffer> {
    return newWorkbook(this.#options, /\.xlsm$/i.test(this.#options.path));
  }

  async readHead(file: SourceFile, signal: AbortSignal): Promise<FileHead> {
    for await (const result of this.#run(file, { kind: 'head' }, signal)) {
      if (result.kind === 'head') return { missing: result.missing, mark: result.mark };
    }
    throw new Error('the headings were not read');
  }

  async *readRows(file: SourceFile, signal: AbortSignal): AsyncGenerator<TargetRow[]> {
    // The writes are over, or have not begun.
    this.#left = null;
    for await (const result of this.#run(file, { kind: 'rows' }, signal)) {
      if (result.kind === 'rows') yield result.rows;
    }
  }

  async plan(
    file: SourceFile,
    changes: readonly RowChange[],
    signal: AbortSignal,
    mark?: string,
  ): Promise<FilePlan> {
    const left = this.#left?.version === versionOf(file.stat) ? this.#left.known : null;
    this.#left = null;
    const known = left !== null && addsOnly(changes, left) ? left : null;
    for await (const result of this.#run(file, { kind: 'plan', changes, mark, known }, signal)) {
      if (result.kind !== 'plan') continue;
      const { outcomes, edits, added } = result.plan;
      if (edits.length === 0) return { outcomes, content: null };
      let after: KnownSheet | null = null;
      const content = this.#edited(file, edits, signal, added, known, (now, { ids, styles }) => {
        after = { ...now, styles, ids: new IdSet(ids) };
        for (const { leadId } of changes) after.ids.add(idKey(leadId ?? ''));
      });
      const written = (version: string): void => {
        this.#left = after === null ? null : { version, known: after };
      };
      return { outcomes, content, written, isMarked: mark !== undefined };
    }
    throw new Error('the changes were not planned');
  }

  async planColumns(file: SourceFile, fields: ReadonlySet<string>, signal: AbortSignal) {
    for await (const result of this.#run(file, { kind: 'columns', fields }, signal)) {
      if (result.kind !== 'columns') continue;
      return result.edits.length === 0 ? null : this.#edited(file, result.edits, signal);
    }
    throw new Error('the columns were not planned');
  }

  #run(file: SourceFile, task: XlsxJob['task'], signal: AbortSignal) {
    const { path, fields, idColumn, statusColumn, timeZone, sheet } = this.#options;
    const mapping = {
      fields,
      idColumn,
      timeZone,
      ...(statusColumn === undefined ? {} : { statusColumn }),
      ...(sheet === undefined ? {} : { sheet }),
    };
    return runXlsxJob(file, { task, mapping, name: path }, signal);
  }

  async *#edited(
    file: SourceFile,
    edits: readonly PartEdit[],
    signal: AbortSignal,
    added: readonly NewPart[] = [],
    known: KnownSheet | null = null,
    left: (now: Pick<KnownSheet, 'around' | 'at' | 'rows'>, end: SheetEnd) => void = () => undefined,
  ): AsyncGenerator<Buffer> {
    const access = watchedAccess(file, signal);
    const fault = xlsxFaults(this.#options.path);
    const parts = await openPackage(access, fault);
    const contents = new Map(
      edits.map(({ part, splices, end }): [ZipEntry, NewContent] => {
        const entry = parts.get(part);
        if (end !== undefined && known !== null) parts.readInstead(entry, known.around);
        const content = spliced(parts.chunks(entry), splices);
        return end === undefined || entry.method !== 8
          ? [entry, () => pack(content, entry.method)]
          : [entry, packRows(content, end.cuts, known, access, (now) => left(now, end))];
      }),
    );
    yield* rewrittenZip(access, parts.directory, contents, fault, added);
  }
}

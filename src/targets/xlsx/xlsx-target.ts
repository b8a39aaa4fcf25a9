import type { Author } from '../../core/lead/author.ts';
import type { OnAsides, RowChange, Target, TargetRow } from '../../ports/target.ts';
import {
  type FileFormat,
  type FileHead,
  type FilePlan,
  type FileTableOptions,
  type FirstRows,
  type FormatCode,
  resumed,
} from '../file/file-format.ts';
import type { FilePlace, SourceFile } from '../file/file-place.ts';
import { FileTarget } from '../file/file-target.ts';
import { spliced } from '../file/splice.ts';
import { newWorkbook, planXlsxHeadings } from './new-workbook.ts';
import { type XlsxFault, xlsxFaults } from './fault.ts';
import { openPackage } from './part.ts';
import { hasSheet, visibleSheets } from './workbook.ts';
import { notStorableInCell, type PartEdit, planXlsxWrite } from './write-plan.ts';
import { type NewPart, type RandomAccess, rewrittenZip } from './zip.ts';
import { readXlsxMark } from './mark.ts';
import { planXlsxColumns } from './new-columns.ts';
import { targetRow } from '../shared/row-content.ts';
import { visibleText } from '../../lib/foreign-text.ts';
import { xmlText } from './xml.ts';
import { headingRows } from '../shared/columns.ts';
import { freeSheetCell } from './tables.ts';
import { firstRows, openSheetReader, openXlsxSheet, readXlsxRow, textsOf, xlsxAsides } from './sheet.ts';

/** One sheet of a workbook. Only changed cells are written; all other bytes of the sheet and all other parts stay. */
export function createXlsxTarget(place: FilePlace, options: Omit<FileTableOptions, 'name'>): Target {
  return new XlsxTarget(place, new XlsxFormat({ ...options, name: place.name }));
}

export const xlsxFormat: FormatCode = { create: createXlsxTarget, firstRows: readXlsxFirstRows };

/** A workbook with an empty sheet and others that have much is not looked into. */
const largestEmpty = 1024 * 1024;

/** Of an average row, packed. */
const bytesOfRow = 40;

class XlsxTarget extends FileTarget {
  /** A workbook does not record who changed a cell, only who last saved it. */
  async authors(cells: readonly unknown[], signal: AbortSignal): Promise<(Author | null)[]> {
    await using file = await this.openFile(signal);
    const author = file === null ? null : await xlsxLastSaver(file, xlsxFaults(this.name));
    return cells.map(() => author);
  }
}

class XlsxFormat implements FileFormat {
  readonly #options: FileTableOptions;

  constructor(options: FileTableOptions) {
    this.#options = options;
  }

  get part(): string {
    return this.#options.sheet ?? '';
  }

  async hasPart(file: SourceFile, part = this.part): Promise<boolean> {
    if (part === '' || file.size === 0) return true;
    return hasSheet(file, part, xlsxFaults(this.#options.name));
  }

  batchSize(bytes: number): number {
    return Math.min(Math.max(Math.round(bytes / bytesOfRow), 5_000), 20_000);
  }

  mayBeEmpty(bytes: number): boolean {
    return bytes <= largestEmpty;
  }

  async isEmpty(file: SourceFile): Promise<boolean> {
    if (file.size === 0 || !this.mayBeEmpty(file.size)) return file.size === 0;
    return (await planXlsxHeadings(file, this.#options)) !== null;
  }

  async *newContent(empty: SourceFile | null): AsyncGenerator<Buffer> {
    const isNew = empty === null || empty.size === 0;
    const headings = isNew ? null : await planXlsxHeadings(empty, this.#options);
    yield* isNew || headings === null ? newWorkbook(this.#options) : this.#edited(empty, [headings]);
  }

  async readHead(file: SourceFile): Promise<FileHead> {
    const { book, columns, rows } = await openXlsxSheet(file, this.#options);
    await rows.return(undefined);
    return { missing: columns.missing, mark: await readXlsxMark(book.pack, book.sheetName) };
  }

  async notStorable(): ReturnType<FileFormat['notStorable']> {
    return notStorableInCell;
  }

  async *readRows(file: SourceFile, onAsides: OnAsides): AsyncGenerator<TargetRow[]> {
    const sheet = await openXlsxSheet(file, this.#options);
    for await (const batch of sheet.rows) {
      const rows = batch.flatMap((row) => {
        const present = readXlsxRow(row, sheet);
        return present === null ? [] : targetRow(present, row.row, sheet.columns);
      });
      onAsides(batch.flatMap((row) => xlsxAsides(row, sheet)));
      if (rows.length > 0) yield rows;
    }
  }

  async plan(file: SourceFile, changes: readonly RowChange[], mark?: string): Promise<FilePlan> {
    const { outcomes, edits, added } = await planXlsxWrite(file, this.#options, changes, mark);
    if (edits.length === 0) return { outcomes, content: null };
    return { outcomes, content: this.#edited(file, edits, added), isMarked: mark !== undefined };
  }

  async planColumns(file: SourceFile, fields: ReadonlySet<string>) {
    const edits = await planXlsxColumns(file, this.#options, fields);
    return edits.length === 0 ? null : this.#edited(file, edits);
  }

  async *#edited(
    file: SourceFile,
    edits: readonly PartEdit[],
    added: readonly NewPart[] = [],
  ): AsyncGenerator<Buffer> {
    const fault = xlsxFaults(this.#options.name);
    const parts = await openPackage(file, fault);
    const contents = new Map(
      edits.map(({ part, splices }) => {
        const entry = parts.get(part);
        return [entry, spliced(parts.chunks(entry), splices)] as const;
      }),
    );
    yield* rewrittenZip(file, parts.directory, contents, added, fault);
  }
}

/** Who last saved a workbook, by its core properties (ECMA-376 part 2, 11); null: unknown. */
async function xlsxLastSaver(file: RandomAccess, fault: XlsxFault): Promise<Author | null> {
  const pack = await openPackage(file, fault);
  const relations = [...(await pack.relationships('')).values()];
  const relation = relations.find(({ type }) => type.endsWith('/core-properties'));
  const entry = relation === undefined ? null : pack.find(relation.part);
  if (entry === null) return null;
  const texts = await pack.parse(
    entry,
    (elements) => new Map(elements.map(({ local, text }) => [local, xmlText(text)])),
  );
  const by = visibleText(texts.get('lastModifiedBy') ?? '', 100);
  const at = Date.parse(texts.get('modified') ?? '');
  if (by === '') return null;
  return { of: 'file', place: 'workbook', by, at: Number.isNaN(at) ? null : new Date(at).toISOString() };
}

/** Headings are looked for in the first 20 rows; one more shows whether anything follows. */
const mostRows = headingRows + 1;

/** @throws LeadsyncError `target.unreadable`, `target.incomplete` */
async function readXlsxFirstRows(file: SourceFile, path: string, sheet?: string): Promise<FirstRows> {
  const fault = xlsxFaults(path);
  const which = sheet === undefined ? {} : { sheet };
  const { book, cells, reader, batches, tables } = await openSheetReader(file, which, 'UTC', fault);
  const found = await firstRows(batches);
  const rows = found
    .slice(0, mostRows)
    .map((row) => book.pack.guarded(book.sheet, () => textsOf(row, cells)));
  return {
    sheets: await visibleSheets(file, fault),
    rows,
    freeCell: async (at) => {
      const header = found[at];
      if (header === undefined) throw new Error('no such row');
      const rest = resumed(found.slice(at + 1), batches);
      return freeSheetCell(header, rows[at] ?? [], rest, reader.layout, tables);
    },
  };
}

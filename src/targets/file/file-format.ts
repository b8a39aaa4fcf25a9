import type {
  OnAsides,
  RowChange,
  RowOutcome,
  Target,
  TargetRow,
  TargetSnapshot,
} from '../../ports/target.ts';
import type { ColumnMapping } from '../shared/columns.ts';
import type { FilePlace, SourceFile } from './file-place.ts';

/** A format's way in. */
export interface FormatCode {
  create(place: FilePlace, options: Omit<FileTableOptions, 'name'>): Target;
  /** Of a file that is not empty. @param sheet default: the first that is not hidden */
  firstRows(file: SourceFile, name: string, sheet?: string): Promise<FirstRows>;
}

export interface FileTableOptions extends ColumnMapping {
  /** Of the file, for messages; its ending tells the format. */
  readonly name: string;
  /** IANA zone of dates without offset: cells have none. */
  readonly timeZone: string;
  /** Sheet name; default: the one that has the mark of `connection`, else the first, of those that are not hidden. */
  readonly sheet?: string;
  readonly connection?: string;
}

/** What a file shows to somebody who does not know its headings. */
export interface FirstRows {
  /** The sheets of a workbook that are not hidden. */
  readonly sheets: readonly string[];
  /** Texts. */
  readonly rows: readonly (readonly string[])[];
  /** A cell for one more heading, beside those in the row `at`, which has `width` cells. Can be called once. */
  readonly freeCell: (at: number, width: number) => string | Promise<string>;
}

/** What one file format knows. All methods work on one state of the file and write nothing. */
export interface FileFormat {
  /** The configured part of the file that is synced, such as a sheet; empty: none named, or the format has none. */
  readonly part: string;
  hasPart(file: SourceFile, part?: string): Promise<boolean>;
  /** The number of changes per write for a file of this size now. */
  batchSize(bytes: number): number;
  /** Whether a file of this size can be empty: a larger one is not opened to find out. */
  mayBeEmpty(bytes: number): boolean;
  /** Whether the file is empty and so counts as missing. */
  isEmpty(file: SourceFile): Promise<boolean>;
  /** The content of a new file, or of an empty one, with headings. */
  newContent(empty: SourceFile | null): AsyncIterable<Buffer>;
  /** Mapped fields without a column, and the mark. Throws as Target.open does. */
  readHead(file: SourceFile): Promise<FileHead>;
  /** As `Target.notStorable`; `file`: null: it will be a new one. */
  notStorable(file: SourceFile | null): Promise<(text: string) => string | null>;
  readRows(file: SourceFile, onAsides: OnAsides): AsyncIterable<TargetRow[]>;
  plan(file: SourceFile, changes: readonly RowChange[], mark?: string): Promise<FilePlan>;
  planColumns(file: SourceFile, fields: ReadonlySet<string>): Promise<FilePlan['content']>;
}

export type FileHead = Pick<TargetSnapshot, 'missing' | 'mark' | 'hint'>;

/** The outcomes of changes, and the new content; null: nothing to write. */
export interface FilePlan {
  readonly outcomes: readonly RowOutcome[];
  readonly content: AsyncIterable<Buffer> | null;
  /** Called when the content is in place: what is known of it saves reading it before the next write. */
  readonly written?: (version: string) => void;
  readonly isMarked?: boolean;
}

/** Batches of which the first was read already. Stopping early stops the reader. */
export async function* resumed<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

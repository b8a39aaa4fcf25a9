import type { RowChange, RowOutcome, TargetRow, TargetSnapshot } from '../../ports/target.ts';
import type { SourceFile } from './source-file.ts';

/** What one format of file knows; all of it works on one state of the file and writes nothing. */
export interface FileFormat {
  /** What is kept in step within a file, as the configuration names it; empty: the file has but one such thing, or none is named. */
  readonly part: string;
  /** Whether the file has that part, or another one. */
  hasPart(file: SourceFile, signal: AbortSignal, part?: string): Promise<boolean>;
  /** How many changes are written at once into a file of so many bytes, as things stand. */
  batchSize(bytes: number): number;
  /** Whether the file has nothing in it, so that it counts as missing. */
  isEmpty(file: SourceFile): Promise<boolean>;
  /** The content of a new file, with its headings. */
  newContent(): AsyncIterable<Buffer>;
  /** Mapped fields without a column, and the mark. Throws what Target.open throws. */
  readHead(file: SourceFile, signal: AbortSignal): Promise<FileHead>;
  readRows(file: SourceFile, signal: AbortSignal): AsyncIterable<TargetRow[]>;
  plan(
    file: SourceFile,
    changes: readonly RowChange[],
    signal: AbortSignal,
    mark?: string,
  ): Promise<FilePlan>;
  /** The content with columns for these fields at the end, each where it has none; null: all have one. */
  planColumns(
    file: SourceFile,
    fields: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<FilePlan['content']>;
}

/** What a file tells without its rows. */
export type FileHead = Pick<TargetSnapshot, 'missing' | 'mark'>;

/** What becomes of changes, and the new content; null when nothing is to be written. */
export interface FilePlan {
  readonly outcomes: readonly RowOutcome[];
  readonly content: AsyncIterable<Buffer> | null;
  /** Called when the content has become the file, as it was left: what is known of it spares the next write to look. */
  readonly written?: (version: string) => void;
  /** Whether the content bears the mark that was asked for. */
  readonly isMarked?: boolean;
}

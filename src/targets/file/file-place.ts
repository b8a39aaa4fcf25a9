import type { CopyBeside } from '../../ports/target.ts';
import type { SourceFile } from './source-file.ts';

/** Where a file lies: a path, or an address. Knows nothing of what is in it. Faults are those of Target. */
export interface FilePlace {
  /** For messages: an absolute path, or an address. */
  readonly name: string;
  readonly isUploaded: boolean;
  /** Finds out where the name leads now; the file need not exist. */
  locate(signal: AbortSignal): Promise<FileLocation>;
  /** The place that once had this `id`; null: of another kind, or out of reach. */
  formerly(id: string): FilePlace | null;
}

export interface FileLocation {
  /** Its identity, in one spelling; begins with the kind of place. Has no line end. */
  readonly id: string;
  /** Looks without reading; null: missing. */
  look(signal: AbortSignal): Promise<FileState | null>;
  /** As `Target.conflictCopies`. */
  conflictCopies(): Promise<readonly CopyBeside[]>;
  /** Opens the file for reading; null: missing. */
  open(signal: AbortSignal): Promise<SourceFile | null>;
  /** @throws LeadsyncError `target.busy` (retry later) when a person has the file open; the message says who, if known. */
  assertNotOpen(signal: AbortSignal): Promise<void>;
  /** Why the file cannot be written now, as a sentence; null: it can, or only a write tells. */
  whyReadOnly(signal: AbortSignal): Promise<string | null>;
  /** For `leadsync check`: throws when it cannot be written; else says how it is written, as a sentence or empty. Writes nothing. */
  assertWritable(signal: AbortSignal): Promise<string>;
  /** Prepares writes, which disposal ends: keeps other leadsync processes off where it can. */
  startWriting(signal: AbortSignal): Promise<FileWriter>;
}

export interface FileState {
  /** Differs after each change by anybody. */
  readonly version: string;
  /** In bytes. */
  readonly size: number;
  /** A text that two states share only when their bytes are the same; null: only reading tells. */
  readonly contentTag: string | null;
}

export interface FileWriter extends AsyncDisposable {
  /**
   * Replaces the file as a whole, and only while it is as `original` was opened (null: missing) and nobody has it open;
   * null: it is not, and nothing was written. `left`: the new file; null when somebody has changed it since.
   */
  replace(
    original: SourceFile | null,
    content: AsyncIterable<Buffer>,
    signal: AbortSignal,
  ): Promise<{ readonly left: Pick<FileState, 'version' | 'size'> | null } | null>;
}

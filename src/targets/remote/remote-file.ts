import type { FileState } from '../file/file-place.ts';

/** One file on a server, as each kind of server offers it. Faults are those of Target. */
export interface RemoteFile {
  /** For messages: its address, or a path that people know. */
  readonly name: string;
  /** Its identity, in one spelling; begins with the kind of place. Has no line end. */
  readonly id: string;
  /** Looks without reading; null: missing. */
  look(signal: AbortSignal): Promise<FileState | null>;
  /** Reads it once; returns the version of what was read, or null when missing. */
  read(
    into: (chunk: Buffer) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Pick<FileState, 'version'> | null>;
  /**
   * As a whole, and only while it has the version `expected` (null: missing); null: it has not, nothing was stored. `version`: of what was
   * stored; null: the server does not tell. Throws `target.unavailable` when it may or may not be stored.
   */
  write(
    upload: Upload,
    expected: string | null,
    signal: AbortSignal,
  ): Promise<{ readonly version: string | null } | null>;
  /** @throws LeadsyncError `target.busy` when a person has it open; the message says who, if known. */
  assertNotOpen(signal: AbortSignal): Promise<void>;
  /** @throws LeadsyncError when it cannot be written; returns what to know about how it is written, or an empty text. */
  assertWritable(signal: AbortSignal): Promise<string>;
}

export interface Upload {
  /** In bytes. */
  readonly size: number;
  /** A new stream of the content at each call. */
  chunks(): AsyncIterable<Buffer>;
}

import type { CopyBeside } from '../../ports/target.ts';
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { LeadsyncError } from '../../lib/errors.ts';

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
  /** As `Target.conflictCopies`. Absent: programs leave them on the machine where they were made. */
  conflictCopies?(): Promise<readonly CopyBeside[]>;
  /** Opens the file for reading until `signal` aborts; null: missing. */
  open(signal: AbortSignal): Promise<SourceFile | null>;
  /** @throws LeadsyncError `target.busy` (retry later) when a person has the file open; the message says who, if known. */
  assertNotOpen(signal: AbortSignal): Promise<void>;
  /** Why the file cannot be written now, as a sentence; null: it can. Absent: only a write tells. */
  whyReadOnly?(): Promise<string | null>;
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

const chunkBytes = 64 * 1024;

/** An open file; reads continue in the same file even after its name moves to another. */
export interface SourceFile extends AsyncDisposable {
  readonly version: string;
  /** In bytes, as it was opened. */
  readonly size: number;
  /** The file descriptor. Valid until disposal. */
  readonly fd: number;
  /** At most `length` bytes. */
  head(length: number): Promise<Buffer>;
  /** Bytes from any position; fewer at the end. */
  read(position: number, length: number): Promise<Buffer>;
  /** All bytes, in chunks small enough to keep the event loop free. */
  chunks(): AsyncGenerator<Buffer>;
  isCurrent(): Promise<boolean>;
}

export function sourceFile(
  handle: FileHandle,
  rest: Pick<SourceFile, 'version' | 'size' | 'isCurrent' | typeof Symbol.asyncDispose>,
  signal: AbortSignal,
): SourceFile {
  const readAt = async (position: number, length: number) => {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  };
  const read = (position: number, length: number) => {
    signal.throwIfAborted();
    return readAt(position, length);
  };
  return {
    ...rest,
    fd: handle.fd,
    head: (length) => readAt(0, length),
    read,
    async *chunks() {
      for (let position = 0; ; ) {
        const chunk = await read(position, chunkBytes);
        if (chunk.length === 0) return;
        position += chunk.length;
        yield chunk;
      }
    },
  };
}

/** SHA-256 of a file and of `more`, in hex. */
export async function hashOf(file: SourceFile, more: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of file.chunks()) hash.update(chunk);
  return hash.update(more).digest('hex');
}

/** Whether a file seemed broken only because somebody wrote to it meanwhile. */
export async function isOfHalfWritten(error: unknown, file: SourceFile): Promise<boolean> {
  return error instanceof LeadsyncError && error.code !== 'target.busy' && !(await file.isCurrent());
}

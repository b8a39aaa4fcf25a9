import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { LeadsyncError } from '../../lib/errors.ts';
import type { RandomAccess } from '../xlsx/zip-directory.ts';

const chunkBytes = 64 * 1024;

/** An open file; reads continue in the same file even after its name moves to another. */
export interface SourceFile extends AsyncDisposable {
  readonly version: string;
  /** In bytes, as it was opened. */
  readonly size: number;
  /** The file descriptor, for threads. Valid until disposal. */
  readonly fd: number;
  /** At most `length` bytes. */
  head(length: number): Promise<Buffer>;
  /** Bytes from any position; fewer at the end. */
  read(position: number, length: number): Promise<Buffer>;
  /** All bytes, in chunks small enough to keep the event loop free. */
  chunks(signal: AbortSignal): AsyncGenerator<Buffer>;
  isCurrent(): Promise<boolean>;
}

export function sourceFile(
  handle: FileHandle,
  rest: Pick<SourceFile, 'version' | 'size' | 'isCurrent' | typeof Symbol.asyncDispose>,
): SourceFile {
  const read = async (position: number, length: number) => {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  };
  return {
    ...rest,
    fd: handle.fd,
    head: (length) => read(0, length),
    read,
    async *chunks(signal) {
      for (let position = 0; ; ) {
        signal.throwIfAborted();
        const chunk = await read(position, chunkBytes);
        if (chunk.length === 0) return;
        position += chunk.length;
        yield chunk;
      }
    },
  };
}

/** Random reads; each checks the signal first. */
export function watchedAccess(file: SourceFile, signal: AbortSignal): RandomAccess {
  return {
    size: file.size,
    async read(position, length) {
      signal.throwIfAborted();
      return file.read(position, length);
    },
  };
}

/** SHA-256 of a file and of `more`, in hex. */
export async function digestOf(file: SourceFile, more: string, signal: AbortSignal): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of file.chunks(signal)) digest.update(chunk);
  return digest.update(more).digest('hex');
}

/** Whether a file seemed broken only because somebody wrote to it meanwhile. */
export async function isOfHalfWritten(error: unknown, file: SourceFile): Promise<boolean> {
  return error instanceof LeadsyncError && error.code !== 'target.busy' && !(await file.isCurrent());
}

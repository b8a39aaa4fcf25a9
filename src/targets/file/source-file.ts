import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { BigIntStats } from 'node:fs';
import { LeadsyncError } from '../../errors.ts';
import { hasCode, readFault } from './file-fault.ts';
import type { RandomAccess } from '../xlsx/zip-directory.ts';

const chunkBytes = 64 * 1024;

/** An existing file as it was at one moment; reads go on from the same file even when its name is given to another. */
export interface SourceFile extends AsyncDisposable {
  /** Size in bytes, mode, owner and times when it was opened. */
  readonly stat: BigIntStats;
  /** Its number among the open files of this process, for threads of it. Valid until the file is disposed. */
  readonly fd: number;
  /** The first bytes, at most `length` of them. */
  head(length: number): Promise<Buffer>;
  /** Bytes from any place; fewer at the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
  /** All bytes, in chunks small enough to leave the event loop free. */
  chunks(signal: AbortSignal): AsyncGenerator<Buffer>;
  /** Whether the name still stands for this file and nobody has written to it since it was opened. */
  isCurrent(): Promise<boolean>;
}

/**
 * Opens a file for reading; null when there is none.
 * @throws LeadsyncError `target.unreadable` when it is no regular file or may not be read.
 */
export async function openSource(path: string): Promise<SourceFile | null> {
  try {
    // Without NONBLOCK a named pipe would wait for its other end for ever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const opened = await handle.stat({ bigint: true });
    if (opened.isFile()) return sourceFile(path, handle, opened);
    await handle.close();
    throw new LeadsyncError(
      'target.unreadable',
      `${path} is not a file${opened.isDirectory() ? ' but a folder' : ''}.`,
      {
        help: 'Correct the path of the target.',
      },
    );
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw readFault(error, path);
  }
}

function sourceFile(path: string, handle: FileHandle, opened: BigIntStats): SourceFile {
  const read = async (position: number, length: number) => {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  };
  return {
    stat: opened,
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
    async isCurrent() {
      try {
        return versionOf(opened) === versionOf(await stat(path, { bigint: true }));
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return false;
        throw readFault(error, path);
      }
    },
    async [Symbol.asyncDispose]() {
      await handle.close();
    },
  };
}

/** The file for random reads; each of them asks the signal first. */
export function watchedAccess(file: SourceFile, signal: AbortSignal): RandomAccess {
  return {
    size: Number(file.stat.size),
    async read(position, length) {
      signal.throwIfAborted();
      return file.read(position, length);
    },
  };
}

/** What tells a file, and its content, apart from others. The change time also moves when a tool sets the modification time back. */
export function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** Whether a file was not written to, as far as its size and modification time tell; it may have another name. */
export function sameContent(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/**
 * The path with all symbolic links followed, also when the file at the end does not exist yet, so that a link stays
 * a link when its target is replaced.
 */
export async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw readFault(error, path);
  }
  try {
    if ((await lstat(path)).isSymbolicLink())
      return await followLinks(resolve(dirname(path), await readlink(path)));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw readFault(error, path);
  }
  try {
    return join(await realpath(dirname(path)), basename(path));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return path;
    throw readFault(error, path);
  }
}

/** The SHA-256 of a file and of `more`, in hex. */
export async function digestOf(file: SourceFile, more: string, signal: AbortSignal): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of file.chunks(signal)) digest.update(chunk);
  return digest.update(more).digest('hex');
}

/** Whether a file was found to be broken only because somebody wrote to it while it was read. */
export async function isOfHalfWritten(error: unknown, file: SourceFile): Promise<boolean> {
  return error instanceof LeadsyncError && error.code !== 'target.busy' && !(await file.isCurrent());
}
